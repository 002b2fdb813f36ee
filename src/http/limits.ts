import type { BudgetName, BudgetOutcome, Budgets } from '../ports/context.ts'

interface Bucket {
  /** What is left, in whole credits; refills steadily. */
  left: number
  at: number
}

const MINUTE_MS = 60_000
/** Credits of one request. A millisecond gives `perMinute` of them, so that no fraction is ever lost. */
const COST = MINUTE_MS
/** Networks remembered per budget. Beyond it the one that asked longest ago is forgotten. */
const BUCKET_LIMIT = 50_000

/** Token buckets by network, in this process only (decisions.md D7). `perMinute` is both the rate and the burst. */
export function openBudgets(perMinute: Readonly<Record<BudgetName, number>>): Budgets {
  const buckets: Readonly<Record<BudgetName, Map<string, Bucket>>> = {
    registration: new Map(),
    'client-authentication': new Map(),
    authorization: new Map(),
  }
  return {
    take(budget, network, now): BudgetOutcome {
      const limit = perMinute[budget]
      const known = buckets[budget]
      const bucket = known.get(network)
      const full = limit * COST
      const before = bucket === undefined ? full : Math.min(full, bucket.left + Math.max(0, now - bucket.at) * limit)
      const isWithin = before >= COST
      const left = isWithin ? before - COST : before
      // Deleted and set again, so that the map's order is the order of last use.
      known.delete(network)
      known.set(network, { left, at: now })
      if (known.size > BUCKET_LIMIT) known.delete(known.keys().next().value ?? network)
      const missing = isWithin ? 0 : COST - left
      return {
        isWithin,
        limit,
        remaining: Math.floor(left / COST),
        resetSeconds: Math.max(1, Math.ceil(missing / limit / 1000)),
      }
    },
  }
}
