import type { LinkMethodsPage, LinkPage, LinkUsedPage } from '../../ports/pages/link.ts'
import { productOf } from '../client.ts'
import { linkButton, pageProblem, plainLinkButton, submitButton } from '../form-parts.ts'
import { layout, type View } from '../layout.ts'
import { providerIcon, tick } from '../icons.ts'
import { type Fragment, hiddenFields, html, isolate, type Markup } from '../markup.ts'
import { passkeyForm, passkeyMissing } from '../passkey.ts'
import { ago } from '../spans.ts'
import { accountName } from './frame.ts'
import { passkeyName, passkeyUses } from './passkeys.ts'
import { passwordFields } from './password.ts'

/** The identities that the user of a link may keep. None is chosen beforehand, because one may be of a thief. */
export function linkMethodsPage(view: View, { action, hidden, account, methods }: LinkMethodsPage): Markup {
  const { texts } = view
  return layout(view, {
    title: 'account.linkMethodsHeading',
    main: html`<h1>${texts.show('account.linkMethodsHeading')}</h1>
      <p class="lead">${texts.show('account.linkMethods', { account: accountName(view, account) })}</p>
      <form method="post" action="${action}" novalidate>
        ${hiddenFields(hidden)}
        <ul class="scopes" role="list">
          ${methods.map(
            (method) =>
              html`<li>
                <label class="choice">
                  <input type="checkbox" name="keep" value="${method.key}" />
                  <span class="box" aria-hidden="true">${tick}</span>
                  <span>
                    <span class="line">${nameOf(view, method)}</span>
                    <span class="line small muted">${usesOf(view, method)}</span>
                  </span>
                </label>
              </li> `,
          )}
        </ul>
        ${submitButton(texts.show('account.goOn'), 'main')}
      </form>`,
  })
}

function nameOf(view: View, method: LinkMethodsPage['methods'][number]): Fragment {
  const { texts } = view
  if (method.kind === 'passkey') return passkeyName(view, method)
  const { isOfApplication, name, email } = method
  return html`${isOfApplication ? texts.show('account.application') : isolate(name)}${email === undefined ? undefined : html` · ${isolate(email)}`}`
}

function usesOf(view: View, method: LinkMethodsPage['methods'][number]): Fragment {
  if (method.kind === 'passkey') return passkeyUses(view, method)
  const { linkedSecondsAgo, usedSecondsAgo } = method
  return view.texts.show('account.identityUsed', {
    linked: ago(view, linkedSecondsAgo),
    used: ago(view, usedSecondsAgo),
  })
}

/** The form of a link that an operator handed over. */
export function linkPage(view: View, page: LinkPage): Markup {
  const { branding, texts } = view
  const isInvitation = page.purpose === 'invitation'
  const hasProblem = page.problem !== undefined || page.passkey?.problem !== undefined
  const hasPassword = page.username !== undefined
  const reset = hasPassword ? 'account.resetHeading' : 'account.resetWithoutPassword'
  return layout(view, {
    title: isInvitation ? 'account.invitationTitle' : reset,
    hasProblem,
    main: html`<h1>
        ${isInvitation ? texts.show('account.invitationHeading', { brand: isolate(branding.name) }) : texts.show(reset)}
      </h1>
      <p class="lead">${isInvitation ? invitationOf(view, page) : texts.show('account.resetConsequence')}</p>
      ${hasPassword ? undefined : ways(view, page)} ${linkPasskey(view, page)}
      ${page.providers.map((one) => acceptForm(view, page, one))} ${linkPassword(view, page)}`,
  })
}

/** Who invites, and to what. */
function invitationOf(view: View, page: LinkPage): Markup {
  const { branding, texts } = view
  const [brand, account] = [isolate(branding.name), accountName(view, page.account)]
  return page.organization === undefined
    ? texts.show('account.invitation', { brand, account })
    : texts.show('account.invitationTo', { organization: isolate(page.organization), brand, account })
}

