import type { EpochMs } from '../protocol/brand.ts'

/** A slice of a table, in the order of its ids: how many rows of it are what. Read without holding anybody up. */
export interface Walk {
  /** Where the slice before ended; '' at first. */
  readonly after: string
  readonly limit: number
  readonly now: EpochMs
}

export interface WalkedGrants {
  /** Where the next slice starts; '' when this one reached the end. */
  readonly next: string
  /** Neither revoked nor expired. */
  readonly live: number
  /** What a sweep has not come to yet. */
  readonly over: number
}

export interface WalkedClients {
  readonly next: string
  readonly disabled: number
  /** Of the others, those that got a token. */
  readonly used: number
  readonly unused: number
}
