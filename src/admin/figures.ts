import * as z from 'zod'
import type { Context } from '../ports/context.ts'
import {
  FIGURE_GROUPS,
  FIGURE_SPAN_NAMES,
  FIGURE_SPANS,
  NAMED_REFUSALS,
  addFigure,
  type FigureCounts,
  type FigureGroup,
  type FigureRecord,
  type FigureSpan,
} from '../ports/records/figures.ts'
import { mostFrequent, OTHER } from '../base/most-frequent.ts'
import { after, type EpochMs } from '../base/brand.ts'
import { AdminError } from './admin-error.ts'
import { ISO, iso } from '../base/iso.ts'
import { END, TIME } from './fields.ts'
import { defineTask, type Task } from './task.ts'

const MINUTE_MS = 60 * 1000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const PERIODS = { '1d': DAY_MS, '7d': 7 * DAY_MS, '90d': 90 * DAY_MS } as const
/** Points of one answer. */
const POINTS = 600
/** How long a point may be about: what a person reads on a clock or a calendar. */
const STEPS_MS = [
  ...[5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 4, 6, 12].map((hours) => hours * HOUR_MS),
]
/** Rows in one read, and of one answer: those of a period (FIGURE_SPANS), and of many processes that run or were killed. */
const SLICE = 1000
const ROWS = 20_000
/** A name of a number. What else is in a row is no text of this server. */
const NAME = /^[a-z][a-z0-9_.:-]{0,63}$/

const NUMBERS = z.record(z.string(), z.number())
const COUNTS = {
  tokens: NUMBERS.describe('Issued access tokens, by grant type.'),
  registrations: NUMBERS.describe('New clients, by source: registration, document or operator.'),
  sign_ins: NUMBERS.describe('Sessions that started, by method: password, passkey, provider or application.'),
  refusals: NUMBERS.describe('Refused requests, by the most frequent reasons (docs/errors.md), and other.'),
  events: NUMBERS.describe(
    'sign_in_failed; scope_refused; token_reused: a refresh token was used again; token_parted: an earlier one came from another network or was too old; code_replayed; too_many: answers with 429; failed: with 5xx.',
  ),
  p99_ms: NUMBERS.describe(
    'The 99th percentile of the time of token and authorization requests in milliseconds: the highest of all processes.',
  ),
} satisfies Readonly<Record<FigureGroup, z.ZodType>>

const FIGURES_DOCUMENT = z
  .object({
    since: ISO.describe('From when the figures are complete: later than asked if there are too many rows.'),
    until: ISO,
    counted_from: ISO.nullable().describe(
      'The beginning of the five minutes, the hour or the day of which the oldest figures are. null: there are none.',
    ),
    step_seconds: z.int().describe('The time that a point is about.'),
    points: z
      .array(z.object({ ended_at: ISO, ...COUNTS }).meta({ id: 'FiguresPoint' }))
      .describe(
        'Oldest first. A time at which no process wrote figures has no point. Numbers that are 0 are left out.',
      ),
    totals: z.object(COUNTS).meta({ id: 'FiguresTotals' }).describe('Of all points together.'),
  })
  .meta({ id: 'Figures' })

export type FiguresDocument = z.output<typeof FIGURES_DOCUMENT>

export const FIGURE_TASKS: readonly Task[] = [
  defineTask({
    name: 'server.figures',
    method: 'GET',
    path: '/admin/v1/server/figures',
    access: 'read',
    summary: 'Show what all processes counted, by time: tokens, registrations, sign-ins, refusals.',
    input: z.object({
      period: z.enum(['1d', '7d', '90d']).default('1d').describe('How much time before the end, without a start.'),
      since: TIME.optional().describe('Figures from after this time.'),
      until: END.optional().describe('Figures up to this time; by default now.'),
      points: z.int().min(2).max(POINTS).default(POINTS).describe(`At most this many points, up to ${POINTS}.`),
    }),
    output: FIGURES_DOCUMENT,
    async run({ store, clock }, { period, since: from, until: to, points }) {
      const until = to ?? clock()
      const since = from ?? after(until, -PERIODS[period])
      if (since >= until) throw new AdminError('The start must be before the end.')
      const span = spanSince(since, clock())
      const stepMs = stepOf(span, (until - since) / (points - 1))
      const found = await readPoints(store, { span, since, until }, stepMs)
      return {
        since: iso(found.since),
        until: iso(until),
        counted_from: found.countedFrom === undefined ? null : iso(found.countedFrom),
        step_seconds: stepMs / 1000,
        points: [...found.points]
          .toSorted(([left], [right]) => left - right)
          .map(([end, sums]) => ({ ended_at: iso(end), ...describe(sums) })),
        totals: describe(sumOf(found.points.values())),
      }
    },
  }),
]

