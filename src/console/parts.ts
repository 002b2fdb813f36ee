import { html, lines, type Fragment, type Markup } from '../web/markup.ts'
import { visible } from '../web/visible.ts'
import type { Frame, Texts } from './engine/form.ts'
import { copyIcon } from './icons.ts'
import { linkFor } from './links.ts'

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** A time of an answer: how long ago, with the exact time. `never`: what null means. */
export function time(iso: string | null, { place }: Pick<Frame, 'place'>, never = 'never'): Markup {
  if (iso === null) return html`<span class="muted">${never}</span>`
  const exact = exactTime(iso)
  const ageSeconds = (place.now - Date.parse(iso)) / 1000
  const minute = `${iso.slice(0, 16)}Z`
  return html`<time datetime="${minute}" title="${exact}">${ageSeconds < 0 ? exact : age(ageSeconds)}</time>`
}

/** The time of an event, of which several may be in a minute: how long ago, or the time itself. */
export function moment(iso: string, { place }: Pick<Frame, 'place'>, isExact: boolean): Markup {
  const exact = exactTime(iso, 'second')
  const ageSeconds = (place.now - Date.parse(iso)) / 1000
  const shown = isExact || ageSeconds < 0 ? exact.replace(' UTC', '') : age(ageSeconds)
  return html`<time datetime="${iso.slice(0, 19)}Z" title="${exact}">${shown}</time>`
}

/** The day and the minute, as all pages write them, or the second. */
export function exactTime(iso: string, precision: 'minute' | 'second' = 'minute'): string {
  const at = new Date(iso)
  const pad = (number: number): string => String(number).padStart(2, '0')
  const second = precision === 'second' ? `:${pad(at.getUTCSeconds())}` : ''
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()] ?? ''} ${at.getUTCFullYear()}, ${pad(at.getUTCHours())}:${pad(at.getUTCMinutes())}${second} UTC`
}

const [MINUTE, HOUR, DAY] = [60, 3600, 86_400]

/** Shorter than on the pages of people: a list has many. */
function age(seconds: number): string {
  if (seconds < MINUTE) return 'just now'
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min ago`
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)} h ago`
  if (seconds < 60 * DAY) return `${Math.floor(seconds / DAY)} days ago`
  if (seconds < 730 * DAY) return `${Math.floor(seconds / (30 * DAY))} months ago`
  return `${Math.floor(seconds / (365 * DAY))} years ago`
}

const [HEAD, TAIL] = [10, 4]

/** An id in a fixed-width face, cut in the middle. The script adds a button that copies all of it. */
export function id(text: string, to?: string): Markup {
  const short = text.length <= HEAD + TAIL + 4 ? text : `${text.slice(0, HEAD)}…${text.slice(-TAIL)}`
  const shown = html`<code title="${text}">${short}</code>`
  const place = to === undefined ? shown : html`<a href="${to}">${shown}</a>`
  return html`<span class="id">${place}</span>`
}

/** The script shows the button. */
export function copyButton(text: string): Markup {
  return html`<button type="button" class="copy" data-copy="${lines(text)}" aria-label="Copy" hidden>
    ${copyIcon}
  </button>`
}

/** A text of several lines, ready to copy. A reader can scroll it by keys. */
export function snippet(label: string, text: string): Markup {
  return html`<div class="snippet">
    <pre tabindex="0" role="region" aria-label="${label}"><code>${lines(text)}</code></pre>
    ${copyButton(text)}
  </div>`
}

/** A command, ready to copy. */
export function command(text: string): Markup {
  return html`<span class="command"><code>${text}</code>${copyButton(text)}</span>`
}

/** The network of an address. That of `::1` has no other address. */
export function networkOf(text: string): string {
  return text === '0:0:0:0::/64' ? '::1' : text
}

export type Tone = 'good' | 'caution' | 'bad' | 'quiet'

/** A state in a word, with a drawing of the stylesheet, because colour alone says nothing to many people. */
export function chip(text: string, tone: Tone): Markup {
  return html`<span class="chip ${tone}">${text}</span>`
}

/** Untrusted text as the name of a row. An empty name is said to be none. */
export function name(text: string | null | undefined, none: string): Markup {
  const seen = visible(text ?? '').trim()
  return seen === '' ? html`<span class="muted">${none}</span>` : html`<bdi>${seen}</bdi>`
}

/** Scopes, each in a fixed-width face. They are ASCII (RFC 6749 §3.3), so no direction of writing is in them. */
export function scopes(text: string): Markup {
  const tokens = text.split(' ').filter((token) => token !== '')
  if (tokens.length === 0) return html`<span class="muted">none</span>`
  return html`<span class="scopes">${tokens.map((token) => html`<code>${token}</code> `)}</span>`
}

/** Facts of an object, a term and what it is. */
export function facts(pairs: readonly (readonly [term: string, what: Fragment])[]): Markup {
  return html`<dl class="facts">
    ${pairs
      .filter(([, what]) => what !== undefined)
      .map(
        ([term, what]) =>
          html`<div>
            <dt>${term}</dt>
            <dd>${what}</dd>
          </div>`,
      )}
  </dl>`
}

export function section(title: string, content: Fragment, aside?: Fragment): Markup {
  return html`<section>
    <header>
      <h2>${title}</h2>
      ${aside}
    </header>
    ${content}
  </section>`
}

/** What an object is called, or its id if the page has no name of it. */
export function called(object: string, names: Texts): Markup {
  return names[object] === undefined ? id(object) : name(names[object], '(no name)')
}

/** The name of an id in a list, which links to its page. */
export function named(
  frame: Pick<Frame, 'organization'>,
  kind: 'clients' | 'users' | 'organizations',
  object: string,
  names: Texts,
): Markup {
  const to = linkFor(frame, kind, object)
  // A link with the button of an id in it would lead away when the person copies.
  if (names[object] === undefined) return id(object, to)
  const shown = called(object, names)
  return to === undefined ? shown : html`<a href="${to}">${shown}</a>`
}
