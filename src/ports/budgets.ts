import type { EpochMs } from '../base/brand.ts'

/** Rate limits for each network. Several nodes share them, with a delay of a second (decision 0021). */
export interface Budgets {
  /** `name`: the network. A budget of something else has the name of that, and then `network` is the caller's. */
  readonly take: (budget: BudgetName, name: string, now: EpochMs, network?: string) => BudgetOutcome
  /** Whether something was taken lately: the budget is not full yet. */
  readonly isUsed: (budget: BudgetName, name: string, now: EpochMs) => boolean
  /** Gives back what was taken: from a budget of new rows, because the row existed already; of failures, because it was none. */
  readonly giveBack: (
    budget: 'registration-host' | 'registration-server' | 'client-authentication',
    name: string,
    now: EpochMs,
    network: string,
  ) => void
}

export type BudgetName =
  | 'registration'
  /** New clients with a redirect host. */
  | 'registration-host'
  /** New clients of the server; its only name is SERVER_POOL. */
  | 'registration-server'
  | 'client-authentication'
  | 'authorization'
  /** Sign-in attempts that are counted in the store. */
  | 'sign-in'
  /** Opaque tokens that a client gets without a user. */
  | 'stored-token'
  /** Assertions whose ids are stored. */
  | 'client-assertion'
  /** Identity assertions that one client presents of one provider. The name has both. */
  | 'assertion'
  /** Authorization requests that a client pushes. */
  | 'pushed'
  /** Devices that wait for a user. */
  | 'device'
  /** Polls of a device, on this node alone: they are not reported to other nodes, so that a poll writes nothing of its own. */
  | 'device-poll'
  /** Tokens that a client revokes one by one. */
  | 'revoked-token'
  /** Revocations of single tokens that the audit records one by one; further ones are counted. */
  | 'recorded-revocation'
  /** The same for families of refresh tokens that are parted. */
  | 'recorded-parting'
  /** Requests that the server sends because of a request of this network, other than renewals. */
  | 'outbound'
  /** The same to one host, for each purpose. Its name has the purpose and the host. */
  | 'outbound-host'
  /** Requests because of this network that renew a copy which is no longer fresh. */
  | 'outbound-renewal'
  /** The same to one host, with the same names as `outbound-host`. */
  | 'outbound-host-renewal'

/** The name of the one budget of `registration-server`. */
export const SERVER_POOL = 'server'

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
