import { PAGE_LIMIT } from '../admin/page.ts'
import { html, lines, type Fragment, type Markup } from '../web/markup.ts'
import { visible } from '../web/visible.ts'
import { closeIcon, copyIcon } from './icons.ts'
import { linkFor, listAddress } from './links.ts'
import { lockOutBy } from './lock-out.ts'
import { asksFirst, chosenRows, type Filter, type Form, type Frame, type Texts } from './engine/form.ts'

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

export interface Column<Row> {
  readonly heading: string
  readonly cell: (row: Row) => Fragment
  /** Left out where there is little room: cards on a phone have all columns. */
  readonly isWide?: true
  /** Takes the room that is left. */
  readonly isRest?: true
  /** Has the buttons of the row. */
  readonly isAction?: true
}

export interface Table<Row> {
  readonly caption: string
  readonly columns: readonly [Column<Row>, ...Column<Row>[]]
  readonly rows: readonly Row[]
  /** The id of a row, for the selection. Absent: rows are not chosen. */
  readonly idOf?: (row: Row) => string
  /** Rows that are not chosen. */
  readonly isLeftOut?: (row: Row) => boolean
  /** What a row is called beside its box. */
  readonly labelOf?: (row: Row) => string
  /** Under the rows. */
  readonly next?: string | null
  /** Instead of the rows, if there are none. */
  readonly empty: Fragment
}

/** A list. On a phone each row is a card. */
export function table<Row>(frame: Frame, list: Table<Row>): Markup {
  const { caption, columns, rows, idOf, next = null, empty } = list
  const bulk = idOf === undefined ? [] : frame.forms.filter((form) => chosenRows(form)?.isBulk === true)
  const chooses = bulk.length > 0 && rows.length > 0
  const body =
    rows.length === 0
      ? html`<div class="empty">${next === null ? empty : html`<p>None so far.</p>`}</div>`
      : html`<div class="scroll">
          <table>
            <caption>
              ${caption}
            </caption>
            <thead>
              <tr>
                ${chooses ? html`<th scope="col" class="pick"><span class="unseen">Choose</span></th>` : undefined}
                ${columns.map((column) => html`<th scope="col" ${classOf(column)}>${column.heading}</th>`)}
              </tr>
            </thead>
            <tbody>
              ${rows.map((row) => bodyRow(row, list, chooses))}
            </tbody>
          </table>
        </div>`
  const pager = pages(frame, rows.length, next)
  if (!chooses) return html`${body}${pager === undefined ? undefined : html`<div class="bar">${pager}</div>`}`
  return html`<form method="post" action="${addressOf(frame, {})}" class="list">
    ${hidden('csrf', frame.csrf)} ${body}
    <div class="bar">
      <span class="count" aria-live="polite" data-count hidden></span>
      ${bulk.map((form) => button(form))} ${pager}
    </div>
  </form>`
}

/** Without spaces, because a page has fifty. */
function bodyRow<Row>(row: Row, { columns, idOf, isLeftOut, labelOf }: Table<Row>, chooses: boolean): Markup {
  const [first, ...others] = columns
  const rowId = idOf?.(row) ?? ''
  const pick = chooses ? box(isLeftOut?.(row) === true ? undefined : rowId, labelOf?.(row) ?? rowId) : undefined
  const head = html`<th scope="row">${first.cell(row)}</th>`
  const cells = others.map((column) => {
    const attributes = html`data-label="${column.heading}"${classOf(column)}`
    return html`<td ${attributes}>${column.cell(row)}</td>`
  })
  return html`<tr data-row>
    ${pick}${head}${cells}
  </tr>`
}

/** `row`: undefined if the row cannot be chosen. All of the cell is the target. */
function box(row: string | undefined, label: string): Markup {
  if (row === undefined) return html`<td class="pick"></td>`
  const field = html`<input type="checkbox" name="subject" value="${row}" aria-label="${label}" />`
  return html`<td class="pick"><label>${field}</label></td>`
}

function classOf<Row>({ isWide, isRest, isAction }: Column<Row>): Fragment {
  const names = [isWide ? 'far' : '', isRest ? 'rest' : '', isAction ? 'act' : ''].join(' ').trim()
  return names === '' ? undefined : html` class="${names}"`
}

/** A page of a search may have few rows, or none, although more follow: the script reads on, until the page is full or the person stops it. */
function pages(frame: Frame, shown: number, next: string | null): Markup | undefined {
  const isFirst = frame.place.query['before'] === undefined
  if (isFirst && next === null) return undefined
  const isPart = next !== null && shown < PAGE_LIMIT.usual
  return html`<nav class="pages" aria-label="Pages">
    ${isPart ? html`<span class="muted" data-found role="status">${shown} found so far.</span>` : undefined}
    ${isPart ? html`<button type="button" class="button" data-stop hidden>Stop</button>` : undefined}
    ${isFirst ? undefined : html`<a href="${addressOf(frame, { before: undefined })}">Newest</a>`}
    ${next === null ? undefined : html`<a href="${addressOf(frame, { before: next })}" ${isPart ? html` data-continue` : undefined}>${isPart ? 'Continue' : 'Older'}</a>`}
  </nav>`
}

/** The address of this screen with a changed query. What was said on the page before is left out. */
export function addressOf(
  { place }: Pick<Frame, 'place'>,
  changes: Readonly<Record<string, string | undefined>>,
): string {
  const { done: _, ask: __, subject: ___, signed_in: ____, format: _____, ...kept } = place.query
  const pairs = Object.entries({ ...kept, ...changes }).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  )
  const query = new URLSearchParams(pairs).toString()
  return query === '' ? place.path : `${place.path}?${query}`
}

