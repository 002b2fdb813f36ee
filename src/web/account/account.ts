import {
  ACCOUNT_PAGES,
  type AccountFrame,
  type AccountPageName,
  type DataPage,
  type OverviewPage,
} from '../../ports/account-pages.ts'
import type { AccountView, HiddenFields } from '../../ports/page-parts.ts'
import { fieldProblem, linkButton, submitButton } from '../form-parts.ts'
import { tick } from '../icons.ts'
import { layout } from '../layout.ts'
import type { View } from '../layout.ts'
import { hiddenFields, html, isolate } from '../markup.ts'
import type { Fragment, Markup } from '../markup.ts'

/** Renders an account page: its heading, what the last form did, the content, and the links to the other pages. */
export function accountLayout(
  view: View,
  frame: AccountFrame,
  current: AccountPageName,
  content: { readonly hasProblem: boolean; readonly main: Fragment },
): Markup {
  const { texts } = view
  const heading = texts.account.pages[current]
  return layout(view, {
    title: content.hasProblem ? texts.titleWithError(heading) : heading,
    main: html`<h1>${heading}</h1>
      <p class="small muted">${accountName(frame.account)}</p>
      ${notice(view, frame)} ${content.main}
      <nav class="part" aria-label="${texts.account.navigation}">
        <ul class="links" role="list">
          ${ACCOUNT_PAGES.map((page) => {
            const mark = page === current ? html` aria-current="page"` : undefined
            return html`<li><a href="${frame.pages[page]}" ${mark}>${texts.account.pages[page]}</a></li> `
          })}
          <li><a href="${frame.signOutUri}">${texts.signOut}</a></li>
        </ul>
      </nav>`,
  })
}

/** A form of an account page. Its button is last. */
export function accountForm(action: string, csrf: string, hidden: HiddenFields, content: Fragment): Markup {
  return html`<form method="post" action="${action}" novalidate>${hiddenFields({ ...hidden, csrf })} ${content}</form>`
}

export function accountName({ name, detail }: AccountView): Markup {
  return detail === undefined ? isolate(name) : html`${isolate(name)} · ${isolate(detail)}`
}

/** A link that looks like a button, to the page where the user confirms the own identity. */
export function confirmation({ texts }: View, confirmUri: string): Markup {
  return html`<p class="lead">${texts.account.confirmFirst}</p>
    ${linkButton(confirmUri, texts.account.confirm)}`
}

/** Name, e-mail address and organizations. */
export function overviewPage(view: View, page: OverviewPage): Markup {
  const texts = view.texts.account
  const { frame, problem } = page
  const described = problem === undefined ? 'name-hint' : 'name-hint name-problem'
  const name = html`<div class="field">
    <label for="name">${texts.name}</label>
    <p class="small muted hint" id="name-hint">${texts.nameHint}</p>
    <input
      id="name"
      name="name"
      type="text"
      value="${page.name}"
      autocomplete="name"
      aria-describedby="${described}"
      ${problem === undefined ? undefined : html` aria-invalid="true" autofocus`}
    />
    ${problem === undefined ? undefined : fieldProblem('name-problem', texts.nameUnusable)}
  </div>`
  return accountLayout(view, frame, 'overview', {
    hasProblem: problem !== undefined,
    main: html`${accountForm(frame.pages.overview, frame.csrf, {}, [name, submitButton(texts.save, 'main')])}
      <dl class="facts">
        <div>
          <dt>${view.texts.email}</dt>
          ${email(view, page)}
        </div>
        ${
          page.organizations.length === 0
            ? undefined
            : html`<div>
                <dt>${texts.organizations}</dt>
                ${page.organizations.map((one) => html`<dd>${isolate(one)}</dd>`)}
              </div>`
        }
      </dl>`,
  })
}

/** What is kept about the user, and the form that downloads it. */
export function dataPage(view: View, { frame, confirmUri }: DataPage): Markup {
  const texts = view.texts.account
  const button = submitButton(texts.download, 'main')
  return accountLayout(view, frame, 'data', {
    hasProblem: false,
    main: html`<section class="part" aria-labelledby="kept">
        <h2 id="kept">${texts.kept}</h2>
        <ul class="scopes" role="list">
          ${texts.keptItems.map(
            (item) =>
              html`<li>
                <span class="fixed">${tick}<span>${item}</span></span>
              </li> `,
          )}
        </ul>
      </section>
      <p class="small muted after">${texts.keptLater}</p>
      ${confirmUri === undefined ? accountForm(frame.pages.data, frame.csrf, {}, button) : confirmation(view, confirmUri)}`,
  })
}

function notice({ texts }: View, { notice: done }: AccountFrame): Fragment {
  if (done === undefined) return undefined
  return html`<p class="notice done" role="status">${tick}<span>${texts.account.notices[done]}</span></p>`
}

function email({ texts: { account: texts } }: View, page: OverviewPage): Markup {
  if (page.email === undefined) return html`<dd>${texts.noEmail}</dd>`
  const { address, isVerified } = page.email
  return html`<dd>
    ${isolate(address)} <span class="small muted">${isVerified ? texts.verified : texts.unverified}</span>
  </dd>`
}
