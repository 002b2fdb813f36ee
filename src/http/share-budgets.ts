import type { Context, StoreNeeds } from '../ports/context.ts'
import type { NodeBudgets, SharedCount, Usage } from './limits.ts'

/** The store counts the admitted requests of all nodes in windows of this length. */
const WINDOW_MS = 60_000
const INTERVAL_MS = 1000
/** Networks reported in one round, so that requests from many networks do not cause as many writes. */
const ROUND_LIMIT = 1000

type Needs = Pick<Context, 'clock' | 'secrets'> & StoreNeeds<'countHit' | 'countRegistrations'>

/**
 * Shares the budgets with the other nodes: once a second each node writes how many requests it admitted, and deducts those
 * that the others admitted (decision 0021). Returns a function that stops it.
 */
export function startSharing(budgets: NodeBudgets, context: Needs): () => void {
  let isSharing = false
  const timer = setInterval(() => {
    // Only one round at a time, also when the store is slow.
    if (isSharing) return
    isSharing = true
    void shareOnce(budgets, context).finally(() => void (isSharing = false))
  }, INTERVAL_MS).unref()
  return () => clearInterval(timer)
}

/**
 * One round. When the store fails, this node continues with the counts that it has, and reports its usage in the next round.
 */
export async function shareOnce(budgets: NodeBudgets, context: Needs): Promise<void> {
  await Promise.all(budgets.takeUnreported(ROUND_LIMIT).map((usage) => report(budgets, context, usage)))
}

async function report(budgets: NodeBudgets, { clock, secrets, store }: Needs, usage: Usage): Promise<void> {
  try {
    budgets.applySharedCount(usage, await count(usage, { clock, secrets, store }))
  } catch {
    budgets.keepUnreported(usage)
  }
}

/** Adds the requests to the count of all nodes. The sweep needs the new clients of a day, so they have counts of their own. */
function count({ budget, network, requests: by }: Usage, { clock, secrets, store }: Needs): Promise<SharedCount> {
  const now = clock()
  if (budget === 'registration-server') return store.countRegistrations({ now, by })
  // A digest, because the addresses of people are not stored.
  const bucket = secrets.digest('bucket', ['budget', budget, network])
  return store.countHit({ bucket, now, windowMs: WINDOW_MS, by })
}
