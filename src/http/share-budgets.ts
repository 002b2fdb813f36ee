import type { Context } from '../ports/context.ts'
import type { NodeBudgets, Usage } from './limits.ts'

/** What was let through is counted in windows of this length, for all nodes together. */
const WINDOW_MS = 60_000
const INTERVAL_MS = 1000
/** Networks told of in one round, so that a flood of them does not become a flood of writes. */
const ROUND_LIMIT = 1000

type Needs = Pick<Context, 'clock' | 'secrets'> & { readonly store: Pick<Context['store'], 'countHit'> }

/**
 * Keeps the budgets together with the other nodes: once a second each of them writes what it let through and takes off
 * what the others did (decisions.md D7). Answers how to stop.
 */
export function startSharing(budgets: NodeBudgets, context: Needs): () => void {
  let isSharing = false
  const timer = setInterval(() => {
    // A slow store is not asked twice at a time.
    if (isSharing) return
    isSharing = true
    void shareOnce(budgets, context).finally(() => void (isSharing = false))
  }, INTERVAL_MS).unref()
  return () => clearInterval(timer)
}

/** One round. A store that fails changes nothing: this node goes on with what it knows, and tells it the next time. */
export async function shareOnce(budgets: NodeBudgets, context: Needs): Promise<void> {
  await Promise.all(budgets.takeUntold(ROUND_LIMIT).map((usage) => tell(budgets, context, usage)))
}

async function tell(budgets: NodeBudgets, { clock, secrets, store }: Needs, usage: Usage): Promise<void> {
  const { budget, network, requests } = usage
  // Digested, because addresses of people are not kept.
  const bucket = secrets.digest('bucket', ['budget', budget, network])
  try {
    budgets.hear(usage, await store.countHit({ bucket, now: clock(), windowMs: WINDOW_MS, by: requests }))
  } catch {
    budgets.keepUntold(usage)
  }
}
