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
import { html, isolate } from '../markup.ts'
import type { Fragment, Markup } from '../markup.ts'
import { ago } from '../spans.ts'
import { accountForm, accountLayout, stepButtons, stepLink } from './frame.ts'

/** The accounts at providers that the user can sign in with. */
export function providersSection(view: View, { frame, methods }: SecurityPage): Fragment {
  const texts = view.texts.account
  const identities = methods.filter((method) => method.kind === 'identity')
  const canAdd = methods.some(({ kind }) => kind === 'provider')
  if (identities.length === 0 && !canAdd) return undefined
  return html`<section class="part" aria-labelledby="providers-heading">
    <h2 id="providers-heading">${texts.providers}</h2>
    ${
      identities.length === 0
        ? html`<p>${texts.noIdentity}</p>`
        : html`<ul class="entries" role="list">
            ${identities.map((one, index) => html`<li>${identityEntry(view, one, index)}</li> `)}
          </ul>`
    }
    ${canAdd ? stepLink(frame.pages['add-provider'], texts.addProvider) : undefined}
  </section>`
}

function identityEntry(
  view: View,
  { removal, ...identity }: Extract<OwnMethod, { readonly kind: 'identity' }>,
  index: number,
): Markup {
  const texts = view.texts.account
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
              >${texts.remove}</a
            >
          </p>`
        : html`<p class="small muted">${texts.stays[removal.kind]}</p>`
    }`
}

function identityFacts(view: View, { email, isUsable, linkedSecondsAgo, usedSecondsAgo }: OwnIdentity): Markup {
  const texts = view.texts.account
  const way = email === undefined ? texts.identity : texts.identityOf(isolate(email))
  return html`<p>${isUsable ? way : texts.identityUnusable}</p>
    <p class="small muted">${texts.identityUsed(ago(view, linkedSecondsAgo), ago(view, usedSecondsAgo))}</p>`
}

/** The providers that the user can add, each with a button that leads there. */
export function addProviderPage(view: View, { frame, providers }: AddProviderPage): Markup {
  const texts = view.texts.account
  return accountLayout(view, frame, 'add-provider', {
    main: html`<p class="lead">${texts.addHint}</p>
      ${providers.map((one) =>
        accountForm(
          frame.pages['add-provider'],
          frame.csrf,
          { provider: one.id },
          submitButton(html`${providerIcon(one)}<span>${view.texts.continueWith(isolate(one.name))}</span>`, 'plain'),
        ),
      )}
      ${stepLink(frame.pages.security, texts.cancel)}`,
  })
}

/** The question before an account at a provider is removed. */
export function removeProviderPage(view: View, { frame, identity, hidden }: RemoveProviderPage): Markup {
  const texts = view.texts.account
  const buttons = stepButtons(view, frame.pages.security, texts.remove, 'danger')
  return accountLayout(view, frame, 'remove-provider', {
    heading: texts.removeHeading(isolate(identity.name)),
    main: html`<p class="lead">${texts.removeProviderConsequence}</p>
      <div class="part">${identityFacts(view, identity)}</div>
      ${accountForm(frame.pages['remove-provider'], frame.csrf, hidden, buttons)}`,
  })
}
