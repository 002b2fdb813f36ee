import type { AddProviderPage, OwnIdentity, RemoveProviderPage, SecurityPage } from '../../ports/pages/account.ts'
import { submitButton } from '../form-parts.ts'
import { providerIcon } from '../icons.ts'
import type { View } from '../layout.ts'
import { type Fragment, html, isolate, type Markup } from '../markup.ts'
import { ago } from '../spans.ts'
import { accountForm, accountLayout, stepButtons, stepLink } from './frame.ts'
import { fact, removalOf, type Row, stays } from './rows.ts'

/** The accounts at providers that the user can sign in with, and a link to the page that adds one. */
export function providerRows(view: View, { frame, methods }: SecurityPage): readonly Row[] {
  const { texts } = view
  const identities = methods.filter((method) => method.kind === 'identity')
  const canAdd = methods.some(({ kind }) => kind === 'provider')
  const adding: Row = {
    heading: texts.show('account.providers'),
    facts: fact(texts.show('account.noIdentity')),
    action: { uri: frame.pages['add-provider'], text: texts.show('account.add') },
  }
  return [
    ...identities.map(({ removal, ...identity }) => ({
      heading: isolate(identity.name),
      facts: [identityUses(view, identity), stays(view, removal)],
      action: removalOf(view, removal),
    })),
    ...(canAdd ? [adding] : []),
  ]
}

function identityUses(view: View, identity: OwnIdentity): Fragment {
  const { texts } = view
  const { email, isUsable, linkedSecondsAgo, usedSecondsAgo } = identity
  const uses = texts.show('account.identityUsed', {
    linked: ago(view, linkedSecondsAgo),
    used: ago(view, usedSecondsAgo),
  })
  return [
    fact(email === undefined ? uses : html`${isolate(email)} · ${uses}`),
    isUsable ? undefined : fact(texts.show('account.identityUnusable')),
  ]
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
      <div class="part">
        <p>${wayOf(view, identity)}</p>
        ${identityUses(view, { ...identity, email: undefined, isUsable: true })}
      </div>
      ${accountForm(frame.pages['remove-provider'], frame.csrf, hidden, buttons)}`,
  })
}

function wayOf({ texts }: View, { email, isUsable }: OwnIdentity): Markup {
  if (!isUsable) return texts.show('account.identityUnusable')
  return email === undefined
    ? texts.show('account.identity')
    : texts.show('account.identityOf', { email: isolate(email) })
}
