import type { FiguresDocument } from '../../../admin/figures.ts'
import { labelOf } from '../../engine/input-fields.ts'
import { mostFrequent, OTHER } from '../../../base/most-frequent.ts'
import { html, type Markup } from '../../../web/markup.ts'
import type { Chart, Mark } from '../../chart.ts'
import { addressOf } from '../../engine/addresses.ts'
import { listAddress } from '../../links.ts'
import { exactTime } from '../../parts.ts'
import type { Frame, Members, Place } from '../../engine/form.ts'

/** A bar for each hour of a day, six hours of a week, and four days of a quarter: as many as a phone shows apart. */
const POINTS_SHOWN = 29

const PERIODS = [
  ['1d', '24 hours'],
  ['7d', '7 days'],
  ['90d', '90 days'],
] as const

/** Names of a chart besides the sum of the others. */
const NAMED = 4
const [HOUR, DAY] = [3600, 86_400]

export type Counts = FiguresDocument['totals']
type Numbers = Readonly<Record<string, number>>

/** What the charts of a page read. */
export const FIGURES_READ = { task: 'server.figures', input: (): Members => ({ points: POINTS_SHOWN }) } as const

export type Period = (typeof PERIODS)[number][0]

/** The period of a page. The task refuses one that there is not. */
export function periodOf({ query }: Pick<Place, 'query'>): Period {
  return PERIODS.find(([period]) => period === query['period'])?.[0] ?? PERIODS[0][0]
}

/** The events of one kind since the charts begin. */
export function eventsSince(event: string, since: string): string {
  return `${listAddress('audit', 'event', event)}&${new URLSearchParams({ since }).toString()}`
}

export function periods(frame: Frame): Markup {
  const current = periodOf(frame.place)
  const link = ([period, label]: (typeof PERIODS)[number]): Markup => {
    const isCurrent = period === current ? html` aria-current="true"` : undefined
    return html`<a href="${addressOf(frame, { period })}" ${isCurrent}>${label}</a> `
  }
  return html`<nav class="chips actions" aria-label="Period">${PERIODS.map(link)}</nav>`
}

/** The charts of the Overview, and the others. */
export function chartsOf(figures: FiguresDocument): {
  readonly first: readonly Chart[]
  readonly others: readonly Chart[]
} {
  const failed = (counts: Counts): Numbers => pick(counts.events, { failed: 'sign_in_failed' })
  const signIns = (counts: Counts): Numbers => ({ ...counts.sign_ins, ...failed(counts) })
  const faults = ({ events }: Counts): Numbers => pick(events, { too_many: 'too_many', server_failed: 'failed' })
  return {
    first: [
      counted(figures, { id: 'sign-ins', title: 'Sign-ins', none: 'No sign-ins', numbersOf: signIns }),
      counted(figures, {
        id: 'clients',
        title: 'New clients',
        none: 'No new clients',
        numbersOf: (counts) => counts.registrations,
      }),
    ],
    others: [
      counted(figures, {
        id: 'tokens',
        title: 'Access tokens',
        none: 'No access tokens',
        numbersOf: (counts) => counts.tokens,
      }),
      timed(figures),
      counted(figures, {
        id: 'refusals',
        title: 'Refused requests',
        none: 'No refused requests',
        numbersOf: (counts) => counts.refusals,
        isFailure: true,
      }),
      counted(figures, {
        id: 'faults',
        title: 'Rate limits and faults',
        none: 'No rate limits and no faults',
        numbersOf: faults,
      }),
    ],
  }
}

/** The members of these names, under others. */
function pick(numbers: Numbers, names: Readonly<Record<string, string>>): Numbers {
  return Object.fromEntries(
    Object.entries(names).flatMap(([shown, name]) => {
      const value = numbers[name] ?? 0
      return value === 0 ? [] : [[shown, value]]
    }),
  )
}

interface Counted {
  readonly id: string
  readonly title: string
  readonly none: string
  readonly numbersOf: (counts: Counts) => Numbers
  /** All of its series count failures. */
  readonly isFailure?: true
}

function counted(figures: FiguresDocument, { id, title, none, numbersOf, isFailure }: Counted): Chart {
  const named = mostFrequent(
    Object.entries(numbersOf(figures.totals)).filter(([, value]) => value > 0),
    NAMED,
  )
  const steps = stepsOf(figures)
  const names = named.map(([name]) => name)
  const series = named.map(([name, total]) => ({
    name: wordOf(name),
    total,
    isFailure: isFailure === true || name === 'failed' || name === 'server_failed',
    values: steps.counts.map((counts) => {
      if (counts === undefined) return undefined
      const numbers = numbersOf(counts)
      if (name !== OTHER) return numbers[name] ?? 0
      return sumOf(Object.entries(numbers).filter(([one]) => one === OTHER || !names.includes(one)))
    }),
  }))
  return {
    ...common(figures, steps, { id, title }),
    kind: 'bars',
    unit: '',
    series,
    none: `${none} in this period.`,
  }
}

