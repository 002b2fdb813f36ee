import type { Context, Settings } from '../ports/context.ts'
import type { RevocationCutoff } from '../ports/operations/token.ts'
import { after, type EpochMs } from '../base/brand.ts'
import { DEVICE_REDEMPTION_SECONDS } from '../protocol/authorization/user-code.ts'

/** The clocks of nodes differ by less. */
const SKEW_MS = 60 * 1000

/** The times of an operation that revokes grants now, with the codes that can still be redeemed. */
export function revocationCutoff({ clock, settings }: Pick<Context, 'clock' | 'settings'>): RevocationCutoff {
  const now = clock()
  return { now, codesSince: oldestAuthorization(settings, now) }
}

/** An authorization that started earlier has expired on every node, and its code too, or the time in which its device gets its tokens. */
export function oldestAuthorization({ lifetimes: { authorization, code } }: Settings, now: EpochMs): EpochMs {
  return after(now, -(authorization + Math.max(code, DEVICE_REDEMPTION_SECONDS)) * 1000 - SKEW_MS)
}
