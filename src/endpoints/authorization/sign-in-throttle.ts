import type { Context, SpentBucket } from '../../ports/context.ts'
import type { Hit } from '../../ports/operation-inputs.ts'
import { after, type EpochMs } from '../../protocol/brand.ts'
import type { UserId } from '../../protocol/ids.ts'
import { openRecentlyUsed, type RecentlyUsed } from '../../protocol/recently-used.ts'
import type { SecretHash } from '../../protocol/secrets.ts'

const WINDOW_MS = 15 * 60 * 1000
const ACCOUNT_LIMIT = 10
const NETWORK_LIMIT = 20
/** For a browser that this account signed in with before. */
const DEVICE_LIMIT = 10
/** How long attempts on a spent bucket are refused without asking the store again. */
const SPENT_MS = 10_000
/** Spent buckets remembered at least, of those that were asked for last; at most twice as many. */
const SPENT_BUCKETS = 20_000
/** Looked for where there is no account, so that both cases ask the store the same. No user has this id. */
const NO_USER = `gus_${'0'.repeat(34)}` as UserId

/** One attempt, counted before the password is looked at, so that parallel guesses cannot slip by. */
export type Attempt =
  /** `forgive` takes the attempt back: the password was right. */
  | { readonly kind: 'allowed'; readonly forgive: () => Promise<void> }
  | { readonly kind: 'refused'; readonly retryAfterSeconds: number }

type Needs = Pick<Context, 'budgets' | 'clock' | 'secrets' | 'spentBuckets'> & {
  readonly store: Pick<Context['store'], 'countHit' | 'findUserIdByEmail' | 'forgiveHit' | 'knowsBrowser'>
}

interface Bucket {
  readonly name: string
  readonly limit: number
}

/** What `Context` remembers of spent buckets. */
export function openSpentBuckets(): RecentlyUsed<SpentBucket> {
  return openRecentlyUsed(SPENT_BUCKETS)
}

/**
 * Counts an attempt by network and then by account; an attempt that the network's count refuses is not counted for the
 * account. The owner's own browser has a count of its own, so that a guesser cannot lock the owner out (threats.md UI-08).
 *
 * An account that does not exist causes the same questions to the store and the same rows as one that exists. An attempt on
 * a bucket that is known to be spent writes nothing (threats.md BND-03).
 */
export async function countAttempt(
  context: Needs,
  who: {
    readonly email: string
    readonly network: string
    readonly browserHash: SecretHash
  },
): Promise<Attempt> {
  const now = context.clock()
  const userId = await context.store.findUserIdByEmail(who.email, NO_USER)
  const isKnown = await context.store.knowsBrowser(userId, who.browserHash)
  const named = (limit: number, ...parts: string[]): Bucket => ({
    name: context.secrets.digest('bucket', ['sign-in', ...parts]),
    limit,
  })
  const buckets = isKnown
    ? [named(DEVICE_LIMIT, 'device', who.email, who.browserHash)]
    : [named(NETWORK_LIMIT, 'network', who.network), named(ACCOUNT_LIMIT, 'account', who.email)]
  const spent = buckets.map((bucket) => findSpent(context, bucket, now)).find((one) => one !== undefined)
  if (spent !== undefined) return refused(spent, now)
  // Before anything is stored: a caller with very many networks has very many counts (threats.md BND-03).
  const budget = isKnown ? undefined : context.budgets.take('sign-in', who.network, now)
  if (budget?.isWithin === false) return { kind: 'refused', retryAfterSeconds: budget.resetSeconds }
  for (const bucket of buckets) {
    const full = await countIn(context, bucket, now)
    if (full !== undefined) return refused(full, now)
  }
  return { kind: 'allowed', forgive: () => forgive(context, buckets, now) }
}

function refused({ windowEndsAt }: SpentBucket, now: EpochMs): Attempt {
  return { kind: 'refused', retryAfterSeconds: Math.ceil((windowEndsAt - now) / 1000) }
}

/** What is known of a bucket that is spent. A clock that was set back does not lock a person out for longer. */
function findSpent({ spentBuckets }: Needs, { name }: Bucket, now: EpochMs): SpentBucket | undefined {
  const known = spentBuckets.get(name)
  return known !== undefined && now < known.askAgainAt && known.askAgainAt <= after(now, SPENT_MS) ? known : undefined
}

/** Counts an attempt; answers the bucket if it is spent. */
async function countIn(context: Needs, { name, limit }: Bucket, now: EpochMs): Promise<SpentBucket | undefined> {
  const { count, windowEndsAt } = await context.store.countHit(hitOf(name, now))
  if (count <= limit) return undefined
  const askAgainAt = Math.min(after(now, SPENT_MS), windowEndsAt) as EpochMs
  const spent = { askAgainAt, windowEndsAt }
  context.spentBuckets.set(name, spent)
  return spent
}

async function forgive(context: Needs, buckets: readonly Bucket[], now: EpochMs): Promise<void> {
  await Promise.all(buckets.map(({ name }) => context.store.forgiveHit(hitOf(name, now))))
  for (const { name } of buckets) context.spentBuckets.delete(name)
}

function hitOf(bucket: string, now: EpochMs): Hit {
  return { bucket, now, windowMs: WINDOW_MS, by: 1 }
}