export function sumOf(numbers: readonly (readonly [name: string, value: number])[]): number {
  return numbers.reduce((sum, [, value]) => sum + value, 0)
}

function timed(figures: FiguresDocument): Chart {
  const steps = stepsOf(figures)
  const series = (['token', 'authorize'] as const).flatMap((name) => {
    const total = figures.totals.p99_ms[name]
    const values = steps.counts.map((counts) => counts?.p99_ms[name])
    return total === undefined ? [] : [{ name: wordOf(name), total, isFailure: false, values }]
  })
  return {
    ...common(figures, steps, { id: 'times', title: 'Slowest 1 % of requests' }),
    kind: 'lines',
    unit: ' ms',
    series,
    none: 'No requests in this period.',
  }
}

/** What all charts have in common. */
function common(
  figures: FiguresDocument,
  { times, marks, counts, isOpen, since }: Steps,
  { id, title }: Pick<Chart, 'id' | 'title'>,
) {
  const remark = html`Counted up to the last whole five minutes${isOpen ? ', so the last span is not over' : ''}.`
  return {
    id,
    title: `${title} by ${stepWords(figures.step_seconds)}`,
    times,
    marks,
    known: counts.map((one) => one !== undefined),
    isOpen,
    since,
    remark,
  }
}

/** How long a step is. */
function stepWords(seconds: number): string {
  const [unit, count] = seconds < DAY ? ['hour', seconds / HOUR] : ['day', seconds / DAY]
  return count === 1 ? unit : `${count} ${unit}s`
}

/** Words for the names of the numbers. Other names are those of reasons (docs/errors.md). */
const WORDS: Readonly<Record<string, string>> = {
  authorization_code: 'By a code',
  refresh_token: 'Refreshed',
  client_credentials: 'Without a user',
  device_code: 'By a device',
  'token-exchange': 'Exchanged',
  'jwt-bearer': 'By an assertion',
  registration: 'Registered',
  document: 'By a document',
  operator: 'Created here',
  application: 'Your application',
  too_many: 'Rate limits (429)',
  server_failed: 'Faults (5xx)',
  token: 'Token requests',
  authorize: 'Authorization requests',
}

function wordOf(name: string): string {
  return Object.hasOwn(WORDS, name) ? (WORDS[name] ?? name) : labelOf(name)
}

interface Steps {
  /** The end of each. */
  readonly times: readonly string[]
  /** undefined: nothing is known. */
  readonly counts: readonly (Counts | undefined)[]
  readonly marks: readonly Mark[]
  /** The last one is not over. */
  readonly isOpen: boolean
  /** From when something was counted; undefined: nothing was, or nothing is before the first step. */
  readonly since: string | undefined
}

/** All steps of the period, also those without figures, but for a last one that has just begun. */
export function stepsOf(figures: FiguresDocument): Steps {
  const { since, until, counted_from: from, step_seconds: seconds, points } = figures
  const known = new Map(points.map((point) => [Date.parse(point.ended_at), point]))
  const stepMs = seconds * 1000
  const [first, last] = [Math.floor(Date.parse(since) / stepMs) + 1, Math.ceil(Date.parse(until) / stepMs)]
  const isUnfinished = last * stepMs > Date.parse(until)
  const isOpen = isUnfinished && known.has(last * stepMs)
  const count = last - first + (isUnfinished && !isOpen ? 0 : 1)
  const ends = Array.from({ length: count }, (_, index) => (first + index) * stepMs)
  const counts = ends.map((end) => known.get(end))
  const begun = counts.findIndex((one) => one !== undefined)
  return {
    times: ends.map((end) => (seconds < DAY ? dayAndTime(end) : dayAndTime(end).slice(0, 6))),
    counts,
    marks: marksOf(ends, stepMs),
    isOpen,
    since: begun < 1 || from === null ? undefined : beginning(Date.parse(from), seconds),
  }
}

/** `28 Nov 16:00`. */
function dayAndTime(at: number): string {
  return exactTime(new Date(at).toISOString()).replace(/ \d{4},(.*) UTC$/, '$1')
}

/** The time of a day, and the day of a longer period. */
function beginning(at: number, seconds: number): string {
  const text = dayAndTime(at)
  return seconds <= HOUR ? text.slice(-5) : text.slice(0, -6)
}

/** Four or five steps whose beginnings a person reads on a clock or a calendar: each sixth hour, each second day, or each fourth part. */
function marksOf(ends: readonly number[], stepMs: number): readonly Mark[] {
  const seconds = stepMs / 1000
  const everyMs = (seconds <= HOUR ? 6 * HOUR : seconds < DAY ? 2 * DAY : Math.ceil(ends.length / 4) * seconds) * 1000
  return ends.flatMap((end, step) => {
    const at = end - stepMs
    return at % everyMs === 0 ? [{ step, text: beginning(at, seconds) }] : []
  })
}
