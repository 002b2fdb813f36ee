import type { EpochMs } from '../base/brand.ts'
import type { ClientId } from '../protocol/ids.ts'
import type { ClientFilter } from './operations/client.ts'
import type { ClientRecord } from './records/client.ts'
import type { RowCountsRecord } from './records/row-counts.ts'
import type { SweepRoundsRecord } from './records/sweep-rounds.ts'

/** A slice of a table in the order of its ids, whose rows are counted by state. Reading it blocks no writer. */
export interface Walk {
  /** Where the previous slice ended; '' at first. */
  readonly after: string
  readonly limit: number
  readonly now: EpochMs
}

export interface WalkedGrants {
  /** Where the next slice starts; '' if this one reached the end. */
  readonly next: string
  /** Neither revoked nor expired. */
  readonly live: number
  /** Revoked or expired, and not swept yet. */
  readonly over: number
}

export interface WalkedClients {
  readonly next: string
  readonly disabled: number
  /** Clients that are not disabled and got a token. */
  readonly used: number
  readonly unused: number
}

export interface WalkedUsers {
  readonly next: string
  readonly disabled: number
  /** Users who are not disabled and signed in. */
  readonly used: number
  readonly unused: number
  /** Between the marks of the index of a search, whatever their state. */
  readonly indexed: number
}

/** What counts rows by state, slice by slice, and what the store remembers of work on all rows of a table (`replaceSetting`). */
export interface WalkReads {
  readonly walkGrants: (walk: Walk) => Promise<WalkedGrants>
  readonly walkClients: (walk: Walk) => Promise<WalkedClients>
  readonly walkUsers: (walk: Walk) => Promise<WalkedUsers>
  /** undefined: nothing is counted yet. */
  readonly findRowCounts: () => Promise<RowCountsRecord | undefined>
  /** undefined: no round has begun. */
  readonly findSweepRounds: () => Promise<SweepRoundsRecord | undefined>
}

/** The next `size` clients, `after` exclusive. */
export interface OldestClients extends ClientFilter {
  readonly after: ClientId | undefined
  readonly size: number
}

/** A client with the times that only its removal regards. */
export interface OldestClient extends ClientRecord {
  /** Until when a refresh token of the client may be used, or it is kept without a token; 0: never. */
  readonly heldUntil: EpochMs
  /** Until when the client waits for its user; 0: it does not. */
  readonly pendingUntil: EpochMs
}

export interface OldestClientsFound {
  readonly clients: readonly OldestClient[]
  /** The clients of the slice. */
  readonly examined: number
  /** The last client of the slice; undefined: the slice reached the end. */
  readonly next: ClientId | undefined
}
