import type {
  AddProviderPage,
  OwnIdentity,
  OwnMethod,
  RemoveProviderPage,
  SecurityPage,
} from '../../ports/pages/account.ts'
import { submitButton } from '../form-parts.ts'
import { providerIcon } from '../icons.ts'
import type { View } from '../layout.ts'
import { type Fragment, html, isolate, type Markup } from '../markup.ts'
import { ago } from '../spans.ts'
import { accountForm, accountLayout, stepButtons, stepLink } from './frame.ts'

/** The accounts at providers that the user can sign in with. */
export function providersSection(view: View, { frame, methods }: SecurityPage): Fragment {
  const { texts } = view
  const identities = methods.filter((method) => method.kind === 'identity')
  const canAdd = methods.some(({ kind }) => kind === 'provider')
  if (identities.length === 0 && !canAdd) return undefined
  return html`<section class="part" aria-labelledby="providers-heading">
    <h2 id="providers-heading">${texts.show('account.providers')}</h2>
    ${
      identities.length === 0
        ? html`<p>${texts.show('account.noIdentity')}</p>`
        : html`<ul class="entries" role="list">
            ${identities.map((one, index) => html`<li>${identityEntry(view, one, index)}</li> `)}
          </ul>`
    }
    ${canAdd ? stepLink(frame.pages['add-provider'], texts.show('account.addProvider')) : undefined}
  </section>`
}

function identityEntry(
  view: View,
  { removal, ...identity }: Extract<OwnMethod, { readonly kind: 'identity' }>,
  index: number,
): Markup {
  const { texts } = view
  return html`<h3 id="identity-${index}">${isolate(identity.name)}</h3>
    ${identityFacts(view, identity)}
    ${
      removal.kind === 'open'
        ? html`<p class="step">
            <a
              class="button"
              href="${removal.uri}"
              id="remove-${index}"
              aria-labelledby="remove-${index} identity-${index}"
              >${texts.show('account.remove')}</a
            >
          </p>`
        : html`<p class="small muted">${texts.show(`account.stays.${removal.kind}`)}</p>`
    }`
}

function identityFacts(view: View, { email, isUsable, linkedSecondsAgo, usedSecondsAgo }: OwnIdentity): Markup {
  const { texts } = view
  const way =
    email === undefined ? texts.show('account.identity') : texts.show('account.identityOf', { email: isolate(email) })
  return html`<p>${isUsable ? way : texts.show('account.identityUnusable')}</p>
    <p class="small muted">
      ${texts.show('account.identityUsed', { linked: ago(view, linkedSecondsAgo), used: ago(view, usedSecondsAgo) })}
    </p>`
}

/** The providers that the user can add, each with a button that leads there. */
export function addProviderPage(view: View, { frame, providers }: AddProviderPage): Markup {
  const { texts } = view
  return accountLayout(view, frame, 'add-provider', {
    main: html`<p class="lead">${texts.show('account.addHint')}</p>
      ${providers.map((one) =>
        accountForm(
          frame.pages['add-provider'],
          frame.csrf,
          { provider: one.id },
          submitButton(
            html`${providerIcon(one)}<span>${view.texts.show('continueWith', { provider: isolate(one.name) })}</span>`,
            'plain',
          ),
        ),
      )}
      ${stepLink(frame.pages.security, texts.show('account.cancel'))}`,
  })
}

/** The question before an account at a provider is removed. */
export function removeProviderPage(view: View, { frame, identity, hidden }: RemoveProviderPage): Markup {
  const { texts } = view
  const buttons = stepButtons(view, frame.pages.security, texts.show('account.remove'), 'danger')
  return accountLayout(view, frame, 'remove-provider', {
    heading: texts.show('account.removeHeading', { name: isolate(identity.name) }),
    main: html`<p class="lead">${texts.show('account.removeProviderConsequence')}</p>
      <div class="part">${identityFacts(view, identity)}</div>
      ${accountForm(frame.pages['remove-provider'], frame.csrf, hidden, buttons)}`,
  })
}
