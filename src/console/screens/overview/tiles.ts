import type { FiguresDocument } from '../../../admin/figures.ts'
import { html, type Fragment, type Markup } from '../../../web/markup.ts'
import { formatNumber, spark } from '../../chart.ts'
import type { Members, Place } from '../../engine/form.ts'
import { shortTime } from '../../parts.ts'
import type { Frame } from '../../engine/form.ts'
import { eventsSince, periodOf, stepsOf, sumOf, type Counts, type Period } from './history.ts'

/** The four numbers of the Overview, each with what it is compared with. */

const DAY_MS = 24 * 60 * 60 * 1000
/** What the numbers are compared with. Of the time before a quarter the store has none. */
const BEFORE: Readonly<Record<Period, { readonly lengthMs: number; readonly name: string | undefined }>> = {
  '1d': { lengthMs: DAY_MS, name: 'the day before' },
  '7d': { lengthMs: 7 * DAY_MS, name: 'the 7 days before' },
  '90d': { lengthMs: DAY_MS, name: undefined },
}
/** Points of the time before: enough to see that all of it was counted. */
const POINTS_BEFORE = 15
/** Whole days that say what is usual. */
const USUAL_DAYS = 7
const LEAST_DAYS = 3

/** The time before the period. */
export function periodBefore({ query, now }: Place): Members {
  const { lengthMs } = BEFORE[periodOf({ query })]
  const [since, until] = [now - 2 * lengthMs, now - lengthMs].map((at) => new Date(at).toISOString())
  return { since, until, points: POINTS_BEFORE }
}

/** The days of which the store keeps one row for each, so that they are cheap to read. */
export function daysBefore({ now }: Place): Members {
  return { since: new Date(now - (USUAL_DAYS + 2) * DAY_MS).toISOString(), points: USUAL_DAYS + 3 }
}

export interface Compared {
  readonly figures: FiguresDocument
  readonly before: FiguresDocument
  readonly days: FiguresDocument
}

export function tiles({ figures, before, days }: Compared, frame: Frame): Markup {
  const { totals, since } = figures
  const all = `/console/figures?period=${periodOf(frame.place)}`
  const compare = (numberOf: (counts: Counts) => number): Fragment =>
    comparison(numberOf(totals), wholeOf(before, numberOf), BEFORE[periodOf(frame.place)].name)
  const failed = eventsSince('sign-in.failed', since)
  return html`<div class="tiles">
    ${tile(figures, `${all}#sign-ins`, 'Sign-ins', signIns, compare(signIns))}
    ${tile(figures, failed, 'Sign-ins that failed', failures, shares(totals, days), true)}
    ${tile(figures, `${all}#tokens`, 'Access tokens', tokens, compare(tokens))}
    ${slowest(figures, `${all}#times`, frame)}
  </div>`
}

function signIns({ sign_ins: numbers }: Counts): number {
  return sumOf(Object.entries(numbers))
}

function failures({ events }: Counts): number {
  return events['sign_in_failed'] ?? 0
}

function tokens({ tokens: numbers }: Counts): number {
  return sumOf(Object.entries(numbers))
}

function tile(
  figures: FiguresDocument,
  to: string,
  title: string,
  numberOf: (counts: Counts) => number,
  remark: Fragment,
  isFailure = false,
): Markup {
  const values = stepsOf(figures).counts.map((counts) => counts && numberOf(counts))
  return shown(to, title, formatNumber(numberOf(figures.totals)), remark, spark(values, isFailure))
}

function shown(to: string, title: string, number: string, remark: Fragment, drawn: Fragment): Markup {
  return html`<a class="tile" href="${to}">${title}<b>${number}</b>${remark ?? html`&nbsp;`}${drawn}</a>`
}

/** The number of the time before, if all of it was counted. */
function wholeOf(before: FiguresDocument, numberOf: (counts: Counts) => number): number | undefined {
  const { since, until, step_seconds: seconds, points } = before
  const steps = Math.floor((Date.parse(until) - Date.parse(since)) / (seconds * 1000))
  return points.length < steps ? undefined : numberOf(before.totals)
}

function comparison(now: number, before: number | undefined, name: string | undefined): Fragment {
  if (before === undefined || before === 0 || name === undefined) return undefined
  const percent = Math.round((now / before - 1) * 100)
  if (percent === 0) return `as many as ${name}`
  return `${percent > 0 ? '+' : '−'}${formatNumber(Math.abs(percent))} % to ${name}`
}

/** How many of the attempts failed, and between which shares that was in the last whole days. */
function shares(totals: Counts, { points, until }: FiguresDocument): Fragment {
  const share = shareOf(totals)
  if (share === undefined) return undefined
  const usual = points
    .filter(({ ended_at: end }) => end <= until)
    .slice(-USUAL_DAYS)
    .flatMap((point) => shareOf(point) ?? [])
  const [least, most] = [Math.round(Math.min(...usual)), Math.round(Math.max(...usual))]
  const range = least === most ? `${least} %` : `${least} to ${most} %`
  return `${Math.round(share * 10) / 10} %${usual.length < LEAST_DAYS ? '' : ` · usual: ${range}`}`
}

/** In percent. */
function shareOf(counts: Counts): number | undefined {
  const attempts = signIns(counts) + failures(counts)
  return attempts === 0 ? undefined : (failures(counts) / attempts) * 100
}

/** The time of the last point, and the highest one. */
function slowest(figures: FiguresDocument, to: string, frame: Frame): Markup {
  const { counts } = stepsOf(figures)
  const values = counts.map((one) => one && highestOf(one))
  const known = figures.points.flatMap((point) => highestOf(point) ?? [])
  const most = Math.max(0, ...known)
  const at = figures.points.find((point) => highestOf(point) === most)?.ended_at
  const when = at === undefined ? '' : shortTime(at, frame)
  const hour = periodOf(frame.place) === '1d' ? when.replace(/^.*, /, '') : when
  const remark = known.length < 2 ? undefined : `highest: ${formatNumber(most)} ms before ${hour}`
  const last = known.at(-1)
  const number = last === undefined ? '–' : `${formatNumber(last)} ms`
  return shown(to, 'Slowest 1 % of requests', number, remark, spark(values, false))
}

function highestOf({ p99_ms: { token, authorize } }: Counts): number | undefined {
  return token === undefined && authorize === undefined ? undefined : Math.max(token ?? 0, authorize ?? 0)
}
