import {
  ACCOUNT_MENU,
  ACCOUNT_STEPS,
  type AccountFrame,
  type AccountMenuPage,
  type AccountPageName,
  type AccountStep,
  type ConfirmPage,
} from '../../ports/pages/account.ts'
import type { AccountView, HiddenFields } from '../../ports/pages/parts.ts'
import { linkButton } from '../form-parts.ts'
import { tick } from '../icons.ts'
import { layout, type View } from '../layout.ts'
import { type Fragment, hiddenFields, html, isolate, type Markup } from '../markup.ts'
import type { PlainTextId } from '../texts.ts'

/** The content of an account page. */
export interface AccountContent {
  readonly hasProblem?: boolean
  /** undefined: the name of the page. */
  readonly title?: PlainTextId
  /** undefined: the title. */
  readonly heading?: Markup
  readonly main: Fragment
}

/** Renders an account page: the navigation beside or above the heading, whose account it is, what the last form did, and the content. */
export function accountLayout(
  view: View,
  frame: AccountFrame,
  current: AccountPageName,
  { hasProblem = false, title = `account.pages.${current}`, heading, main }: AccountContent,
): Markup {
  const { texts } = view
  return layout(view, {
    title,
    hasProblem,
    headLinks: headLinks(view, frame),
    beside: navigation(view, frame, current),
    main: html`<p class="small muted">${accountName(view, frame.account)}</p>
      <h1>${heading ?? texts.show(title)}</h1>
      ${notice(view, frame)} ${main}`,
  })
}

/** What leads out of the account pages. */
function headLinks({ texts }: View, { consoleUri, signOutUri }: AccountFrame): Markup {
  return html`<span class="end">
    ${consoleUri === undefined ? undefined : html`<a class="inline" href="${consoleUri}">${texts.show('account.toConsole')}</a>`}
    <a class="inline" href="${signOutUri}">${texts.show('signOut')}</a>
  </span>`
}

/** The links to the pages. That of the open page, or of the page that leads to it, is marked. */
function navigation({ texts }: View, frame: AccountFrame, current: AccountPageName): Markup {
  const entry = menuPageOf(current)
  const mark = entry === current ? html` aria-current="page"` : html` aria-current="true"`
  return html`<nav class="menu" aria-label="${texts.say('account.navigation')}">
    <ul role="list">
      ${ACCOUNT_MENU.map(
        (page) =>
          html`<li>
            <a href="${frame.pages[page]}" ${page === entry ? mark : undefined}
              ><span class="long">${texts.show(`account.pages.${page}`)}</span
              ><span class="short">${texts.show(`account.menu.${page}`)}</span></a
            >
          </li> `,
      )}
    </ul>
  </nav>`
}

function menuPageOf(page: AccountPageName): AccountMenuPage {
  return ACCOUNT_STEPS[page as AccountStep] ?? page
}

/** A form of an account page. Its button is last. */
export function accountForm(action: string, csrf: string, hidden: HiddenFields, content: Fragment): Markup {
  return html`<form method="post" action="${action}" novalidate>${hiddenFields({ ...hidden, csrf })} ${content}</form>`
}

/** The buttons of a form that is a page of its own: one leads back, and the other submits the form. `danger`: it takes something away. */
export function stepButtons({ texts }: View, backUri: string, text: Fragment, look: 'main' | 'danger'): Markup {
  return html`<div class="buttons">
    <a class="button" href="${backUri}">${texts.show('account.cancel')}</a>
    <button class="button ${look}" type="submit">${text}</button>
  </div>`
}

/** A link to the page of a change. */
export function stepLink(uri: string, text: Fragment): Markup {
  return html`<p class="step"><a class="button" href="${uri}">${text}</a></p>`
}

/** The name of an account in a sentence, and beside it the email. */
export function accountName({ texts }: View, account: AccountView): Markup {
  const detail = accountDetail(texts, account)
  return detail === undefined ? isolate(account.name) : html`${isolate(account.name)} · ${detail}`
}

/** What is shown beside the name of an account: the email, or that there is none, because a name may be like the email of another person. */
export function accountDetail(texts: View['texts'], { detail, isWithoutEmail }: AccountView): Markup | undefined {
  if (isWithoutEmail) return texts.show('withoutEmail')
  return detail === undefined ? undefined : isolate(detail)
}

/** Leads to the page where the user confirms the own identity. */
export function confirmPage(view: View, { frame, page, confirmUri, lack, isReplaceable }: ConfirmPage): Markup {
  const { texts } = view
  return accountLayout(view, frame, page, {
    main: html`<p class="lead">
        ${texts.show(lack === 'sign-in' ? 'account.confirmFirst' : `account.confirmBy.${lack}${isReplaceable ? 'Replaceable' : ''}`)}
      </p>
      ${linkButton(confirmUri, texts.show('account.confirm'))}`,
  })
}

function notice({ texts }: View, { notice: done }: AccountFrame): Fragment {
  if (done === undefined) return undefined
  return html`<p class="notice done" role="status">${tick}<span>${texts.show(`account.notices.${done}`)}</span></p>`
}
