import type {
  AccountFrame,
  AddPasskeyPage,
  OwnMethod,
  PasskeyView,
  RemovePasskeyPage,
} from '../../ports/pages/account.ts'
import { pageProblem } from '../form-parts.ts'
import type { View } from '../layout.ts'
import { type Fragment, html, type Markup } from '../markup.ts'
import { passkeyForm, passkeyMissing } from '../passkey.ts'
import { ago } from '../spans.ts'
import { accountForm, accountLayout, stepButtons, stepLink } from './frame.ts'
import { fact, removalOf, type Row, stays } from './rows.ts'
import { agentWords } from './sessions.ts'

/** What a passkey is, with a link to the page that adds one, and each passkey of the user, with a link to the page that removes it. */
export function passkeyRows(
  view: View,
  { pages }: AccountFrame,
  { passkeys, canAdd }: Extract<OwnMethod, { readonly kind: 'passkeys' }>,
): readonly Row[] {
  const { texts } = view
  return [
    {
      heading: texts.show('account.passkeys'),
      facts: fact(texts.show('account.noPasskey')),
      action: canAdd ? { uri: pages['add-passkey'], text: texts.show('account.add') } : undefined,
    },
    ...passkeys.map(({ removal, ...passkey }) => ({
      heading: passkeyName(view, passkey),
      facts: [fact(passkeyUses(view, passkey)), stays(view, removal)],
      action: removalOf(view, removal),
    })),
  ]
}

/** A passkey by the browser in which it was added. */
export function passkeyName(view: View, passkey: Pick<PasskeyView, 'agent'>): Markup {
  return html`${view.texts.show('account.passkey')} · ${agentWords(view, passkey)}`
}

/** Where a passkey is, since when, and when it was used. */
export function passkeyUses(view: View, { isSynced, addedSecondsAgo, usedSecondsAgo }: PasskeyView): Fragment {
  const { texts } = view
  const added = ago(view, addedSecondsAgo)
  const used =
    usedSecondsAgo === undefined
      ? texts.show('account.passkeyUnused', { added })
      : texts.show('account.identityUsed', { linked: added, used: ago(view, usedSecondsAgo) })
  return html`${used} · ${isSynced ? texts.show('account.passkeySynced') : texts.show('account.passkeyOnDevice')}`
}

/** The form of a new passkey, which the script shows. */
export function addPasskeyPage(view: View, { frame, ceremony, problem }: AddPasskeyPage): Markup {
  const { texts } = view
  const form = {
    action: frame.pages['add-passkey'],
    hidden: { csrf: frame.csrf },
    ceremony,
    button: texts.show('account.addPasskey'),
  }
  return accountLayout(view, frame, 'add-passkey', {
    hasProblem: problem !== undefined,
    main: html`<p class="lead">${texts.show('account.addPasskeyHint')}</p>
      ${problem === undefined ? undefined : pageProblem(texts.show(`account.passkeyProblems.${problem}`))}
      ${passkeyMissing(texts.show('account.passkeyMissing'))}
      ${passkeyForm(view, { ...form, look: 'main', hasAutofill: false })}
      ${stepLink(frame.pages.security, texts.show('account.cancel'))}`,
  })
}

/** The question before a passkey is removed. */
export function removePasskeyPage(view: View, { frame, passkey, hidden }: RemovePasskeyPage): Markup {
  const { texts } = view
  const buttons = stepButtons(view, frame.pages.security, texts.show('account.remove'), 'danger')
  return accountLayout(view, frame, 'remove-passkey', {
    main: html`<p class="lead">${texts.show('account.removePasskeyConsequence')}</p>
      <div class="part">
        <p>${agentWords(view, passkey)}</p>
        ${fact(passkeyUses(view, passkey))}
      </div>
      ${accountForm(frame.pages['remove-passkey'], frame.csrf, hidden, buttons)}`,
  })
}
