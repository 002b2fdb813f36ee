import type { ErrorPage, ErrorProblem, SignedOutPage, SignOutPage } from '../ports/pages/pages.ts'
import { accountName } from './account/frame.ts'
import { productOf } from './client.ts'
import { developerNotes } from './developer-notes.ts'
import { linkButton, plainLinkButton, submitButton } from './form-parts.ts'
import { layout, type View } from './layout.ts'
import { type Fragment, hiddenFields, href, html, isolate, type Markup } from './markup.ts'
import { offerReturn } from './return.ts'

/** Marks the place of the request's id on an error page. */
export const REQUEST_ID = '{request-id}'

/** The pages that are no failure, so that there is nothing to ask the operator. */
const WITHOUT_REFERENCE: ReadonlySet<ErrorProblem> = new Set(['home', 'not-found'])

/** States what happened and what to do, when there is no safe address to redirect the user to. */
export function errorPage(view: View, page: ErrorPage): Markup {
  const { texts } = view
  const title = `errors.${page.problem}.heading` as const
  const reference = html`<p class="small muted after">${texts.show('reference')} <code>${REQUEST_ID}</code></p>`
  return layout(view, {
    title,
    main: html`<h1>${texts.show(title)}</h1>
      <p class="lead">${texts.show(`errors.${page.problem}.happened`)}</p>
      <p class="lead">${texts.show(page.newLinkUri === undefined ? `errors.${page.problem}.todo` : 'newLinkHint')}</p>
      ${waysOn(view, page)} ${WITHOUT_REFERENCE.has(page.problem) ? undefined : reference}
      ${page.notes === undefined ? undefined : developerNotes(view, page.notes)}`,
  })
}

/** What the reader can do next; the first way is the main one. The account is one where there is no other. */
function waysOn(view: View, { accountUri, newLinkUri, problem, product }: ErrorPage): Fragment {
  const { texts } = view
  const to = productOf(view, product)
  const toProduct = problem === 'home' ? 'continueToProduct' : 'backToProduct'
  const ways = [
    ...(newLinkUri === undefined ? [] : [{ uri: newLinkUri, text: texts.show('newLink') }]),
    ...(to === undefined ? [] : [{ uri: to.uri, text: texts.show(toProduct, { product: to.name }) }]),
  ]
  if (accountUri === undefined) return ways.map(wayOn)
  if (ways.length === 0) return linkButton(accountUri, texts.show('account.toAccount'))
  return html`${ways.map(wayOn)}
    <p class="after"><a class="inline" href="${accountUri}">${texts.show('account.see')}</a></p>`
}

function wayOn({ uri, text }: { readonly uri: string; readonly text: Markup }, index: number): Markup {
  return index === 0 ? linkButton(uri, text) : plainLinkButton(uri, text)
}

/** Asks for confirmation before signing out, so that no other site can sign the user out. */
export function signOutPage(view: View, page: SignOutPage): Markup {
  const { branding, texts } = view
  const { account } = page
  return layout(view, {
    title: 'signOut',
    main: html`<h1>${texts.show('signOutHeading', { brand: isolate(branding.name) })}</h1>
      ${account === undefined ? undefined : html`<p class="lead">${texts.show('signOutAs', { email: account.isWithoutEmail ? accountName(view, account) : isolate(account.detail ?? account.name) })}</p>`}
      <p class="lead">${texts.show('signOutConsequence')}</p>
      <form method="post" action="${page.action}">
        ${hiddenFields(page.hidden)} ${submitButton(texts.show('signOut'), 'main')}
      </form>`,
  })
}

/** Says that the user is signed out. A link names the host that it leads to. */
export function signedOutPage(view: View, { back }: SignedOutPage): Markup {
  const { texts } = view
  return layout(view, {
    title: 'signedOutHeading',
    main: html`<h1>${texts.show('signedOutHeading')}</h1>
      <p class="lead">${texts.show('signedOut')}</p>
      ${back === undefined ? undefined : html`<div class="buttons"><a class="button" href="${href(back.uri)}">${offerReturn(view, back.destination)}</a></div>`}`,
  })
}
