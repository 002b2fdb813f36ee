import { html, type Markup } from '../web/markup.ts'
import { name } from './parts.ts'

/** Numbers over time. A value is undefined where nothing is known: no process wrote figures then. */
export interface Chart {
  readonly title: string
  /** Bars are added up, on each other. Lines are not. */
  readonly kind: 'bars' | 'lines'
  /** After a number: ` ms`. */
  readonly unit: string
  /** The end of each step, as a table has it. */
  readonly times: readonly string[]
  /** At most six. */
  readonly series: readonly Series[]
  /** Beside the title: the sum, or the highest. */
  readonly summary: string
  /** The last step is not over yet, so its numbers grow. */
  readonly isOpen: boolean
}

interface Series {
  readonly name: string
  readonly values: readonly (number | undefined)[]
  /** It counts what failed: it is red, or at least not green. */
  readonly isFailure: boolean
}

/** In the units of the drawing: the width of a step and of its bar, and the height of the highest. Whole numbers keep pages small. */
const [STEP, BAR, HEIGHT] = [18, 14, 120]

/** The drawings of the second to the seventh class: they differ without colours, too. The first one is filled. */
const PATTERNS = ['M0 6L6 0', 'M0 3h6', 'M2 3h2', 'M3 0v6M0 3h6', 'M3 0v6', 'M0 0L6 6']
/** The classes of series in their order: the third is green, and the fourth red. */
const [OTHERS, FAILURES] = [
  [1, 2, 3, 5, 6, 7],
  [4, 2, 5, 6, 7, 1],
]

/** What the charts of a page share, once. */
export function chartPatterns(): Markup {
  const patterns = PATTERNS.map(
    (d, index) =>
      html`<pattern id="p${index + 2}" class="c${index + 2}" width="6" height="6" patternUnits="userSpaceOnUse"
        ><path d="${d}" stroke="currentColor" stroke-width="2"
      /></pattern>`,
  )
  return html`<svg class="unseen" aria-hidden="true"><defs>${patterns}</defs></svg>`
}

/** A chart with its legend, and the same numbers as a table. Without spaces, because a page has six. */
export function chart(one: Chart): Markup {
  const { title, summary, series, times, kind, unit, isOpen } = one
  const top = highest(one)
  const head = html`<figcaption>
    <h3>${title}</h3>
    <span class="muted">${summary}</span>
  </figcaption>`
  if (top === 0)
    return html`<figure>
      ${head}
      <p class="muted">None.</p>
    </figure>`
  const text = `${title}: ${summary}. At most ${formatNumber(top)}${unit} at a time, from ${times[0]} to ${times.at(-1)}${isOpen ? ', which is not over yet' : ''}.`
  const width = times.length * STEP
  const classes = classesOf(series)
  const grid = html`<path class="grid" d="M0 0h${width}M0 ${HEIGHT / 2}h${width}M0 ${HEIGHT}h${width}" />`
  const drawn = kind === 'bars' ? bars(one, top, classes) : lines(one, top, classes)
  const gap = gaps(one)
  const open = isOpen
    ? html`<path class="open" d="M${width - STEP + 0.5} 0.5h${STEP - 1}v${HEIGHT - 1}h-${STEP - 1}z" />`
    : undefined
  const notOver = isOpen
    ? html`<li>
        <svg viewBox="0 0 16 16" aria-hidden="true"><path class="open" d="M1.5 1.5h13v13h-13z" /></svg>not over yet
      </li>`
    : undefined
  const unknown =
    gap === undefined
      ? undefined
      : html`<li>
          <svg viewBox="0 0 16 16" aria-hidden="true"><path class="gap" d="M1 1h14v14h-14z" /></svg>not counted
        </li>`
  return html`<figure>
    ${head}
    <p class="axis muted"><span>${formatNumber(top)}${unit}</span></p>
    <svg class="chart" viewBox="0 -1 ${width} ${HEIGHT + 2}" role="img">
      <title>${text}</title>
      ${gap}${grid}${drawn}${open}
    </svg>
    <p class="axis muted"><span>${times[0]}</span><span>${times.at(-1)}</span></p>
    <ul class="legend">
      ${series.map(({ name: label }, index) => html`<li>${swatch(kind, classes[index] ?? 1)}${name(label, '–')}</li>`)}${unknown}${notOver}
    </ul>
    <details>
      <summary>Numbers</summary>
      <div class="numbers" role="region" aria-label="${title}" tabindex="0">${numbers(one)}</div>
    </details>
  </figure>`
}

function highest({ kind, series, times }: Chart): number {
  const each = series.map(({ values }) => values.map((value = 0) => value))
  const sums = times.map((_, place) => each.reduce((sum, values) => sum + (values[place] ?? 0), 0))
  return kind === 'bars' ? Math.max(0, ...sums) : Math.max(0, ...each.flat())
}

/** Where nothing is known. */
function gaps({ times, series }: Chart): Markup | undefined {
  const empty = times.map((_, place) => series.every(({ values }) => values[place] === undefined))
  const d = empty
    .map((isEmpty, place) => {
      if (!isEmpty || empty[place - 1] === true) return ''
      const end = empty.indexOf(false, place)
      const width = ((end === -1 ? empty.length : end) - place) * STEP
      return `M${place * STEP} 0h${width}v${HEIGHT}h-${width}z`
    })
    .join('')
  return d === '' ? undefined : html`<path class="gap" d="${d}" />`
}

