import { html } from './markup.ts'

// Drawn in the colour of the text around them, and hidden from screen readers, because the text beside them says the same.

export const tick = html`<svg viewBox="0 0 20 20" aria-hidden="true"><path d="m4.5 10.5 3.5 3.5 7.5-8" /></svg>`

export const warning = html`<svg viewBox="0 0 20 20" aria-hidden="true">
  <path d="M10 3 2.2 16.5h15.6zM10 8v4M10 14.2v.05" />
</svg>`

export const stop = html`<svg viewBox="0 0 20 20" aria-hidden="true">
  <circle cx="10" cy="10" r="7.5" />
  <path d="M10 6.2v4.6M10 13.7v.05" />
</svg>`
