/** The tables whose rows are examined in rounds, because no index finds what to remove. */
export const EXAMINED_TABLES = ['grants', 'consents'] as const
export type ExaminedTable = (typeof EXAMINED_TABLES)[number]

/** Where a round is. */
export interface SweepRound {
  /** Where the last slice ended; '' at first. Of a grant the id, of a consent the ids of user and client with a space between them. */
  readonly after: string
  /** The rows that the round has examined. */
  readonly examined: number
  /** The rows that the round before it examined; 0: there was none. */
  readonly before: number
}

/** What the store remembers of the rounds, so that another node or the next start goes on with them. */
export type SweepRoundsRecord = Readonly<Record<ExaminedTable, SweepRound>>

const FIRST_ROUND: SweepRound = { after: '', examined: 0, before: 0 }
export const FIRST_ROUNDS: SweepRoundsRecord = { grants: FIRST_ROUND, consents: FIRST_ROUND }
