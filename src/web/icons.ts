import type { ProviderMark } from '../ports/pages/parts.ts'
import { initial } from './pictures.ts'
import { html, type Markup } from './markup.ts'

// Drawn in the colour of the text around them, and hidden from screen readers, because the text beside them says the same.

export const tick = html`<svg viewBox="0 0 20 20" aria-hidden="true"><path d="m4.5 10.5 3.5 3.5 7.5-8" /></svg>`

export const warning = html`<svg viewBox="0 0 20 20" aria-hidden="true">
  <path d="M10 3 2.2 16.5h15.6zM10 8v4M10 14.2v.05" />
</svg>`

export const stop = html`<svg viewBox="0 0 20 20" aria-hidden="true">
  <circle cx="10" cy="10" r="7.5" />
  <path d="M10 6.2v4.6M10 13.7v.05" />
</svg>`

const branch = html`<svg viewBox="0 0 20 20" aria-hidden="true">
  <circle cx="6" cy="4" r="2" />
  <circle cx="6" cy="16" r="2" />
  <circle cx="14" cy="7" r="2" />
  <path d="M6 6v8M14 9c0 3-8 1.5-8 5" />
</svg>`

const key = html`<svg viewBox="0 0 20 20" aria-hidden="true">
  <circle cx="6.5" cy="13.5" r="3.5" />
  <path d="m9 11 7.5-7.5M13 7l2.5 2.5" />
</svg>`

const office = html`<svg viewBox="0 0 20 20" aria-hidden="true">
  <path d="M4 17.5V3h8v14.5M12 8h4v9.5M2.5 17.5h15M7 6.5h2M7 10h2M7 13.5h2" />
</svg>`

/**
 * The picture beside the name of a provider. The pictures are drawings of what the provider is for, or its first letter: none is the
 * provider's own mark.
 */
export function providerIcon({ mark, name }: { readonly mark: ProviderMark; readonly name: string }): Markup {
  switch (mark) {
    case 'code':
      return branch
    case 'key':
      return key
    case 'office':
      return office
    case 'letter':
      return html`<span class="letter" aria-hidden="true">${initial(name)}</span>`
  }
}
