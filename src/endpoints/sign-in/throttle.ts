import assert from 'node:assert/strict'
import type { SpentBucket } from '../../ports/budgets.ts'
import type { Context } from '../../ports/context.ts'
import type { Request } from '../../ports/message.ts'
import type { Hit } from '../../ports/operations/server.ts'
import { after, type EpochMs } from '../../base/brand.ts'
import { timeOfOrderedId, type UserId } from '../../protocol/ids.ts'
import { openRecentlyUsed, type RecentlyUsed } from '../../base/recently-used.ts'
import type { SecretHash } from '../../protocol/secrets.ts'
import { ACCOUNT_LIMIT, ATTEMPT_WINDOW_MS, CODE_LIMIT, NETWORK_LIMIT } from '../../protocol/sign-in/attempt-limits.ts'
import {
  accountBucket,
  attemptBucket,
  codeBucket,
  codeDeviceBucket,
  deviceBucket,
} from '../../requests/attempt-bucket.ts'
import { openCookie } from '../authorization/cookie.ts'

/** Attempts with what cannot be guessed that failed, of one browser. */
const PROVIDER_LIMIT = 50
/**
 * The same for each network, of browsers that are new here. A code cannot be guessed, so this only bounds what strangers make the server
 * ask a provider. A whole office usually shares one network.
 */
const PROVIDER_NETWORK_LIMIT = 2000
/** From this age of its cookie on a browser is not new here. */
const FAMILIAR_MS = 24 * 60 * 60 * 1000
/** For a browser in which this account has signed in before. */
const DEVICE_LIMIT = 10
/** How long attempts on a spent bucket are rejected without another query. */
const SPENT_MS = 10_000
/** The number of recently used spent buckets that are remembered: at least this many, at most twice as many. */
const SPENT_BUCKETS = 20_000
/** Mails that strangers can cause, in an hour. */
const MAILS_TO_ADDRESS = 5
const MAILS_OF_NETWORK = 20
const MAILS_OF_SERVER = 1000
const HOUR_MS = 60 * 60 * 1000
/** An id that no user has. It is queried if there is no account, so that both cases run the same queries. */
const NO_USER = `gus_${'0'.repeat(34)}` as UserId

/** A sign-in attempt. It is counted before the password is checked, so that parallel guesses are counted too. */
export type Attempt =
  /** `forgive` removes the attempt from the count, after the password was right. */
  | {
      readonly kind: 'allowed'
      /** Whether it is the last one that the limit allows. */
      readonly isLast: boolean
      readonly forgive: () => Promise<void>
    }
  | { readonly kind: 'refused'; readonly retryAfterSeconds: number }

/** The same for a code of an authenticator app. `isKnown`: it was counted for a browser in which the account has signed in before. */
export type CodeAttempt =
  | (Extract<Attempt, { readonly kind: 'allowed' }> & { readonly isKnown: boolean })
  | Extract<Attempt, { readonly kind: 'refused' }>

interface Bucket {
  readonly name: string
  readonly limit: number
  readonly windowMs: number
}

/** Opens the memory of spent buckets, for `Context`. */
export function openSpentBuckets(): RecentlyUsed<SpentBucket> {
  return openRecentlyUsed(SPENT_BUCKETS)
}

/**
 * Counts a sign-in attempt by network and then by account. An attempt that exceeds the limit of the network is not counted for
 * the account. A browser in which the account has signed in before is counted separately, so that an attacker cannot lock the
 * owner out (threats.md UI-08). When that count is used up, the browser counts as an unknown one, which it would be without its cookie: an
 * attacker who has a copy of the cookie may have used it up.
 *
 * An unknown account causes the same queries and the same rows as an existing one. An attempt on a bucket that is known to be
 * spent writes nothing (threats.md BND-03).
 */
