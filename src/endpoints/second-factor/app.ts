import type { Context } from '../../ports/context.ts'
import type { SecondFactorRecord } from '../../ports/records/second-factor.ts'
import type { UserId } from '../../protocol/ids.ts'
import { mintRecoveryCodes, readRecoveryCode } from '../../protocol/sign-in/recovery-code.ts'
import { openApp } from '../../users/factors.ts'

/**
 * The authenticator app of a user. `void`: its secret cannot be decrypted, because it was readable when the root secret leaked. Its codes
 * are refused then, and another app takes its place (threats.md OTP-07).
 */
export type App =
  | { readonly kind: 'on'; readonly record: SecondFactorRecord; readonly secret: Buffer }
  | { readonly kind: 'void'; readonly record: SecondFactorRecord }

/** Finds the app of a user; undefined: the user has none. */
export async function findApp(context: Context, userId: UserId): Promise<App | undefined> {
  const record = await context.store.findSecondFactor(userId)
  if (record === undefined) return undefined
  const secret = openApp(context, record)
  return secret === undefined ? { kind: 'void', record } : { kind: 'on', record, secret }
}

/** New recovery codes, and what the store keeps of them. */
export interface NewRecoveryCodes {
  readonly codes: readonly string[]
  readonly digests: readonly string[]
}

/** Makes the recovery codes of a user. */
export function newRecoveryCodes(context: Context, userId: UserId): NewRecoveryCodes {
  const codes = mintRecoveryCodes(context.random)
  return { codes, digests: codes.flatMap((code) => recoveryDigest(context, userId, code) ?? []) }
}

/** What the store keeps of a recovery code; undefined: no recovery code is like the text. */
export function recoveryDigest({ secrets }: Context, userId: UserId, typed: string): string | undefined {
  const letters = readRecoveryCode(typed)
  return letters === undefined ? undefined : secrets.digest('recovery-code', [userId, letters])
}
