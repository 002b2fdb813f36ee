import { PAGE_LIMIT } from '../admin/page.ts'
import { html, type Fragment, type Markup } from '../web/markup.ts'
import { formatNumber } from './chart.ts'
import { addressOf } from './engine/addresses.ts'
import { button, hidden } from './engine/buttons.ts'
import { chosenRows, type Filter, type Frame, type Texts } from './engine/form.ts'
import { closeIcon, filterIcon } from './icons.ts'
import { foundAddress } from './links.ts'
import { ageOf, command, nameOf, shortTime } from './parts.ts'

export interface Column<Row> {
  readonly heading: string
  readonly cell: (row: Row) => Fragment
  /** On a phone: `badge` is beside the name, which is the first column, and `meta` is in the last line, with its heading. Absent: a line below the name. */
  readonly role?: 'badge' | 'meta'
  /** Left out where there is little room. */
  readonly isWide?: true
  /** Takes the room that is left. */
  readonly isRest?: true
  /** Sentences, of which none is cut. */
  readonly isProse?: true
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

/** A list. On a phone each row has three lines instead of columns. */
export function table<Row>(frame: Frame, list: Table<Row>): Markup {
  const { caption, columns, rows, idOf, next = null, empty } = list
  const bulk = idOf === undefined ? [] : frame.forms.filter((form) => chosenRows(form)?.isBulk === true)
  const chooses = bulk.length > 0 && rows.length > 0
  const isReached = (row: Row): boolean => bulk.some((form) => frame.reaches(form, idOf?.(row) ?? ''))
  const isChosen = (row: Row): boolean => list.isLeftOut?.(row) !== true && isReached(row)
  const isCut = chooses && !rows.every(isReached)
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
              ${rows.map((row) => bodyRow(row, list, chooses ? isChosen : undefined))}
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
    ${isCut ? html`<p class="hint">Rows without a box are left alone. ${frame.outOfReach}</p>` : undefined}
  </form>`
}

/** Without spaces, because a page has fifty. */
function bodyRow<Row>(
  row: Row,
  { columns, idOf, labelOf }: Table<Row>,
  isChosen: ((row: Row) => boolean) | undefined,
): Markup {
  const [first, ...others] = columns
  const rowId = idOf?.(row) ?? ''
  const pick = isChosen && box(isChosen(row) ? rowId : undefined, labelOf?.(row) ?? rowId)
  const head = html`<th scope="row">${first.cell(row)}</th>`
  const cells = others.map((column) => {
    const label = column.role === 'meta' ? html` data-label="${column.heading}"` : undefined
    const attributes = html`${label}${classOf(column)}`
    return html`<td${attributes}>${column.cell(row)}</td>`
  })
  return html`<tr data-row>
    ${pick}${head}${cells}
  </tr>`
}

/** `row`: undefined if the row cannot be chosen. All of the cell is the target. */
function box(row: string | undefined, label: string): Markup {
  if (row === undefined) return html`<td class="pick"></td>`
  const field = html`<input type="checkbox" name="row" value="${row}" aria-label="${label}" />`
  return html`<td class="pick"><label>${field}</label></td>`
}

function classOf<Row>({ role, isWide, isRest, isProse, isAction }: Column<Row>): Fragment {
  const flags = [isWide && 'far', isRest && 'rest', isProse && 'wrap', isAction && 'act']
  const names = [role, ...flags].filter((one) => one !== undefined)
  return names.length === 0 ? undefined : html` class="${names.join(' ')}"`
}

/** A page of a search may have few rows, or none, although more follow: the script reads on, until the page is full or the person stops it. */
export function pages(frame: Frame, shown: number, next: string | null): Markup | undefined {
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

/** The heading of a list, with what is known of the number of rows, and what makes a row. */
export function listHeading(frame: Frame, heading: Fragment, list: Counted, actions?: Fragment): Markup {
  const { shown, next, total } = list
  const isFirst = frame.place.query['before'] === undefined
  const isWhole = isFirst && (next === null || shown === PAGE_LIMIT.usual)
  const isCounted = isFirst && next !== null && total !== undefined
  const count = isCounted
    ? html`<span class="count" title="counted ${ageOf(total.at, frame)}">${formatNumber(total.count)}</span>`
    : shown > 0 && isWhole
      ? html`<span class="count">${shown}${next === null ? '' : '+'}</span>`
      : undefined
  return html`<div class="heading">
    <h1>${heading}</h1>
    ${count}${actions}
  </div>`
}

interface Counted {
  readonly shown: number
  readonly next: string | null
  /** How many rows the list has in all, as counted at a time. Absent: it is not counted, or filtered. */
  readonly total?: { readonly count: number; readonly at: string } | undefined
}

/** The views of a list: values of one of its filters, of which one is chosen. */
export interface Views {
  readonly filter: string
  /** The view without a value. */
  readonly all: string
  readonly views: Texts
  /** Filters that a view takes off. */
  readonly replaces?: readonly string[]
}

/** The filters of a list in one line: the field for a text, the views, the other filters on demand, and those that are set. `names`: of ids in filters. */
export function filterBar(frame: Frame, views?: Views, names: Texts = {}): Markup {
  const { filters } = frame
  const first = filters.find(({ kind, name: field }) => (views === undefined ? kind === 'text' : field === 'text'))
  const chosen = views && filters.find(({ name: field }) => field === views.filter)
  const others = filters.filter((filter) => filter !== first && filter !== chosen)
  const besides = [first, chosen].filter((filter) => filter !== undefined)
  const set = first === undefined ? others : [first, ...others]
  const search = first && searchField(frame, first, [chosen, ...others])
  const nav = views && viewLinks(frame, views, chosen?.value)
  return chipLine(html`${search} ${nav}`, dropOf(frame, others, besides), setFilters(frame, set, names))
}

function searchField(
  frame: Frame,
  { name: field, label, value }: Filter,
  others: readonly (Filter | undefined)[],
): Markup {
  const kept = others.filter((other) => other?.value !== undefined)
  return html`<form method="get" action="${frame.place.path}">
    ${kept.map((other) => other && hidden(other.name, other.value ?? ''))}
    <input name="${field}" value="${value}" aria-label="${label}" placeholder="${label}" autocomplete="off" />
  </form>`
}

function viewLinks(frame: Frame, { filter, all, views, replaces = [] }: Views, chosen: string | undefined): Markup {
  const cleared = Object.fromEntries(['before', ...replaces].map((one) => [one, undefined]))
  const view = (value: string | undefined, label: string): Markup => {
    const to = addressOf(frame, { ...cleared, [filter]: value })
    return html`<a href="${to}" ${chosen === value ? html` aria-current="true"` : undefined}>${label}</a>`
  }
  return html`<nav aria-label="Views">
    ${view(undefined, all)} ${Object.entries(views).map(([value, label]) => view(value, label))}
  </nav>`
}

/** On a phone the line scrolls sideways, beside what opens. */
function chipLine(first: Fragment, drop: Fragment, set: Fragment): Markup {
  return html`<div class="chips">
    <div>${first} ${set}</div>
    ${drop}
  </div>`
}

/** Filters on demand. `besides`: other filters, whose values stay. */
function dropOf(frame: Frame, filters: readonly Filter[], besides: readonly Filter[]): Markup | undefined {
  if (filters.length === 0) return undefined
  const kept = besides.filter(({ value }) => value !== undefined)
  return html`<details class="drop">
    <summary>${filterIcon}More</summary>
    <form method="get" action="${frame.place.path}" class="sheet filters">
      ${kept.map(({ name: field, value = '' }) => hidden(field, value))} ${filters.map(filterField)}
      <button type="submit" class="button main">Filter</button>
    </form>
  </details>`
}

/** The filters that are set, each with a link that takes it off. */
function setFilters(frame: Frame, filters: readonly Filter[], names: Texts): Markup | undefined {
  const set = filters.filter(({ value }) => value !== undefined)
  if (set.length === 0) return undefined
  const item = ({ name: field, label, kind, value = '' }: Filter): Markup => {
    const isTime = kind === 'time' && isKnownTime(value)
    const word = isTime ? shortTime(value, frame) : (nameOf(names, value) ?? shortened(wordOf(value)))
    const what = isTime ? label.replace(' (UTC)', '') : label
    return html`<li>
      <a
        href="${addressOf(frame, { [field]: undefined, before: undefined })}"
        aria-label="Remove the filter ${what} ${word}"
        ><span class="muted">${what}</span> <bdi>${word}</bdi>${closeIcon}</a
      >
    </li>`
  }
  return html`<ul class="set" aria-label="Filters that are set">
    ${set.map(item)}
    <li><a href="${frame.place.path}">Clear</a></li>
  </ul>`
}

/** The middle of an id says nothing to a person. */
function shortened(text: string): string {
  return /^\w+_[\w-]{30,}$/.test(text) ? `${text.slice(0, 10)}…${text.slice(-4)}` : text
}

function isKnownTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text))
}

const A_DAY = /^\d{4}-\d\d-\d\d$/

function filterField({ name: field, label, kind, choices, value = '' }: Filter): Markup {
  // A time that a link gave would be cut in a field. The word beside the views has it.
  if (kind === 'time' && isKnownTime(value) && !A_DAY.test(value)) return hidden(field, value)
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

/** The same search in all lists. */
function elsewhere({ organization, place: { query } }: Frame): Markup | undefined {
  const text = query['text'] ?? query['name'] ?? query['host']
  if (text === undefined) return undefined
  return html`<p><a href="${foundAddress(organization?.id, text)}">Search everywhere</a></p>`
}