export async function countAttempt(
  context: Context,
  attempt: {
    readonly email: string
    readonly network: string
    readonly browserHash: SecretHash
  },
): Promise<Attempt> {
  const now = context.clock()
  const userId = await context.store.findUserIdByEmail(attempt.email, NO_USER)
  const isKnown = await context.store.knowsBrowser(userId, attempt.browserHash)
  if (isKnown) {
    const device = bucketNamed(deviceBucket(context, attempt.email, attempt.browserHash), DEVICE_LIMIT)
    const counted = await countInAll(context, [device], { now, rate: undefined })
    if (counted.kind === 'allowed') return counted
  }
  const buckets = [
    bucketOf(context, NETWORK_LIMIT, ['network', attempt.network]),
    bucketNamed(accountBucket(context, attempt.email), ACCOUNT_LIMIT),
  ]
  return countInAll(context, buckets, { now, rate: { name: attempt.network, network: attempt.network } })
}

/**
 * Counts an attempt with what cannot be guessed, before it is checked: the code of a provider, the answer of a passkey, a recovery code. It
 * is counted by browser, and for a browser that is new here also by network. So one person can lock neither other people of the network
 * out, nor anybody whose browser has had its cookie for a day (threats.md UP-29). By the account, a person who knows the password could keep
 * the owner from using a recovery code. A stranger can let cookies age too, so those browsers of a network have a rate as well, but one of
 * their own (UP-31).
 */
export async function countUnguessable(
  context: Context,
  { cookies, network }: Pick<Request, 'cookies' | 'network'>,
): Promise<Attempt> {
  const now = context.clock()
  const browser = openCookie(context, cookies, 'browser')
  assert(browser !== undefined, 'The state of the callback, or the form, is bound to the browser.')
  const own = bucketOf(context, PROVIDER_LIMIT, ['provider', 'browser', browser.hash])
  const isFamiliar = now >= after(timeOfOrderedId(browser.id), FAMILIAR_MS)
  const buckets = isFamiliar ? [own] : [own, bucketOf(context, PROVIDER_NETWORK_LIMIT, ['provider', network])]
  return countInAll(context, buckets, { now, rate: { name: isFamiliar ? `${network} familiar` : network, network } })
}

/**
 * Counts a code of an authenticator app, whose user has done the first step. As with passwords, a known browser is counted apart, so that
 * a person who knows the password cannot lock the owner out.
 */
export async function countCode(
  context: Context,
  { userId, network, browserHash }: SecondAttempt,
): Promise<CodeAttempt> {
  const now = context.clock()
  const rate = { name: network, network }
  if (await context.store.knowsBrowser(userId, browserHash)) {
    const device = bucketNamed(codeDeviceBucket(context, userId, browserHash), CODE_LIMIT)
    const counted = await countInAll(context, [device], { now, rate })
    if (counted.kind === 'allowed') return { ...counted, isKnown: true }
  }
  const counted = await countInAll(context, [bucketNamed(codeBucket(context, userId), CODE_LIMIT)], { now, rate })
  return counted.kind === 'allowed' ? { ...counted, isKnown: false } : counted
}

/**
 * Counts the code of a device that a person typed, before it is looked up. RFC 8628 §5.1. There is no limit of the whole server to use up, and
 * right codes, which are forgiven, take nothing from the rate of sign-ins.
 */
export function countUserCode(context: Context, network: string): Promise<Attempt> {
  const bucket = bucketOf(context, NETWORK_LIMIT, ['user-code', network])
  return countInAll(context, [bucket], { now: context.clock(), rate: { name: `${network} user codes`, network } })
}

/**
 * Counts a mail that a person asks for, before it is known whether any is sent: by network and by its address. The codes of signed-in users
 * are counted apart from the resets that any stranger of the network asks for. `forgive` is for a mail that is not sent because the last
 * one is on its way: strangers could otherwise use up the mails of an address at once. The count of the network
 * stays: its end would tell a stranger whether the address has an account (threats.md ACC-19).
 */
export async function countMail(
  context: Context,
  { purpose, email, network }: { readonly purpose: 'reset' | 'code'; readonly email: string; readonly network: string },
): Promise<Attempt> {
  const ofAddress = mailBucket(context, MAILS_TO_ADDRESS, purpose, email)
  const buckets = [mailBucket(context, MAILS_OF_NETWORK, `${purpose} network`, network), ofAddress]
  const now = context.clock()
  const rate = { name: purpose === 'code' ? `${network} codes` : network, network }
  const counted = await countInAll(context, buckets, { now, rate })
  return counted.kind === 'allowed' ? { ...counted, forgive: () => forgive(context, [ofAddress], now) } : counted
}

