import type {
  AddPasskeyPage,
  OwnMethod,
  OwnPasskey,
  PasskeyView,
  RemovePasskeyPage,
  SecurityPage,
} from '../../ports/pages/account.ts'
import { pageProblem } from '../form-parts.ts'
import type { View } from '../layout.ts'
import { type Fragment, html, type Markup } from '../markup.ts'
import { forgottenPasskey, passkeyForm, passkeyMissing } from '../passkey.ts'
import { ago } from '../spans.ts'
import { accountForm, accountLayout, stepButtons, stepLink } from './frame.ts'
import { agentWords } from './sessions.ts'

/** The passkeys of the user, each with a link to the page that removes it. */
export function passkeysSection(
  view: View,
  { frame, forgotten }: SecurityPage,
  { passkeys, canAdd }: Extract<OwnMethod, { readonly kind: 'passkeys' }>,
): Markup {
  const { texts } = view
  return html`<section class="part" aria-labelledby="passkeys-heading">
    <h2 id="passkeys-heading">${texts.show('account.passkeys')}</h2>
    ${
      passkeys.length === 0
        ? html`<p>${texts.show('account.noPasskey')}</p>`
        : html`<ul class="entries" role="list">
            ${passkeys.map((one, index) => html`<li>${entry(view, one, index)}</li> `)}
          </ul>`
    }
    ${canAdd ? stepLink(frame.pages['add-passkey'], texts.show('account.addPasskey')) : undefined}
    ${forgottenPasskey(forgotten)}
  </section>`
}

function entry(view: View, { removal, ...passkey }: OwnPasskey, index: number): Markup {
  const { texts } = view
  const id = `remove-passkey-${index}`
  return html`<h3 id="passkey-${index}">${agentWords(view, passkey)}</h3>
    ${facts(view, passkey)}
    ${
      removal.kind === 'open'
        ? html`<p class="step">
            <a class="button" href="${removal.uri}" id="${id}" aria-labelledby="${id} passkey-${index}"
              >${texts.show('account.remove')}</a
            >
          </p>`
        : html`<p class="small muted">${texts.show(`account.stays.${removal.kind}`)}</p>`
    }`
}

function facts(view: View, passkey: PasskeyView): Fragment {
  return html`<p class="small muted">${passkeyUses(view, passkey)}</p>`
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
        ${facts(view, passkey)}
      </div>
      ${accountForm(frame.pages['remove-passkey'], frame.csrf, hidden, buttons)}`,
  })
}
