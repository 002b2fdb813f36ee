import { html, type Fragment, type Markup } from '../web/markup.ts'
import { name } from './parts.ts'

/** Numbers over time. A value is undefined where nothing is known: no process wrote figures then. */
export interface Chart {
  /** Of the element, to which other pages lead. */
  readonly id: string
  readonly title: string
  /** Bars are added up, on each other. Lines are not. */
  readonly kind: 'bars' | 'lines'
  /** After a number: ` ms`. */
  readonly unit: string
  /** The end of each step, as a table has it. */
  readonly times: readonly string[]
  /** What is written below the beginning of some steps. */
  readonly marks: readonly Mark[]
  /** Whether anything is known of each step: a process wrote figures. */
  readonly known: readonly boolean[]
  /** At most five, each with something else than 0. */
  readonly series: readonly Series[]
  /** What the chart says if all numbers are 0. */
  readonly none: string
  /** From when something is known, of a chart that begins with steps of which nothing is. */
  readonly since: string | undefined
  /** How the numbers are counted. */
  readonly remark: Fragment
  /** The last step is not over yet, so its numbers grow. */
  readonly isOpen: boolean
}

export interface Mark {
  readonly step: number
  readonly text: string
}

export interface Series {
  readonly name: string
  /** In the key: the sum, or the highest. */
  readonly total: number
  readonly values: readonly (number | undefined)[]
  /** It counts what failed: it has the colour of failures, which no other series has. */
  readonly isFailure: boolean
}

/** In the units of the drawing, whole numbers, which keep pages small: where the steps are, and the height of the highest. */
const [LEFT, WIDTH, TOP, HEIGHT] = [44, 396, 12, 130]
const BOTTOM = TOP + HEIGHT
/** What a chart says while nothing is known. */
const NOTHING_YET = 'The first numbers are here five minutes after the start.'
/** The width of a letter, at most. */
const LETTER = 8
/** So many steps before the end are below the word "now". */
const NOW_SHARE = 0.2
/** The colours of series in their order: the third is green, and the fourth red. */
const [OTHERS, FAILURES] = [
  [1, 2, 3, 5, 6],
  [4, 2, 5, 6, 1],
]

/** A chart with its key, and the same numbers as a table. Without spaces, because a page has six. */
export function chart(one: Chart): Markup {
  const { id, title, series, times, kind, unit, none, remark } = one
  const most = highest(one)
  const top = roundTop(most)
  const colours = coloursOf(series)
  const step = Math.floor(WIDTH / times.length)
  const right = LEFT + step * times.length
  const drawn = kind === 'bars' ? bars(one, top, step) : lines(one, top, step)
  const axis = most === 0 ? [0] : [0, top / 2, top]
  const text = `${title}, from ${times[0]} to ${times.at(-1)}. The highest is ${formatNumber(most)}${unit}.`
  return html`<figure id="${id}">
    <h2>${title}</h2>
    <p class="legend">
      ${most === 0 ? (one.known.includes(true) ? none : NOTHING_YET) : undefined}${series.map(({ name: label, total }, index) => html`<span class="k${colours[index]}">${name(label, '–')} ${formatNumber(total)}${unit}</span> `)}${
        isInterrupted(one) ? html`<span class="k0">Not counted</span>` : undefined
      }
    </p>
    <svg class="chart" viewBox="0 0 ${right} 160" role="img">
      <title>${text}</title>
      <path class="grid" d="${axis.map((value) => `M${LEFT} ${heightOf(value, top)}H${right}`).join('')}" />
      ${axis.map((value) => html`<text class="y" x="${LEFT - 6}" y="${heightOf(value, top) + 4}">${shortNumber(value)}${value === top ? unit : ''}</text>`)}${gaps(one, step)}${drawn}${timesBelow(one, step, right)}
    </svg>
    <details>
      <summary class="muted">Show as a table</summary>
      <p class="hint">${remark}</p>
      <div class="numbers" role="region" aria-label="${title}" tabindex="0">${numbers(one)}</div>
    </details>
  </figure>`
}

/** The bars of one series without words, beside a number that says what they are. */
export function spark(values: readonly (number | undefined)[], isFailure: boolean): Fragment {
  const most = Math.max(0, ...values.map((value = 0) => value))
  if (most === 0) return undefined
  const d = values.map((value = 0, place) =>
    value === 0 ? '' : `M${place * 8} 28v-${Math.max(1, Math.round((value / most) * 27))}h7V28z`,
  )
  return html`<svg viewBox="0 0 ${values.length * 8} 28" preserveAspectRatio="none" aria-hidden="true">
    <path class="k${isFailure ? 4 : 1}" d="${d.join('')}" />
  </svg>`
}

function highest({ kind, series, times }: Chart): number {
  const each = series.map(({ values }) => values.map((value = 0) => value))
  const sums = times.map((_, place) => each.reduce((sum, values) => sum + (values[place] ?? 0), 0))
  return kind === 'bars' ? Math.max(0, ...sums) : Math.max(0, ...each.flat())
}

/** The end of the axis: a round number whose half is one, too. */
function roundTop(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 1)))
  const tops = [1, 2, 3, 4, 5, 6, 8, 10].map((digit) => digit * power)
  return tops.find((top) => top >= most && (top / 2) % 1 === 0) ?? 2
}

function heightOf(value: number, top: number): number {
  return BOTTOM - Math.ceil((value / top) * HEIGHT)
}

