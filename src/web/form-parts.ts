import { stop } from './icons.ts'
import type { View } from './layout.ts'
import { type Fragment, html, type Markup } from './markup.ts'

/** The button that submits a form. `main`: the page stresses it. */
export function submitButton(text: Fragment, look: 'main' | 'plain'): Markup {
  return html`<div class="buttons">
    <button class="${look === 'main' ? 'button main' : 'button'}" type="submit">${text}</button>
  </div>`
}

/** A link that looks like the main button of a form. */
export function linkButton(uri: string, text: Fragment): Markup {
  return html`<div class="buttons">
    <a class="button main" href="${uri}"><span>${text}</span></a>
  </div>`
}

/** A link that looks like a button beside a main one. */
export function plainLinkButton(uri: string, text: Fragment): Markup {
  return html`<div class="buttons">
    <a class="button" href="${uri}"><span>${text}</span></a>
  </div>`
}

/** A button that a script shows (`showPasswordScript`), and that makes the password in the field with this id readable. */
export function revealButton({ texts }: View, id: string): Markup {
  return html`<button
    class="reveal"
    type="button"
    aria-controls="${id}"
    aria-pressed="false"
    aria-label="${texts.say('showPassword')}"
    hidden
  >
    ${texts.show('show')}
  </button>`
}

/**
 * The field of an address, with the cursor in it. `problem`: what is wrong with it. It has the type of a text: of `email` Chromium rewrites the
 * domain by an older rule, so that the address of faß.de becomes that of another domain (threats.md UI-21).
 */
export function emailField(label: Markup, value: string, problem: Fragment): Markup {
  const attributes = html`inputmode="email" value="${value}" autocomplete="email" autocapitalize="none"
  spellcheck="false" autofocus`
  return textField({ id: 'email', label, attributes, problem })
}

/** A field for text, which a screen reader reads with its hint and its problem. `name`: of the parameter, if it is not the `id`. `attributes`: further ones. */
export function textField({
  id,
  name = id,
  label,
  hint,
  attributes,
  problem,
}: {
  readonly id: string
  readonly name?: string
  readonly label: Markup
  readonly hint?: Markup | undefined
  readonly attributes: Markup
  readonly problem: Fragment
}): Markup {
  const isWrong = problem !== undefined
  const described = [...(hint === undefined ? [] : [`${id}-hint`]), ...(isWrong ? [`${id}-problem`] : [])].join(' ')
  return html`<div class="field">
    <label for="${id}">${label}</label>
    ${hint === undefined ? undefined : html`<p class="small muted hint" id="${id}-hint">${hint}</p>`}
    <input
      id="${id}"
      name="${name}"
      type="text"
      ${attributes}
      ${described === '' ? undefined : html`aria-describedby="${described}"`}
      ${isWrong ? html` aria-invalid="true"` : undefined}
    />
    ${isWrong ? fieldProblem(`${id}-problem`, problem) : undefined}
  </div>`
}

/** What went wrong, above the forms of a page, where no single field is wrong. */
export function pageProblem(text: Fragment): Markup {
  return html`<p class="notice problem" role="alert" id="problem">${stop}<span>${text}</span></p>`
}

/** What is wrong with the value of a field, below the field, which names `id` in `aria-describedby`. */
export function fieldProblem(id: string, text: Fragment): Markup {
  return html`<p class="error" role="alert" id="${id}">${stop}<span>${text}</span></p>`
}
