import type { EpochMs } from '../protocol/brand.ts'

/** Rate limits for each network. Several nodes share them, with a delay of a second (decision 0021). */
export interface Budgets {
  readonly take: (budget: BudgetName, network: string, now: EpochMs) => BudgetOutcome
}

export type BudgetName =
  | 'registration'
  | 'client-authentication'
  | 'authorization'
  /** Sign-in attempts that are counted in the store. */
  | 'sign-in'
  /** Opaque tokens that a client gets without a user. */
  | 'stored-token'
  /** Assertions whose ids are stored. */
  | 'client-assertion'
  /** Tokens that a client revokes one by one. */
  | 'revoked-token'
  /** Revocations of single tokens that the audit records one by one; further ones are counted. */
  | 'recorded-revocation'
  /** Requests that the server sends because of a request of this network. */
  | 'outbound'
  /** The same to one host, whose name takes the place of the network. */
  | 'outbound-host'

/** A bucket of attempts that has reached its limit. */
export interface SpentBucket {
  readonly askAgainAt: EpochMs
  readonly windowEndsAt: EpochMs
}

export interface BudgetOutcome {
  readonly isWithin: boolean
  readonly limit: number
  readonly remaining: number
  /** Seconds until the full budget is available again. */
  readonly resetSeconds: number
}