/** The finest span of which there are rows since a time. */
function spanSince(since: EpochMs, now: EpochMs): FigureSpan {
  return FIGURE_SPAN_NAMES.find((span) => since >= after(now, -FIGURE_SPANS[span].keptMs)) ?? '1d'
}

/** The step that makes few enough points, in whole spans. */
function stepOf(span: FigureSpan, leastMs: number): number {
  const least = Math.max(leastMs, FIGURE_SPANS[span].ms)
  return STEPS_MS.find((ms) => ms >= least) ?? Math.ceil(least / DAY_MS) * DAY_MS
}

type Sums = Readonly<Record<FigureGroup, Map<string, number>>>

interface ReadPoints {
  readonly points: ReadonlyMap<EpochMs, Sums>
  readonly since: EpochMs
  /** The beginning of the oldest row. */
  readonly countedFrom: EpochMs | undefined
}

/** Reads the rows slice by slice, newest first, and adds them up by the end of their step. */
async function readPoints(
  store: Context['store'],
  { span, since, until }: { readonly span: FigureSpan; readonly since: EpochMs; readonly until: EpochMs },
  stepMs: number,
): Promise<ReadPoints> {
  const points = new Map<EpochMs, Sums>()
  let countedFrom: EpochMs | undefined
  const began = { span, since: after(since, -FIGURE_SPANS[span].ms), until }
  let before: string | undefined
  for (let read = 0; read < ROWS; read += SLICE) {
    const rows: readonly FigureRecord[] = await store.listFigures({ ...began, before, limit: SLICE })
    // A merge of rows between two reads must not count twice or be missed, so the last span of a full slice is read with the next one.
    const isWhole = rows.length < SLICE || rows[0]?.beganAt === rows.at(-1)?.beganAt
    const known = isWhole ? rows : rows.filter(({ beganAt }) => beganAt !== rows.at(-1)?.beganAt)
    for (const { beganAt, endedAt, counts } of known) {
      if (endedAt <= since || endedAt > until) continue
      countedFrom = beganAt
      const end = (Math.ceil(endedAt / stepMs) * stepMs) as EpochMs
      const sums = points.get(end) ?? newSums()
      points.set(end, sums)
      addTo(sums, counts)
    }
    const last = known.at(-1)
    if (last === undefined || rows.length < SLICE) return { points, since, countedFrom }
    before = last.id
    if (read + SLICE >= ROWS) return { points, since: last.endedAt, countedFrom }
  }
  return { points, since, countedFrom }
}

function newSums(): Sums {
  return Object.fromEntries(FIGURE_GROUPS.map((group) => [group, new Map()])) as unknown as Sums
}

function addTo(sums: Sums, counts: FigureCounts): void {
  for (const group of FIGURE_GROUPS) {
    const numbers = counts[group]
    if (numbers === undefined) continue
    for (const name of Object.keys(numbers)) addNumber(sums, group, name, numbers[name] ?? 0)
  }
}

function addNumber(sums: Sums, group: FigureGroup, given: string, value: number): void {
  const name = sums[group].has(given) || NAME.test(given) ? given : OTHER
  const known = sums[group].get(name) ?? 0
  sums[group].set(name, addFigure(group, known, value))
}

function sumOf(all: Iterable<Sums>): Sums {
  const totals = newSums()
  for (const sums of all)
    for (const group of FIGURE_GROUPS) for (const [name, value] of sums[group]) addNumber(totals, group, name, value)
  return totals
}

function describe(sums: Sums): FiguresDocument['totals'] {
  return Object.fromEntries(
    FIGURE_GROUPS.map((group) => {
      const named = group === 'refusals' ? NAMED_REFUSALS : Number.POSITIVE_INFINITY
      return [group, Object.fromEntries(mostFrequent(sums[group], named))]
    }),
  ) as FiguresDocument['totals']
}
