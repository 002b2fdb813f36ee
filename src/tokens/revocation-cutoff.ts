import type { Context, Settings } from '../ports/context.ts'
import type { RevocationCutoff } from '../ports/operations/token.ts'
import { after, type EpochMs } from '../base/brand.ts'
import { DEVICE_REDEMPTION_SECONDS } from '../protocol/authorization/user-code.ts'

/** The clocks of nodes differ by less. */
const SKEW_MS = 60 * 1000

/** The times of an operation that revokes grants now, with the codes that can still be redeemed. */
export function revocationCutoff({ clock, settings }: Pick<Context, 'clock' | 'settings'>): RevocationCutoff {
  const now = clock()
  return { now, codesSince: oldestCode(settings, now) }
}

/** The code of an authorization that started earlier has expired on every node, also that of a device, which has longer to redeem it. */
export function oldestCode({ lifetimes: { authorization, code } }: Settings, now: EpochMs): EpochMs {
  return startedWithin(authorization + Math.max(code, DEVICE_REDEMPTION_SECONDS), now)
}

/** An authorization that started earlier has expired on every node, and its code too, unless it is that of a device. */
export function oldestAuthorization({ lifetimes: { authorization, code } }: Settings, now: EpochMs): EpochMs {
  return startedWithin(authorization + code, now)
}

function startedWithin(seconds: number, now: EpochMs): EpochMs {
  return after(now, -seconds * 1000 - SKEW_MS)
}