/** Counts a mail that is about to be sent, together with all others. What is asked for addresses without an account uses up nothing of it. */
export function countSentMail(context: Context): Promise<Attempt> {
  const bucket = mailBucket(context, MAILS_OF_SERVER, 'server')
  return countInAll(context, [bucket], { now: context.clock(), rate: undefined })
}

function mailBucket(context: Context, limit: number, ...parts: readonly string[]): Bucket {
  return { ...bucketOf(context, limit, ['mail', ...parts]), windowMs: HOUR_MS }
}

interface SecondAttempt {
  readonly userId: UserId
  readonly network: string
  readonly browserHash: SecretHash
}

function bucketOf(context: Context, limit: number, parts: readonly string[]): Bucket {
  return bucketNamed(attemptBucket(context, ...parts), limit)
}

function bucketNamed(name: string, limit: number): Bucket {
  return { name, limit, windowMs: ATTEMPT_WINDOW_MS }
}

/** `rate`: the rate that is counted, too, and the network that causes it. */
async function countInAll(
  context: Context,
  buckets: readonly Bucket[],
  {
    now,
    rate,
  }: { readonly now: EpochMs; readonly rate: { readonly name: string; readonly network: string } | undefined },
): Promise<Attempt> {
  const spent = buckets.map((bucket) => findSpent(context, bucket, now)).find((one) => one !== undefined)
  if (spent !== undefined) return refused(spent, now)
  // Checked before anything is stored: a caller with many networks could otherwise store many counts (threats.md BND-03).
  const budget = rate === undefined ? undefined : context.budgets.take('sign-in', rate.name, now, rate.network)
  if (budget?.isWithin === false) return { kind: 'refused', retryAfterSeconds: budget.resetSeconds }
  let isLast = false
  for (const bucket of buckets) {
    const { full, count } = await countIn(context, bucket, now)
    if (full !== undefined) return refused(full, now)
    isLast ||= count === bucket.limit
  }
  return { kind: 'allowed', isLast, forgive: () => forgive(context, buckets, now) }
}

function refused({ windowEndsAt }: SpentBucket, now: EpochMs): Attempt {
  return { kind: 'refused', retryAfterSeconds: Math.ceil((windowEndsAt - now) / 1000) }
}

/** Returns the remembered spent bucket, unless the clock was set back: a lock-out must not last longer because of that. */
function findSpent({ spentBuckets }: Context, { name }: Bucket, now: EpochMs): SpentBucket | undefined {
  const known = spentBuckets.get(name)
  return known !== undefined && now < known.askAgainAt && known.askAgainAt <= after(now, SPENT_MS) ? known : undefined
}

/** Counts an attempt in the store. `full`: the bucket, if it is spent. */
async function countIn(
  context: Context,
  bucket: Bucket,
  now: EpochMs,
): Promise<{ readonly count: number; readonly full: SpentBucket | undefined }> {
  const { name, limit } = bucket
  const { count, windowEndsAt } = await context.store.countHit(hitOf(bucket, now))
  if (count <= limit) return { count, full: undefined }
  const askAgainAt = Math.min(after(now, SPENT_MS), windowEndsAt) as EpochMs
  const spent = { askAgainAt, windowEndsAt }
  context.spentBuckets.set(name, spent)
  return { count, full: spent }
}

async function forgive(context: Context, buckets: readonly Bucket[], now: EpochMs): Promise<void> {
  await Promise.all(buckets.map((bucket) => context.store.forgiveHit(hitOf(bucket, now))))
  for (const { name } of buckets) context.spentBuckets.delete(name)
}

function hitOf({ name: bucket, windowMs }: Bucket, now: EpochMs): Hit {
  return { bucket, now, windowMs, by: 1 }
}