/** The steps of which nothing is known, each row of them from its first to the one after its last. */
function unknownSteps({ known }: Chart): readonly (readonly [from: number, to: number])[] {
  return known.flatMap((is, from) => {
    if (is || known[from - 1] === false) return []
    const to = known.indexOf(true, from)
    return [[from, to === -1 ? known.length : to] as const]
  })
}

/** Whether the server did not run for a while, besides the time before its first start. */
function isInterrupted(one: Chart): boolean {
  return unknownSteps(one).some(([from]) => from > 0)
}

/** Where nothing is known. What is before the first known step says why, if there is room for it. */
function gaps(one: Chart, step: number): Fragment {
  const found = unknownSteps(one)
  const [first] = found
  if (first === undefined) return undefined
  const d = found.map(
    ([from, to]) => `M${LEFT + from * step} ${TOP}h${(to - from) * step}v${HEIGHT}h-${(to - from) * step}z`,
  )
  const [from, to] = [first[0] * step, first[1] * step]
  const says = from > 0 || one.since === undefined ? '' : `Counted since ${one.since}`
  const isSaid = says !== '' && to > says.length * LETTER
  const text = html`<text class="m" x="${Math.round(LEFT + to / 2)}" y="${TOP + HEIGHT / 2 + 4}">${says}</text>`
  return html`<path class="k0" d="${d.join('')}" />${isSaid ? text : undefined}`
}

/** The times, and "now" at the end. */
function timesBelow({ marks, times }: Chart, step: number, right: number): readonly Markup[] {
  const shown = marks.filter(({ step: at }) => at < times.length * (1 - NOW_SHARE))
  return [
    ...shown.map(({ step: at, text }) => html`<text x="${LEFT + at * step}" y="158">${text}</text>`),
    html`<text class="y" x="${right}" y="158">now</text>`,
  ]
}

function bars({ series, times }: Chart, top: number, step: number): readonly Markup[] {
  const sums = times.map(() => 0)
  const colours = coloursOf(series)
  return series.map(({ values }, index) => {
    const d = values.map((value = 0, place) => {
      const below = sums[place] ?? 0
      sums[place] = below + value
      if (value === 0) return ''
      const [from, to] = [heightOf(below, top), heightOf(below + value, top)]
      return `M${LEFT + place * step + 1} ${from}V${to}h${step - 2}V${from}z`
    })
    return html`<path class="k${colours[index]}" d="${d.join('')}" />`
  })
}

/** A line ends where nothing is known, and goes on after that. A single point is a short line. */
function lines({ series }: Chart, top: number, step: number): readonly Markup[] {
  const colours = coloursOf(series)
  return series.map(({ values }, index) => {
    const d = values.map((value, place) => {
      if (value === undefined) return ''
      const [x, y] = [LEFT + Math.round((place + 0.5) * step), heightOf(value, top)]
      if (values[place - 1] !== undefined) return `L${x} ${y}`
      return values[place + 1] === undefined ? `M${x - 4} ${y}h8` : `M${x} ${y}`
    })
    return html`<path class="k${colours[index]} l" d="${d.join('')}" />`
  })
}

/** No two series of a chart have the same colour, and no failure is green. */
function coloursOf(series: readonly Pick<Series, 'isFailure'>[]): readonly number[] {
  const colours: number[] = []
  for (const { isFailure } of series)
    colours.push((isFailure ? FAILURES : OTHERS).find((one) => !colours.includes(one)) ?? 1)
  return colours
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

/** As an axis has it: `1.5k`. */
function shortNumber(value: number): string {
  if (value < 1000) return String(value)
  return value < 1_000_000 ? `${value / 1000}k` : `${value / 1_000_000}M`
}

/** The part of the stylesheet for charts. */
export const CHART_STYLE = `
figure, .tile { min-width: 0; margin: 0 0 16px; padding: 14px 16px; }
.legend { color: var(--muted); display: flex; flex-wrap: wrap; gap: 2px 12px; min-height: 20px; margin-bottom: 8px; }
.legend, .tile { font-size: .8125rem; line-height: 1.25rem; }
.legend span { display: inline-flex; align-items: center; gap: 6px; }
.legend span::before { content: ''; width: 8px; height: 8px; border-radius: 2px; background: var(--k); print-color-adjust: exact; }
.chart, .tile svg { display: block; width: 100%; height: auto; stroke: none; overflow: visible; }
.chart text { fill: var(--muted); font-size: 11px; }
.chart .y { text-anchor: end; }
.chart .m { text-anchor: middle; }
.grid { stroke: var(--line); stroke-width: 1; }
.k0 { --k: var(--hover); } .k1 { --k: var(--ink); } .k2 { --k: #c98a1b; } .k3 { --k: var(--good); } .k4 { --k: var(--danger); } .k5 { --k: #8a6fc4; } .k6 { --k: var(--field); }
path[class^=k] { fill: var(--k); }
path[class$=l] { fill: none; stroke: var(--k); stroke-width: 2; }
figure summary { width: fit-content; min-height: 24px; padding: 2px 0; }
.numbers { max-height: 320px; overflow: auto; }
.numbers :is(th, td) { height: 28px; padding: 2px 8px; border: 0; text-align: right; white-space: nowrap; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(200px, 1fr)); gap: 16px; margin: 20px 0 16px; }
.tile { display: block; margin: 0; color: var(--muted); }
.tile b { display: block; color: var(--text); font-size: 1.5rem; line-height: 2rem; font-weight: 600; }
.tile svg { height: 28px; margin-top: 8px; }
`