export function hidden(field: string, value: string): Markup {
  return html`<input type="hidden" name="${field}" value="${value}" />`
}

/** The button of a form that has one already, such as the list. */
function button(form: Form): Markup {
  const { label, isFinal } = form.says
  const text = asksFirst(form) ? `${label}…` : label
  return html`<button type="submit" name="task" value="${form.task}" class="${isFinal ? 'button danger' : 'button'}">
    ${text}
  </button>`
}

/** The buttons of the object that a screen shows, or of one of its rows. */
export function actions(frame: Frame, forms: readonly Form[], subject?: string): Markup | undefined {
  if (forms.length === 0) return undefined
  return html`<form method="post" action="${addressOf(frame, {})}" class="actions">
    ${hidden('csrf', frame.csrf)} ${subject === undefined ? undefined : hidden('subject', subject)}
    ${forms.map((form) => button(form))}
  </form>`
}

/** Links to the pages that ask, for a row of a list: forms of fifty rows would be half of the page. */
export function asking(frame: Frame, forms: readonly Form[], subject: string): Markup | undefined {
  if (forms.length === 0) return undefined
  const link = ({ task, says: { label, isFinal } }: Form) => {
    const to = addressOf(frame, { ask: task, subject }).slice(frame.place.path.length)
    return html`<a class="${isFinal ? 'button danger' : 'button'}" href="${to}">${label}…</a>`
  }
  return html`<span class="actions">${forms.map(link)}</span>`
}

/** The forms of a screen that fit its object, those that can be undone or the others. `object`: its id. */
export function formsFor(
  frame: Frame,
  object: string,
  state: Readonly<Record<string, unknown>>,
  isFinal: boolean,
): readonly Form[] {
  return frame.forms.filter(
    (form) =>
      chosenRows(form) === undefined &&
      (form.says.isFinal === true) === isFinal &&
      form.fits?.(state) !== false &&
      form.says.already?.holds(state) !== true &&
      lockOutBy(form.task, object, frame.self) === undefined,
  )
}

/** The form of one task, if the person may use it. */
export function formOf(frame: Frame, task: string): readonly Form[] {
  return frame.forms.filter((form) => form.task === task)
}

/** The filters of a list: those that are set are words, which are taken off one by one. */
export function filterBar(frame: Frame): Markup {
  const set = frame.filters.filter(({ value }) => value !== undefined)
  return html`<form method="get" action="${frame.place.path}" class="filters">
      ${frame.filters.map(filterField)}
      <button type="submit" class="button">Filter</button>
    </form>
    ${
      set.length === 0
        ? undefined
        : html`<ul class="set" aria-label="Filters that are set">
            ${set.map(
              ({ name: field, label, value = '' }) =>
                html`<li>
                  <a
                    href="${addressOf(frame, { [field]: undefined, before: undefined })}"
                    aria-label="Remove the filter ${label} ${wordOf(value)}"
                    ><span class="muted">${label}</span> <bdi>${wordOf(value)}</bdi>${closeIcon}</a
                  >
                </li>`,
            )}
            <li><a href="${frame.place.path}">Clear</a></li>
          </ul>`
    }`
}

const A_DAY = /^\d{4}-\d\d-\d\d$/

function filterField({ name: field, label, kind, choices, value = '' }: Filter): Markup {
  if (kind !== 'choice') {
    const type = kind === 'time' && (value === '' || A_DAY.test(value)) ? 'date' : 'text'
    return html`<label
      ><span>${label}</span><input type="${type}" name="${field}" value="${value}" autocomplete="off"
    /></label>`
  }
  return html`<label
    ><span>${label}</span>
    <select name="${field}">
      <option value="">any</option>
      ${choices.map((choice) => html`<option value="${choice}" ${choice === value ? html` selected` : undefined}>${wordOf(choice)}</option>`)}
    </select></label
  >`
}

/** The words of the columns, for the values of the tasks. */
const WORDS: Readonly<Record<string, string>> = {
  true: 'yes',
  false: 'no',
  operator: 'created',
  registration: 'registered',
  verified: 'Verified',
  'known-domain': 'Known domain',
  unverified: 'Unverified',
  blocked: 'Blocked',
}

function wordOf(value: string): string {
  // The address may have any value: `constructor` is no word (threats.md CON-33).
  if (Object.hasOwn(WORDS, value)) return WORDS[value] ?? value
  return value.endsWith('.') ? `${value}*` : value
}

/** What there is to see, and the command that makes the first; or that nothing matches the filters. */
export function nothing(frame: Frame, what: string, example: string | undefined): Markup {
  const isFiltered = frame.filters.some(({ value }) => value !== undefined) || frame.place.query['before'] !== undefined
  if (isFiltered)
    return html`<p>Nothing matches. <a href="${frame.place.path}">Clear the filters</a></p>
      ${elsewhere(frame)}`
  return html`<p>${what}</p>
    ${example === undefined ? undefined : html`<p>${command(example)}</p>`}`
}

/** The same search in other lists. */
function elsewhere({ place: { query } }: Frame): Markup | undefined {
  const text = query['name'] ?? query['host'] ?? query['email_prefix']
  if (text === undefined) return undefined
  const names = html`<p><a href="${listAddress('users', 'name', text)}">Search the names of users</a></p>`
  return html`${query['email_prefix'] === undefined ? undefined : names}
    <p><a href="${listAddress('found', 'name', text)}">Search everywhere</a></p>`
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
  if (to === undefined || names[object] === undefined) return id(object, to)
  return html`<a href="${to}">${called(object, names)}</a>`
}