/** What an account without a password signs in with: a provider that is the only way is no choice. */
function ways(view: View, { account, passkey, providers, purpose }: LinkPage): Fragment {
  const { texts } = view
  const [only, ...others] = passkey === undefined ? providers : []
  if (only !== undefined && others.length === 0)
    return html`<p class="lead">
      ${texts.show('account.linkAtProvider', { account: accountName(view, account), provider: isolate(only.name) })}
    </p>`
  if (purpose === 'invitation') return undefined
  return html`<p class="lead">${texts.show('account.linkWithoutPassword', { account: accountName(view, account) })}</p>`
}

/** The form that adds a passkey. Without scripts, a page that has no other form says so. */
function linkPasskey(view: View, { action, hidden, passkey, providers, username }: LinkPage): Fragment {
  if (passkey === undefined) return undefined
  const { texts } = view
  const { ceremony, problem } = passkey
  const isOnly = username === undefined && providers.length === 0
  return html`${problem === undefined ? undefined : pageProblem(texts.show(`account.passkeyProblems.${problem}`))}
  ${isOnly ? passkeyMissing(texts.show('account.passkeyMissing')) : undefined}
  ${passkeyForm(view, { action, hidden, ceremony, button: texts.show('account.addPasskey'), look: isOnly ? 'main' : 'plain', hasAutofill: false })}`
}

/** The form that adds an account at a provider to the link's user. */
function acceptForm({ texts }: View, { action, hidden }: LinkPage, provider: LinkPage['providers'][number]): Markup {
  return html`<form method="post" action="${action}">
    ${hiddenFields({ ...hidden, provider: provider.id })}
    ${submitButton(html`${providerIcon(provider)}<span>${texts.show('continueWith', { provider: isolate(provider.name) })}</span>`, 'plain')}
  </form>`
}

function linkPassword(view: View, page: LinkPage): Fragment {
  const { texts } = view
  if (page.username === undefined) return undefined
  return html`${orPassword(view, page)}
    <p class="lead">${texts.show('account.linkFor', { account: accountName(view, page.account) })}</p>
    <form method="post" action="${page.action}" novalidate>
      ${hiddenFields(page.hidden)} ${passwordFields(view, page.username, page)}
      ${submitButton(texts.show('account.setPassword'), 'main')}
    </form>`
}

/** Separates the password from what the page has besides. A passkey may be all, and only a script shows its form. */
function orPassword({ texts }: View, { providers, passkey }: LinkPage): Fragment {
  if (providers.length > 0) return html`<p class="or small muted">${texts.show('or')}</p>`
  return passkey === undefined ? undefined : html`<p class="or small muted alone">${texts.show('or')}</p>`
}

const USED = {
  password: 'account.linkUsedHeading',
  passkey: 'account.linkUsedByPasskey',
  provider: 'account.linkUsedByProvider',
} as const

/** Leads to the product, and otherwise to the console or the account. */
export function linkUsedPage(view: View, { method, product, accountUri, consoleUri }: LinkUsedPage): Markup {
  const { texts } = view
  const title = USED[method]
  const to = productOf(view, product)
  const seeAccount = html`<p class="after"><a class="inline" href="${accountUri}">${texts.show('account.see')}</a></p>`
  return layout(view, {
    title,
    main: html`<h1>${texts.show(title)}</h1>
      ${method === 'provider' ? undefined : html`<p class="lead">${texts.show('account.linkUsed')}</p>`}
      ${to === undefined ? undefined : linkButton(to.uri, texts.show('continueToProduct', { product: to.name }))}
      ${consoleUri === undefined ? undefined : otherButton(to)(consoleUri, texts.show('account.toConsole'))}
      ${to === undefined ? linkButton(accountUri, texts.show('account.toAccount')) : seeAccount}`,
  })
}

/** The look of what a page offers besides the product. */
function otherButton(product: object | undefined): typeof linkButton {
  return product === undefined ? linkButton : plainLinkButton
}
