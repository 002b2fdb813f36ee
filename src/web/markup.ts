import { textIn, type LocalizedText } from '../base/localized-text.ts'
import { html as escape, raw } from 'hono/html'
import type { Language } from '../base/language.ts'
import type { HiddenFields } from '../ports/pages/parts.ts'
import { visible } from './visible.ts'

const unlinkable = /^(?:javascript|data|vbscript|blob|file|filesystem|about|view-source):$/

/** HTML made by html`…`, styleElement() or scriptElement(). A string is not markup. */
export type Markup = ReturnType<typeof raw>

/** Marks the place of a page’s links to itself in other languages. No text has it, because texts are escaped. */
export const LANGUAGE_LINKS = raw('<!--languages-->')

/** What a template may contain: text, which passes through visible() and is escaped, and markup, which is kept as it is. */
export type Fragment = string | number | Markup | undefined | readonly Fragment[]

/**
 * The template function of all pages. Text passes through visible() and is then escaped, in elements and in quoted
 * attributes, so no page can omit either step.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Fragment[]): Markup {
  return escaped(strings, ...values.map(prepare))
}

/** Text of the server or its operator as the fixed part of a template. It keeps characters that visible() replaces. */
export function escapeText(text: string): string {
  return escaped`${text}`.toString()
}

/** Fills the slots between parts that `escapeText` returned, as `html` does. */
export function fill(
  parts: readonly string[],
  slots: readonly string[],
  values: Readonly<Record<string, Fragment>>,
): Markup {
  return escaped(parts, ...slots.map((slot) => prepare(values[slot])))
}

/** Untrusted text inside the server's text. Its writing direction cannot affect the text around it. `lang`: if it is not that of the page. */
export function isolate(text: string, lang?: Language): Markup {
  return lang === undefined ? html`<bdi>${text}</bdi>` : html`<bdi lang="${lang}">${text}</bdi>`
}

/** A text of the operator in the language of the page, or with the language in which there is one. */
export function localized(text: LocalizedText, language: Language): Markup {
  const { text: shown, lang } = textIn(text, language)
  return isolate(shown, lang)
}

const NEWLINE = raw('\n')
/** Of a program. More could push a text out of sight. */
const INDENT = /^ {0,16}/

/** Text whose lines and their indents are kept, for a field of several lines. */
export function lines(text: string): Markup {
  const parts = text.split(/\r?\n/).flatMap((line, index) => {
    const [indent = ''] = INDENT.exec(line) ?? []
    return [index === 0 ? undefined : NEWLINE, raw(indent), line.slice(indent.length)]
  })
  return html`${parts}`
}

/** Untrusted text that is no prose, such as a host or an identifier. */
export function code(text: string): Markup {
  return html`<code>${isolate(text)}</code>`
}

/**
 * The text of a URI in an `href`. Throws for a scheme that runs or embeds something: it should have been rejected earlier.
 */
export function href(uri: string): string {
  const { protocol } = new URL(uri)
  if (unlinkable.test(protocol)) throw new Error(`A page must not link to ${protocol}`)
  return uri
}

/** The hidden fields of a form, which are escaped and not shown: the `state` of a client goes back as it came. RFC 6749 §4.1.2. */
export function hiddenFields(fields: HiddenFields): readonly Markup[] {
  return Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${escaped`${value}`}" />`,
  )
}

/** The server's stylesheet in its element. It is not escaped, as the script below. Its hash covers every character. */
export function styleElement(stylesheet: string): Markup {
  if (stylesheet.includes('</')) throw new Error('The stylesheet would end its element.')
  return raw(`<style>${stylesheet}</style>`)
}

/** A script of the server in its element. Its hash covers every character, and nothing else of the page is a script. */
export function scriptElement(script: string): Markup {
  if (script.includes('</')) throw new Error('The script would end its element.')
  return raw(`<script>${script}</script>`)
}

function escaped(strings: readonly string[], ...values: readonly unknown[]): Markup {
  const markup = escape(strings as TemplateStringsArray, ...values)
  // hono returns a promise only when a value is a promise, and a Fragment never is.
  if (markup instanceof Promise) throw new Error('A template contains a promise.')
  return markup
}

function prepare(value: Fragment): unknown {
  if (typeof value === 'string') return visible(value)
  return Array.isArray(value) ? value.map(prepare) : value
}
