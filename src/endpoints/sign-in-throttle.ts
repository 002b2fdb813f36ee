import type { Context } from '../ports/context.ts'
import type { UserRecord } from '../ports/records.ts'
import type { Hit } from '../ports/operation-inputs.ts'
import type { SecretHash } from '../protocol/secrets.ts'

const WINDOW_MS = 15 * 60 * 1000
const ACCOUNT_LIMIT = 10
const NETWORK_LIMIT = 20
/** For a browser that this account signed in with before. */
const DEVICE_LIMIT = 10

/** One attempt, counted before the password is looked at, so that parallel guesses cannot slip by. */
export interface Attempt {
  readonly isAllowed: boolean
  readonly retryAfterSeconds: number
  /** Takes the attempt back: the password was right. */
  readonly forgive: () => Promise<void>
}

type Needs = Pick<Context, 'clock' | 'secrets'> & {
  readonly store: Pick<Context['store'], 'countHit' | 'forgiveHit' | 'knowsBrowser'>
}

/**
 * Counts an attempt by account and by network. The owner's own browser has a count of its own, so that somebody who
 * guesses cannot lock the owner out (threats.md UI-08).
 */
export async function countAttempt(
  context: Needs,
  who: {
    readonly email: string
    readonly network: string
    readonly browserHash: SecretHash
    readonly user: UserRecord | undefined
  },
): Promise<Attempt> {
  const now = context.clock()
  const isKnown = who.user !== undefined && (await context.store.knowsBrowser(who.user.id, who.browserHash))
  const bucket = (...parts: string[]): string => context.secrets.digest('bucket', ['sign-in', ...parts])
  const limits: readonly (readonly [string, number])[] = isKnown
    ? [[bucket('device', who.email, who.browserHash), DEVICE_LIMIT]]
    : [
        [bucket('account', who.email), ACCOUNT_LIMIT],
        [bucket('network', who.network), NETWORK_LIMIT],
      ]
  const hits = limits.map(([name]): Hit => ({ bucket: name, now, windowMs: WINDOW_MS, by: 1 }))
  const counted = await Promise.all(hits.map((hit) => context.store.countHit(hit)))
  return {
    isAllowed: counted.every(({ count }, index) => count <= (limits[index]?.[1] ?? 0)),
    retryAfterSeconds: Math.max(...counted.map(({ windowEndsAt }) => Math.ceil((windowEndsAt - now) / 1000))),
    forgive: async () => void (await Promise.all(hits.map((hit) => context.store.forgiveHit(hit)))),
  }
}
