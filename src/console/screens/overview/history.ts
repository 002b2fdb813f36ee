import type { FiguresDocument } from '../../../admin/figures.ts'
import { labelOf } from '../../engine/input-fields.ts'
import { mostFrequent, OTHER } from '../../../base/most-frequent.ts'
import { html, type Markup } from '../../../web/markup.ts'
import { chart, chartPatterns, formatNumber, type Chart } from '../../chart.ts'
import { listAddress } from '../../links.ts'
import { addressOf } from '../../engine/addresses.ts'
import { exactTime, section } from '../../parts.ts'
import type { Frame } from '../../engine/form.ts'

/** A bar for each hour of a day, six hours of a week, and four days of a quarter: as many as a phone shows apart. */
export const POINTS_SHOWN = 29

const PERIODS = [
  ['1d', 'Last day'],
  ['7d', 'Last 7 days'],
  ['90d', 'Last 90 days'],
] as const

/** What a person looks at first, each with its events in the audit. */
const DANGERS = [
  ['token_reused', 'Refresh token reused', 'refresh-token.reused'],
  ['token_parted', 'Refresh token parted', 'refresh-token.parted'],
  ['code_replayed', 'Code replayed', 'code.replayed'],
  ['scope_refused', 'Scope refused', 'scope.refused'],
  ['sign_in_failed', 'Sign-in refused', 'sign-in.failed'],
] as const

/** Names of a chart besides the sum of the others. */
const NAMED = 5
const DAY_SECONDS = 24 * 60 * 60

type Counts = FiguresDocument['totals']
type Numbers = Readonly<Record<string, number>>

/** What all processes counted in a period, as charts. */
export function history(figures: FiguresDocument, frame: Frame): Markup {
  const { totals, points } = figures
  const current = frame.place.query['period'] ?? PERIODS[0][0]
  const links = html`<nav class="periods" aria-label="Period">
    ${PERIODS.map(
      ([period, label]) =>
        html`<a href="${addressOf(frame, { period })}" ${period === current ? html` aria-current="true"` : undefined}
          >${label}</a
        > `,
    )}
  </nav>`
  const line = html`<ul class="day">
    ${DANGERS.map(
      ([name, label, event]) =>
        html`<li>
          <a href="${listAddress('audit', 'event', event)}&amp;since=${figures.since}">${label}</a>
          <b>${formatNumber(totals.events[name] ?? 0)}</b>
        </li>`,
    )}
  </ul>`
  const content =
    points.length === 0
      ? html`<div class="empty"><p>Charts appear here when the server has counted for five minutes.</p></div>`
      : html`${line}${chartPatterns()}
          <p class="hint result">
            Counted up to the last whole five minutes, so the last span of a chart may not be over: it has a dashed
            outline, and its numbers grow. A link leads to the events of the audit: one of them may count several
            attempts, and of the refused sign-ins it has those with a wrong password or of a disabled account.
          </p>
          <div class="columns">${chartsOf(figures).map(chart)}</div>`
  return section('History', content, links)
}

function chartsOf(figures: FiguresDocument): readonly Chart[] {
  const failed = (counts: Counts): Numbers => pick(counts.events, { failed: 'sign_in_failed' })
  const signIns = (counts: Counts): Numbers => ({ ...counts.sign_ins, ...failed(counts) })
  return [
    counted(figures, 'Tokens', ({ tokens }) => tokens, isFailed),
    counted(figures, 'Sign-ins', signIns, isFailed),
    counted(figures, 'New clients', ({ registrations }) => registrations, isFailed),
    counted(
      figures,
      'Refused requests',
      ({ refusals }) => refusals,
      () => true,
    ),
    counted(
      figures,
      'Rate limits and faults',
      ({ events }) => pick(events, { too_many: 'too_many', server_failed: 'failed' }),
      isFailed,
    ),
    timed(figures),
  ]
}

function isFailed(name: string): boolean {
  return name === 'failed' || name === 'server_failed'
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

function counted(
  figures: FiguresDocument,
  title: string,
  numbersOf: (counts: Counts) => Numbers,
  isFailure: (name: string) => boolean,
): Chart {
  const named = mostFrequent(Object.entries(numbersOf(figures.totals)), NAMED)
  const { steps, isOpen } = stepsOf(figures)
  const names = named.map(([name]) => name)
  const series = names.map((name) => ({
    name: wordOf(name),
    isFailure: isFailure(name),
    values: steps.map(({ counts }) => {
      if (counts === undefined) return undefined
      const numbers = numbersOf(counts)
      if (name !== OTHER) return numbers[name] ?? 0
      return sumOf(Object.entries(numbers).filter(([one]) => one === OTHER || !names.includes(one)))
    }),
  }))
  const times = steps.map(({ time }) => time)
  return { title, kind: 'bars', unit: '', times, series, summary: formatNumber(sumOf(named)), isOpen }
}

function sumOf(numbers: readonly (readonly [name: string, value: number])[]): number {
  return numbers.reduce((sum, [, value]) => sum + value, 0)
}

function timed(figures: FiguresDocument): Chart {
  const { steps, isOpen } = stepsOf(figures)
  const series = (['token', 'authorize'] as const)
    .filter((name) => figures.totals.p99_ms[name] !== undefined)
    .map((name) => ({
      name: wordOf(name),
      isFailure: false,
      values: steps.map(({ counts }) => counts?.p99_ms[name]),
    }))
  const times = steps.map(({ time }) => time)
  const drawn = series.flatMap(({ values }) => values.filter((value) => value !== undefined))
  const summary = drawn.length === 0 ? '' : `highest ${formatNumber(Math.max(...drawn))} ms`
  return { title: 'Time of requests (p99)', kind: 'lines', unit: ' ms', times, series, summary, isOpen }
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

/** All steps of the period, also those without figures, but for a last one that has just begun. `isOpen`: the last one is not over. */
function stepsOf({ since, until, step_seconds: seconds, points }: FiguresDocument) {
  const known = new Map(points.map((point) => [Date.parse(point.ended_at), point]))
  const stepMs = seconds * 1000
  const [first, last] = [Math.floor(Date.parse(since) / stepMs) + 1, Math.ceil(Date.parse(until) / stepMs)]
  const isUnfinished = last * stepMs > Date.parse(until)
  const isOpen = isUnfinished && known.has(last * stepMs)
  const steps = Array.from({ length: last - first + (isUnfinished && !isOpen ? 0 : 1) }, (_, index) => {
    const end = (first + index) * stepMs
    const time = exactTime(new Date(end).toISOString()).replace(/ \d{4},(.*) UTC$/, '$1')
    return { time: seconds < DAY_SECONDS ? time : time.slice(0, 6), counts: known.get(end) }
  })
  return { steps, isOpen }
}
