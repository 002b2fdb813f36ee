import type { Context } from '../ports/context.ts'
import type { UserId } from '../protocol/ids.ts'
import type { SecretHash } from '../protocol/secrets.ts'

/** The name under which the store counts attempts. */
export function attemptBucket({ secrets }: Context, ...parts: readonly string[]): string {
  return secrets.digest('bucket', ['sign-in', ...parts])
}

/** Where passwords for an address are counted, from browsers that are unknown to the account. */
export function accountBucket(context: Context, email: string): string {
  return attemptBucket(context, 'account', email)
}

/** The same for the codes of a user. */
export function codeBucket(context: Context, userId: UserId): string {
  return attemptBucket(context, 'second-step', 'account', userId)
}

/** The same for the passwords of a browser that is known to the account. */
export function deviceBucket(context: Context, email: string, browser: SecretHash): string {
  return attemptBucket(context, 'device', email, browser)
}

/** The same for the codes of such a browser. */
export function codeDeviceBucket(context: Context, userId: UserId, browser: SecretHash): string {
  return attemptBucket(context, 'second-step', 'device', userId, browser)
}

/** Everywhere that passwords for an address are counted, but by network. */
export function passwordBuckets(context: Context, email: string, browsers: readonly SecretHash[]): readonly string[] {
  return [accountBucket(context, email), ...browsers.map((browser) => deviceBucket(context, email, browser))]
}

/** The same for codes. */
export function codeBuckets(context: Context, userId: UserId, browsers: readonly SecretHash[]): readonly string[] {
  return [codeBucket(context, userId), ...browsers.map((browser) => codeDeviceBucket(context, userId, browser))]
}
