import type { ForgottenPasskey, HiddenFields, PasskeyCeremony } from '../ports/pages/parts.ts'
import { fieldProblem, submitButton } from './form-parts.ts'
import type { View } from './layout.ts'
import { type Fragment, hiddenFields, html, type Markup } from './markup.ts'

const ANSWERS = {
  get: ['clientDataJSON', 'authenticatorData', 'signature', 'userHandle'],
  create: ['clientDataJSON', 'attestationObject'],
} as const

/** A form that the script shows, fills in and posts. Without scripts it is not there. */
export interface PasskeyForm {
  readonly action: string
  readonly hidden: HiddenFields
  readonly ceremony: PasskeyCeremony
  readonly button: Markup
  readonly look: 'main' | 'plain'
  /** Whether the browser offers passkeys in the field of the address, too. */
  readonly hasAutofill: boolean
}

export function passkeyForm(view: View, { action, hidden, ceremony, button, look, hasAutofill }: PasskeyForm): Markup {
  const { branding, texts } = view
  const asked = JSON.stringify({ ...ceremony, name: branding.name })
  const id = `passkey-problem-${ceremony.kind}`
  return html`<form
    class="provider"
    method="post"
    action="${action}"
    data-passkey="${asked}"
    ${hasAutofill ? html` data-autofill` : undefined}
    hidden
  >
    ${hiddenFields({ ...hidden, credential: '' })}
    ${ANSWERS[ceremony.kind].map((name) => html`<input type="hidden" name="${name}" data-answer />`)}
    ${submitButton(button, look)}
    <div data-problem hidden>${fieldProblem(id, texts.show(`noPasskey.${ceremony.kind}`))}</div>
  </form>`
}

/** What a page says where no passkey can be made or used: without scripts, or in a browser that has none. The script hides it. */
export function passkeyMissing(text: Markup): Markup {
  return html`<p class="part" data-no-passkey>${text}</p>`
}

/** The passkey that the script lets the browser forget, and password managers with it. */
export function forgottenPasskey(passkey: ForgottenPasskey | undefined): Fragment {
  return passkey === undefined ? undefined : html`<span data-forgotten="${JSON.stringify(passkey)}" hidden></span>`
}
