import type { Context, Settings } from '../ports/context.ts'
import type { RevocationCutoff } from '../ports/operations/token.ts'
import { after, type EpochMs } from '../base/brand.ts'
import { DEVICE_REDEMPTION_SECONDS } from '../protocol/authorization/user-code.ts'

/** The clocks of nodes differ by less. */
const SKEW_MS = 60 * 1000

/**
 * The times of an operation that revokes grants now, with the codes that can still be redeemed, and the approvals of devices, which wait
 * longer for their tokens.
 */
export function revocationCutoff({ clock, settings }: Pick<Context, 'clock' | 'settings'>): RevocationCutoff {
  const now = clock()
  const { authorization, code } = settings.lifetimes
  return { now, codesSince: startedWithin(authorization + Math.max(code, DEVICE_REDEMPTION_SECONDS), now) }
}

/** An authorization that started earlier has expired on every node, and its code too. */
export function oldestAuthorization({ lifetimes: { authorization, code } }: Settings, now: EpochMs): EpochMs {
  return startedWithin(authorization + code, now)
}

function startedWithin(seconds: number, now: EpochMs): EpochMs {
  return after(now, -seconds * 1000 - SKEW_MS)
}
