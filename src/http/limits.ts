import type { BudgetName, BudgetOutcome, Budgets } from '../ports/context.ts'
import type { EpochMs } from '../protocol/brand.ts'
import { openRecentlyUsed, type RecentlyUsed } from '../protocol/recently-used.ts'
import { openFairShares, type FairShares } from './fair-shares.ts'

interface Bucket {
  /** What is left, in whole credits; refills steadily. Below zero when other nodes took more than there was. */
  left: number
  at: number
  /** Requests that were let through here and that the other nodes do not know of yet. */
  untold: number
  /** What all nodes together let through in that window, when last heard of. */
  heard: { readonly total: number; readonly windowEndsAt: EpochMs } | undefined
}

/** What a node has to tell the others about one network. */
export interface Usage {
  readonly budget: BudgetName
  readonly network: string
  readonly requests: number
}

/** The sum of all nodes, as the store answers it. */
export interface SharedCount {
  readonly count: number
  readonly windowEndsAt: EpochMs
}

/** Budgets that several nodes can keep together. */
export interface NodeBudgets extends Budgets {
  /** What was let through and not handed out before, the busiest networks first. */
  readonly takeUntold: (limit: number) => readonly Usage[]
  /** The usage was told: what the sum holds beyond it was let through by other nodes, and is missing here too. */
  readonly hear: (usage: Usage, sum: SharedCount) => void
  /** The usage could not be told: it is handed out again. */
  readonly keepUntold: (usage: Usage) => void
}

type ConfiguredBudget = Exclude<BudgetName, keyof typeof FIXED_RATES | 'revoked-token'>

const MINUTE_MS = 60_000
/** Credits of one request. A millisecond gives `perMinute` of them, so that no fraction is ever lost. */
const COST = MINUTE_MS
/** Networks remembered per budget at least, of those that asked last; at most twice as many. */
const BUCKETS = 20_000
/**
 * Rates that are not configured. Of sign-ins only the server's part matters: the store counts 20 a network in 15 minutes. Of
 * revocations of single tokens an operator reads no more; the others are counted.
 */
const FIXED_RATES = { 'sign-in': 600, 'recorded-revocation': 20 } as const
/** The row of a revoked token is kept a day longer than that of an opaque token, so there may be fewer of them. */
const REVOCATION_DIVISOR = 10
/** What all networks together have of a budget that bounds stored rows, in rates of one network. */
const SERVER_RATES = 5
/** Networks that wait to be told of. Beyond it they are told of when they ask again. */
const UNTOLD_LIMIT = 10_000

/**
 * Token buckets by network (decisions.md D7). `perMinute` is both the rate and the burst. Of budgets that bound how many rows
 * are stored, all networks together have five times as much, divided fairly.
 */
export function openBudgets(configured: Readonly<Record<ConfiguredBudget, number>>): NodeBudgets {
  const perMinute: Readonly<Record<BudgetName, number>> = {
    ...configured,
    ...FIXED_RATES,
    'revoked-token': Math.ceil(configured['stored-token'] / REVOCATION_DIVISOR),
  }
  const buckets: Readonly<Record<BudgetName, RecentlyUsed<Bucket>>> = {
    registration: openRecentlyUsed(BUCKETS),
    'client-authentication': openRecentlyUsed(BUCKETS),
    authorization: openRecentlyUsed(BUCKETS),
    'sign-in': openRecentlyUsed(BUCKETS),
    'stored-token': openRecentlyUsed(BUCKETS),
    'revoked-token': openRecentlyUsed(BUCKETS),
    'recorded-revocation': openRecentlyUsed(BUCKETS),
  }
  const shares: Partial<Readonly<Record<BudgetName, FairShares>>> = {
    authorization: openFairShares(SERVER_RATES * perMinute.authorization),
    'sign-in': openFairShares(SERVER_RATES * perMinute['sign-in']),
    'stored-token': openFairShares(SERVER_RATES * perMinute['stored-token']),
    'revoked-token': openFairShares(SERVER_RATES * perMinute['revoked-token']),
    'recorded-revocation': openFairShares(SERVER_RATES * perMinute['recorded-revocation']),
  }
  const untold = new Map<Bucket, Omit<Usage, 'requests'>>()

  function markUntold(budget: BudgetName, network: string, bucket: Bucket, requests: number): void {
    bucket.untold += requests
    if (!untold.has(bucket) && untold.size < UNTOLD_LIMIT) untold.set(bucket, { budget, network })
  }

  return {
    take(budget, network, now): BudgetOutcome {
      const limit = perMinute[budget]
      const known = buckets[budget]
      const full = limit * COST
      const bucket = known.get(network) ?? { left: full, at: now, untold: 0, heard: undefined }
      const before = Math.min(full, bucket.left + Math.max(0, now - bucket.at) * limit)
      const isOwn = before >= COST
      const isWithin = isOwn && (shares[budget]?.admit(network, now) ?? true)
      bucket.left = isWithin ? before - COST : before
      bucket.at = now
      if (isWithin) markUntold(budget, network, bucket, 1)
      known.set(network, bucket)
      const missing = isOwn ? 0 : COST - bucket.left
      return {
        isWithin,
        limit,
        remaining: Math.max(0, Math.floor(bucket.left / COST)),
        // A share is new with each minute.
        resetSeconds: isWithin || !isOwn ? Math.max(1, Math.ceil(missing / limit / 1000)) : secondsLeft(now),
      }
    },
    takeUntold(limit) {
      const busiest = [...untold].toSorted(([left], [right]) => right.untold - left.untold).slice(0, limit)
      return busiest.map(([bucket, whose]) => {
        const usage = { ...whose, requests: bucket.untold }
        bucket.untold = 0
        untold.delete(bucket)
        return usage
      })
    },
    hear({ budget, network, requests }, { count, windowEndsAt }) {
      const bucket = buckets[budget].get(network)
      if (bucket === undefined) return
      const before = bucket.heard?.windowEndsAt === windowEndsAt ? bucket.heard.total : 0
      bucket.left -= Math.max(0, count - before - requests) * COST
      bucket.heard = { total: count, windowEndsAt }
    },
    keepUntold({ budget, network, requests }) {
      const bucket = buckets[budget].get(network)
      if (bucket !== undefined) markUntold(budget, network, bucket, requests)
    },
  }
}

function secondsLeft(now: EpochMs): number {
  return Math.ceil((MINUTE_MS - (now % MINUTE_MS)) / 1000)
}