function bars({ series, times }: Chart, top: number, classes: readonly number[]): readonly Markup[] {
  const sums = times.map(() => 0)
  const heightOf = (sum: number): number => HEIGHT - Math.ceil((sum / top) * HEIGHT)
  return series.map(({ values }, index) => {
    const d = values.map((value = 0, place) => {
      const below = sums[place] ?? 0
      sums[place] = below + value
      if (value === 0) return ''
      const [from, to] = [heightOf(below), heightOf(below + value)]
      return `M${place * STEP + (STEP - BAR) / 2} ${from}V${to}h${BAR}V${from}z`
    })
    const one = classes[index] ?? 1
    return html`<path class="c${one}" fill="${fillOf(one)}" d="${d.join('')}" />`
  })
}

/** A line ends where nothing is known, and goes on after that. A single point is a short line. */
function lines({ series }: Chart, top: number, classes: readonly number[]): readonly Markup[] {
  return series.map(({ values }, index) => {
    const d = values.map((value, place) => {
      if (value === undefined) return ''
      const [x, y] = [(place + 0.5) * STEP, HEIGHT - Math.round((value / top) * HEIGHT)]
      if (values[place - 1] !== undefined) return `L${x} ${y}`
      return values[place + 1] === undefined ? `M${x - 4} ${y}h8` : `M${x} ${y}`
    })
    const one = classes[index] ?? 1
    return html`<path class="line c${one} l${one}" d="${d.join('')}" />`
  })
}

/** No two series of a chart have the same class. */
function classesOf(series: readonly Series[]): readonly number[] {
  const classes: number[] = []
  for (const { isFailure } of series)
    classes.push((isFailure ? FAILURES : OTHERS).find((one) => !classes.includes(one)) ?? 1)
  return classes
}

function swatch(kind: Chart['kind'], one: number): Markup {
  const drawn =
    kind === 'bars'
      ? html`<path class="c${one}" fill="${fillOf(one)}" d="M1 1h14v14h-14z" />`
      : html`<path class="line c${one} l${one}" d="M1 8h14" />`
  return html`<svg viewBox="0 0 16 16" aria-hidden="true">${drawn}</svg>`
}

function fillOf(one: number): string {
  return one === 1 ? 'currentColor' : `url(#p${one})`
}

function numbers({ title, times, series, unit, isOpen }: Chart): Markup {
  const cell = (value: number | undefined) => (value === undefined ? '–' : formatNumber(value))
  const rows = times.map((time, place) => {
    const cells = series.map(({ values }) => html`<td>${cell(values[place])}</td>`)
    const last = isOpen && place === times.length - 1 ? ' (not over yet)' : ''
    return html`<tr>
      ${[html`<th scope="row">${time}${last}</th>`, ...cells]}
    </tr>`
  })
  const heads = series.map(({ name: label }) => html`<th scope="col">${name(label, '–')}${unit}</th>`)
  return html`<table>
    <caption>
      ${title}
    </caption>
    <thead>
      <tr>
        <th scope="col">Until (UTC)</th>
        ${heads}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`
}

export function formatNumber(value: number): string {
  return value.toLocaleString('en')
}

/** The part of the stylesheet for charts. */
export const CHART_STYLE = `
figure { min-width: 0; margin: 0 0 16px; padding: 12px; }
figcaption, .axis { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 12px; }
h3 { margin: 0; font-size: .875rem; font-weight: 600; }
.axis { font-size: .75rem; }
.chart { display: block; width: 100%; height: auto; stroke-width: 1; }
.grid { stroke: var(--line); } .gap { fill: var(--hover); stroke: none; } .open { fill: none; stroke: var(--muted); stroke-dasharray: 2 2; }
.line { stroke: currentColor; stroke-width: 2; } .l2 { stroke-dasharray: 5 4; }
.c1 { color: var(--ink); } .c2 { color: var(--caution); } .c3 { color: var(--good); } .c4 { color: var(--danger); } .c5, .c6, .c7 { color: var(--muted); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 12px; margin: 8px 0; font-size: .75rem; }
.legend li { display: flex; align-items: center; gap: 4px; }
figure summary { min-height: 24px; color: var(--ink); }
.numbers { max-height: 320px; overflow: auto; }
.numbers :is(th, td) { display: table-cell; height: 28px; padding: 2px 8px; border: 0; text-align: right; white-space: nowrap; }
.numbers table { display: table; } .numbers tbody { display: table-row-group; } .numbers thead { position: static; display: table-header-group; clip-path: none; }
.numbers tr { display: table-row; }
.day { display: flex; flex-wrap: wrap; gap: 4px 24px; margin-bottom: 12px; }
.day b { font-weight: 600; }
.periods { display: flex; gap: 12px; } .periods a { line-height: 24px; }
.periods [aria-current] { color: var(--text); font-weight: 600; }
@media (forced-colors: active) { svg [class*=c] { color: CanvasText; } .grid { stroke: GrayText; } .gap { fill: none; stroke: GrayText; stroke-dasharray: 2; } }
@media (max-width: 720px) { .periods a, .day a, figure summary { line-height: 44px; } }
@media print { .columns { display: block; } .numbers { max-height: none; overflow: visible; } .numbers :is(th, td) { white-space: normal; } }
`
