import { html as escape, raw } from 'hono/html'
import { visible } from './visible.ts'

const unlinkable = /^(?:javascript|data|vbscript|blob|file|filesystem|about|view-source):$/

/** HTML that html`…` or styleElement() has made; a string is not markup. */
export type Markup = ReturnType<typeof raw>

/** What a template may contain: text, which is made visible and escaped, and markup, which is kept. */
export type Fragment = string | number | Markup | undefined | readonly Fragment[]

/**
 * The only template of the pages. Text in it is escaped, whether it stands in an element or in a quoted attribute, and
 * passes through visible() first, so no page can forget either.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Fragment[]): Markup {
  const markup = escape(strings, ...values.map(prepare))
  // A promise would need a promise among the values, and a Fragment is none.
  if (markup instanceof Promise) throw new Error('A template waits for a promise.')
  return markup
}

/** Untrusted words inside our own: their writing direction cannot reach beyond them. */
export function isolate(text: string): Markup {
  return html`<bdi>${text}</bdi>`
}

/** The text of a URI in an `href`. A scheme that runs or embeds something is a bug of whoever let it in, not a link. */
export function href(uri: string): string {
  const { protocol } = new URL(uri)
  if (unlinkable.test(protocol)) throw new Error(`A page must not link to ${protocol}`)
  return uri
}

/** Our own stylesheet in its element: the one thing on a page that is not escaped. Its hash covers every character. */
export function styleElement(stylesheet: string): Markup {
  if (stylesheet.includes('</')) throw new Error('The stylesheet would end its element.')
  return raw(`<style>${stylesheet}</style>`)
}

function prepare(value: Fragment): unknown {
  if (typeof value === 'string') return visible(value)
  return Array.isArray(value) ? value.map(prepare) : value
}
