import type { EpochMs } from '../../base/brand.ts'

/** How long a row of figures is about. */
export const FIGURE_SPANS = { '5m': 5 * 60 * 1000, '1h': 60 * 60 * 1000 } as const
export type FigureSpan = keyof typeof FIGURE_SPANS

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

/** What one process counted in one span. */
export interface FigureRecord {
  /** Time-ordered, by the end. */
  readonly id: string
  /** The process: a name of its own for each start. */
  readonly node: string
  readonly span: FigureSpan
  readonly endedAt: EpochMs
  readonly counts: FigureCounts
}

/** A slice of the rows of a span, newest first. `before`: the last id of the slice before; undefined: the first slice. */
export interface FigurePage {
  readonly span: FigureSpan
  readonly since: EpochMs
  /** Inclusive. */
  readonly until: EpochMs
  readonly before: string | undefined
  readonly limit: number
}
