import type { EpochMs } from '../base/brand.ts'

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
