import { isThisMachine } from '../base/networks-around.ts'
import { html, lines, type Fragment, type Markup } from '../web/markup.ts'
import { initial } from '../web/pictures.ts'
import { visible } from '../web/visible.ts'
import type { Frame, Texts } from './engine/form.ts'
import { copyIcon } from './icons.ts'
import { linkFor } from './links.ts'

const LONG_MONTHS = 'January February March April May June July August September October November December'.split(' ')
const MONTHS = LONG_MONTHS.map((month) => month.slice(0, 3))
const DAY_MS = 24 * 60 * 60 * 1000

/** A time of an answer: how long ago, with the exact time. `never`: what null means. */
export function time(iso: string | null, { place }: Pick<Frame, 'place'>, never = 'never'): Markup {
  if (iso === null) return html`<span class="muted">${never}</span>`
  const exact = exactTime(iso)
  const ageSeconds = (place.now - Date.parse(iso)) / 1000
  const minute = `${iso.slice(0, 16)}Z`
  return html`<time datetime="${minute}" title="${exact}">${ageSeconds < 0 ? exact : age(ageSeconds)}</time>`
}

/** How long ago a time was. */
export function ageOf(iso: string, { place }: Pick<Frame, 'place'>): string {
  return age(Math.max(0, (place.now - Date.parse(iso)) / 1000))
}

/** The day of a time, as the heading of what happened in it. */
export function dayOf(iso: string, { place }: Pick<Frame, 'place'>): string {
  const [at, now] = [new Date(iso), new Date(place.now)]
  const days = Math.floor(now.getTime() / DAY_MS) - Math.floor(at.getTime() / DAY_MS)
  const day = `${at.getUTCDate()} ${LONG_MONTHS[at.getUTCMonth()] ?? ''}`
  if (days === 0) return `Today, ${day}`
  return days === 1 ? `Yesterday, ${day}` : `${day} ${at.getUTCFullYear()}`
}

/** A time as a word of a sentence: `28 Nov, 16:33`, with the year if it is another one. A day alone is `28 Nov`. */
export function shortTime(iso: string, { place }: Pick<Frame, 'place'>): string {
  const year = new Date(iso).getUTCFullYear() === new Date(place.now).getUTCFullYear()
  const text = exactTime(iso).replace(' UTC', '')
  const shown = year ? text.replace(/ \d{4},/, ',') : text
  return iso.length === 10 ? shown.replace(/, [\d:]+$/, '') : shown
}

/** The day and the minute, as all pages write them. */
export function exactTime(iso: string): string {
  const at = new Date(iso)
  const pad = (number: number): string => String(number).padStart(2, '0')
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()] ?? ''} ${at.getUTCFullYear()}, ${pad(at.getUTCHours())}:${pad(at.getUTCMinutes())} UTC`
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

/** A network in words, as the account page has it too. */
export function networkOf(text: string): string {
  return isThisMachine(text) ? 'this computer' : text
}

export type Tone = 'good' | 'caution' | 'bad' | 'quiet'

/** A state in a word, with a shape of the stylesheet, because colour alone says nothing to many people. */
export function chip(text: string, tone: Tone): Markup {
  return html`<span class="state ${tone}">${text}</span>`
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

export function section(title: Fragment, content: Fragment, aside?: Fragment): Markup {
  return html`<section>
    <header>
      <h2>${title}</h2>
      ${aside}
    </header>
    ${content}
  </section>`
}

/** A part of the page of an object, with an address of its own. */
export interface Tab {
  readonly label: Fragment
  readonly to: string
  readonly isCurrent: boolean
}

/** The parts of an object. `object`: what it is. */
export function tabBar(object: string, tabs: readonly Tab[]): Markup {
  return html`<nav class="tabs" aria-label="${object}">
    ${tabs.map(({ label, to, isCurrent }) => html`<a href="${to}" ${isCurrent ? html` aria-current="page"` : undefined}>${label}</a>`)}
  </nav>`
}

/** The heading of an object that is no person: its first letter, its name with its state, and what is known of it in one line. */
export function thingHeading(title: string, state: Fragment, sub: Fragment, buttons: Fragment): Markup {
  return html`<div class="heading">
    <span class="avatar thing" aria-hidden="true">${initials(title)}</span>
    <div>
      <h1>${name(title, '(no name)')} ${state}</h1>
      <p class="sub">${sub}</p>
    </div>
    ${buttons}
  </div>`
}

/** The name of an id. undefined: the page has none. An operator may choose the id `constructor` (threats.md CON-33). */
export function nameOf(names: Texts, object: string): string | undefined {
  return Object.hasOwn(names, object) ? names[object] : undefined
}

/** What an object is called, or its id if the page has no name of it. */
export function called(object: string, names: Texts): Markup {
  const own = nameOf(names, object)
  return own === undefined ? id(object) : name(own, '(no name)')
}

/** With a capital letter, for the beginning of a line. */
export function capitalOf(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

/** Short facts in one line. */
export function dotted(parts: readonly Fragment[]): Markup {
  const shown = parts.filter((part) => part !== undefined)
  return html`${shown.map((part, index) => (index === 0 ? part : html` · ${part}`))}`
}

/** The name of an id in a list, which links to its page. */
export function named(
  frame: Pick<Frame, 'mayOpen' | 'organization'>,
  kind: 'clients' | 'users' | 'organizations',
  object: string,
  names: Texts,
): Markup {
  const to = linkFor(frame, kind, object)
  // A link with the button of an id in it would lead away when the person copies.
  if (nameOf(names, object) === undefined) return id(object, to)
  const shown = called(object, names)
  return to === undefined ? shown : html`<a href="${to}">${shown}</a>`
}

/** The first letters of the first and the last word of a name or an address. */
export function initials(text: string): string {
  const words =
    text
      .split('@', 1)[0]
      ?.split(/[\s.]+/)
      .filter((word) => word !== '') ?? []
  return [...new Set([words[0], words.at(-1)])].map((word) => initial(word ?? '')).join('')
}
