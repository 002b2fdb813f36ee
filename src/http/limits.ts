import type { BudgetName, BudgetOutcome, Budgets } from '../ports/budgets.ts'
import type { EpochMs } from '../base/brand.ts'
import { openRecentlyUsed, type RecentlyUsed } from '../base/recently-used.ts'
import { openFairShares, type FairShares } from './fair-shares.ts'

interface Bucket {
  /** The remaining credits. They refill steadily. Negative when other nodes used more than there were. */
  left: number
  at: number
  /** Requests that this node admitted and has not yet reported to the other nodes. */
  unreported: number
  /** The requests that all nodes together admitted in that window, as the store last returned it. */
  shared: { readonly total: number; readonly windowEndsAt: EpochMs } | undefined
}

/** The requests of one network that a node reports to the other nodes. */
export interface Usage {
  readonly budget: BudgetName
  readonly network: string
  readonly requests: number
}

/** The requests that all nodes admitted, as the store returns them. */
export interface SharedCount {
  readonly count: number
  readonly windowEndsAt: EpochMs
}

/** Budgets that several nodes share. */
export interface NodeBudgets extends Budgets {
  /** Takes the usage that has not been reported yet, the busiest networks first. */
  readonly takeUnreported: (limit: number) => readonly Usage[]
  /** Applies the count of all nodes: the requests of other nodes are deducted from the local bucket. */
  readonly applySharedCount: (usage: Usage, sum: SharedCount) => void
  /** Puts back a usage that could not be reported, so that it is taken again. */
  readonly keepUnreported: (usage: Usage) => void
}

type ConfiguredBudget = Exclude<
  BudgetName,
  keyof typeof FIXED_RATES | keyof typeof POOLED | 'client-assertion' | 'pushed' | 'revoked-token'
>

const MINUTE_MS = 60_000
/** Credits that one request costs. Each millisecond adds `perMinute` credits, so there are no fractions to lose. */
const COST = MINUTE_MS
/** The least number of recently active networks that are kept for each budget. At most twice as many are kept. */
const BUCKETS = 20_000
/**
 * Rates that cannot be configured. For sign-ins only the rate of the whole server matters, because the store allows each
 * network 20 in 15 minutes. Revocations of single tokens, and partings, beyond their rate are counted instead of being recorded one by one.
 * A request of this server that is beyond its rate is not sent. To a host go those that come first, and as many again that are divided
 * fairly, so that no network keeps others from a host that has the documents of many clients. Renewals of copies have ten times these
 * rates, because a caller cannot cause them at will: a platform has hundreds of clients at one host and behind one address.
 */
const FIXED_RATES = {
  'sign-in': 600,
  device: 60,
  'device-poll': 15,
  'recorded-revocation': 20,
  'recorded-parting': 20,
  outbound: 30,
  'outbound-host': 30,
  'outbound-renewal': 300,
  'outbound-host-renewal': 300,
  assertion: 6000,
} as const
/** The budget that nodes do not share: reporting it would write for each poll. */
const OWN_BUDGET = 'device-poll'
/** The row of a revoked token is kept a day longer than that of an opaque token, so fewer of them are allowed. */
const REVOCATION_DIVISOR = 10
/** The rate of all networks together, of a budget that limits stored rows or requests to others, as a multiple of the rate of one network. */
const SERVER_RATES = 5
/**
 * New rows of all networks together, as multiples of the rate of one network: half of them for those that come first on all nodes,
 * and as many again that each node divides fairly.
 */
const HOST_RATES = 5
const POOL_RATES = 50
const POOLED = {
  'registration-host': true,
  'registration-server': true,
  'outbound-host': true,
  'outbound-host-renewal': true,
} as const
/** Networks whose usage waits to be reported. Beyond the limit, a network's usage is reported after its next request. */
const UNREPORTED_LIMIT = 10_000

/**
 * Opens a token bucket for each budget and network (decision 0021). `perMinute` is both the rate and the burst. For budgets
 * that limit stored rows or requests to other servers, all networks together have five times that rate, divided fairly.
 *
 * The two budgets of new registrations are not of a network, but of a redirect host and of the server, and those of requests to a host are
 * of the host. All nodes share them. When one is used up, requests are not refused for all: each node divides as many again fairly among
 * the networks that cause them.
 */
