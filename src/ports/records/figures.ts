import type { EpochMs } from '../../base/brand.ts'

const MINUTE_MS = 60 * 1000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** How long a row of figures is about, finest first, and for how long before now there are rows: for the charts of a day, a week and a quarter. */
export const FIGURE_SPANS = {
  '5m': { ms: 5 * MINUTE_MS, keptMs: 2 * DAY_MS },
  '1h': { ms: HOUR_MS, keptMs: 8 * DAY_MS },
  '1d': { ms: DAY_MS, keptMs: 90 * DAY_MS },
} as const
export type FigureSpan = keyof typeof FIGURE_SPANS
export const FIGURE_SPAN_NAMES = Object.keys(FIGURE_SPANS) as readonly FigureSpan[]

/** So long after their beginning, a sweep merges the rows that a process left. No process can write them afterwards. */
export const FIGURES_LEFT_MS = 4 * DAY_MS

/** The most frequent reasons of refusals, which a row names. The others are added up as `other`. */
export const NAMED_REFUSALS = 8

/** The parts of the counts. */
export const FIGURE_GROUPS = ['tokens', 'registrations', 'sign_ins', 'refusals', 'events', 'p99_ms'] as const
export type FigureGroup = (typeof FIGURE_GROUPS)[number]

/**
 * Numbers by name, without zeros: tokens by grant type, registrations by source, sign-ins by method, refusals by reason, and what else
 * happened. `p99_ms` has times in milliseconds, of which several rows have the highest; all other numbers are added up.
 */
export type FigureCounts = Readonly<Partial<Record<FigureGroup, Readonly<Record<string, number>>>>>

/** Adds a number to those of other rows. Of times the highest counts. */
export function addFigure(group: FigureGroup, sum: number, value: number): number {
  return group === 'p99_ms' ? Math.max(sum, value) : sum + value
}

/** What one process counted in one span, from its beginning. The span may not have ended yet. */
export interface FigureRecord extends FigureKey {
  /** The process: a name of its own for each start. `''`: the processes that have merged their rows (`mergeFigures`). */
  readonly node: string
  /** Up to when it counts. */
  readonly endedAt: EpochMs
  readonly counts: FigureCounts
}

/** The row of a span. */
export interface FigureKey {
  /** Time-ordered, by the beginning of the span. */
  readonly id: string
  readonly span: FigureSpan
  /** The beginning of the span, from which the counts of all processes are on one shard. */
  readonly beganAt: EpochMs
}

/** A slice of the rows of a span, newest first. `before`: the last id of the slice before; undefined: the first slice. */
export interface FigurePage {
  readonly span: FigureSpan
  /** The beginnings of the spans: from `since` to before `until`. */
  readonly since: EpochMs
  readonly until: EpochMs
  readonly before: string | undefined
  readonly limit: number
}
