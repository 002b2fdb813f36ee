import type { EpochMs } from '../base/brand.ts'
import type { ClientId } from '../protocol/ids.ts'
import type { ClientFilter } from './operations/client.ts'
import type { ClientRecord } from './records/client.ts'

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

/** The next `size` clients, `after` exclusive. */
export interface OldestClients extends ClientFilter {
  readonly after: ClientId | undefined
  readonly size: number
}

export interface OldestClientsFound {
  readonly clients: readonly ClientRecord[]
  /** The clients of the slice. */
  readonly examined: number
  /** The last client of the slice; undefined: the slice reached the end. */
  readonly next: ClientId | undefined
}