export function openBudgets(configured: Readonly<Record<ConfiguredBudget, number>>): NodeBudgets {
  const perMinute: Readonly<Record<BudgetName, number>> = {
    ...configured,
    ...FIXED_RATES,
    'registration-host': HOST_RATES * configured.registration,
    'registration-server': POOL_RATES * configured.registration,
    'client-assertion': configured['stored-token'],
    pushed: configured.authorization,
    'revoked-token': Math.ceil(configured['stored-token'] / REVOCATION_DIVISOR),
  }
  const buckets = Object.fromEntries(
    Object.keys(perMinute).map((name) => [name, openRecentlyUsed<Bucket>(BUCKETS)]),
  ) as unknown as Readonly<Record<BudgetName, RecentlyUsed<Bucket>>>
  const shares: Partial<Readonly<Record<BudgetName, FairShares>>> = {
    authorization: openFairShares(SERVER_RATES * perMinute.authorization),
    'sign-in': openFairShares(SERVER_RATES * perMinute['sign-in']),
    'stored-token': openFairShares(SERVER_RATES * perMinute['stored-token']),
    'client-assertion': openFairShares(SERVER_RATES * perMinute['client-assertion']),
    pushed: openFairShares(SERVER_RATES * perMinute.pushed),
    device: openFairShares(SERVER_RATES * perMinute.device),
    'revoked-token': openFairShares(SERVER_RATES * perMinute['revoked-token']),
    'recorded-revocation': openFairShares(SERVER_RATES * perMinute['recorded-revocation']),
    'recorded-parting': openFairShares(SERVER_RATES * perMinute['recorded-parting']),
    outbound: openFairShares(SERVER_RATES * perMinute.outbound),
    'outbound-host': openFairShares(2 * perMinute['outbound-host']),
    'outbound-renewal': openFairShares(SERVER_RATES * perMinute['outbound-renewal']),
    'outbound-host-renewal': openFairShares(2 * perMinute['outbound-host-renewal']),
    'registration-host': openFairShares(2 * perMinute['registration-host']),
    'registration-server': openFairShares(2 * perMinute['registration-server']),
  }
  const unreported = new Map<Bucket, Omit<Usage, 'requests'>>()

  function markUnreported(budget: BudgetName, network: string, bucket: Bucket, requests: number): void {
    if (budget === OWN_BUDGET) return
    bucket.unreported += requests
    if (!unreported.has(bucket) && unreported.size < UNREPORTED_LIMIT) unreported.set(bucket, { budget, network })
  }

  return {
    take(budget, name, now, network = name): BudgetOutcome {
      const limit = perMinute[budget]
      const full = limit * COST
      const bucket = buckets[budget].getOrMake(name, () => ({ left: full, at: now, unreported: 0, shared: undefined }))
      const before = leftOf(bucket, limit, now)
      const isOwn = before >= COST
      const isPooled = budget in POOLED
      const question = isPooled ? { group: groupOf(budget, name), isEarly: isOwn } : undefined
      const isWithin = (isOwn || isPooled) && (shares[budget]?.admit(network, now, question) ?? true)
      bucket.left = isWithin ? Math.max(before - COST, -full) : before
      bucket.at = now
      if (isWithin) markUnreported(budget, name, bucket, 1)
      const missing = isOwn ? 0 : COST - bucket.left
      return {
        isWithin,
        limit,
        remaining: Math.max(0, Math.floor(bucket.left / COST)),
        // A fair share is renewed at the start of each minute.
        resetSeconds:
          isWithin || (!isOwn && !isPooled) ? Math.max(1, Math.ceil(missing / limit / 1000)) : secondsLeft(now),
      }
    },
    isUsed(budget, name, now) {
      const bucket = buckets[budget].get(name)
      return bucket !== undefined && leftOf(bucket, perMinute[budget], now) < perMinute[budget] * COST
    },
    giveBack(budget, name, now, network) {
      const bucket = buckets[budget].get(name)
      if (bucket === undefined) return
      bucket.left += COST
      bucket.unreported = Math.max(0, bucket.unreported - 1)
      shares[budget]?.release(network, now, { group: groupOf(budget, name), isEarly: false })
    },
    takeUnreported(limit) {
      const busiest = [...unreported].toSorted(([left], [right]) => right.unreported - left.unreported).slice(0, limit)
      return busiest.map(([bucket, whose]) => {
        const usage = { ...whose, requests: bucket.unreported }
        bucket.unreported = 0
        unreported.delete(bucket)
        return usage
      })
    },
    applySharedCount({ budget, network, requests }, { count, windowEndsAt }) {
      const bucket = buckets[budget].get(network)
      if (bucket === undefined) return
      const before = bucket.shared?.windowEndsAt === windowEndsAt ? bucket.shared.total : 0
      const elsewhere = Math.max(0, count - before - requests) * COST
      bucket.left =
        budget in POOLED ? Math.max(bucket.left - elsewhere, -perMinute[budget] * COST) : bucket.left - elsewhere
      bucket.shared = { total: count, windowEndsAt }
    },
    keepUnreported({ budget, network, requests }) {
      const bucket = buckets[budget].get(network)
      if (bucket !== undefined) markUnreported(budget, network, bucket, requests)
    },
  }
}

/** The credits of a bucket, which has refilled since it was used. */
function leftOf({ left, at }: Bucket, perMinute: number, now: EpochMs): number {
  return Math.min(perMinute * COST, left + Math.max(0, now - at) * perMinute)
}

/** Each host has a rate. That of the server is one. */
function groupOf(budget: BudgetName, name: string): string | undefined {
  return budget === 'registration-server' ? undefined : name
}

function secondsLeft(now: EpochMs): number {
  return Math.ceil((MINUTE_MS - (now % MINUTE_MS)) / 1000)
}
