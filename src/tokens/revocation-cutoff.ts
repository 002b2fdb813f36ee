import type { Context, Settings } from '../ports/context.ts'
import type { RevocationCutoff } from '../ports/operations/token.ts'
import { after, type EpochMs } from '../base/brand.ts'
import { CLOCK_MARGIN_MS } from '../base/clock.ts'
import { DEVICE_REDEMPTION_SECONDS } from '../protocol/authorization/user-code.ts'

/** The times of an operation that revokes grants now, with the codes that can still be redeemed. */
export function revocationCutoff({ clock, settings }: Context): RevocationCutoff {
  const now = clock()
  return { now, codesSince: oldestCode(settings, now) }
}

/** The code of an authorization that started earlier has expired on every node, also that of a device, which has longer to redeem it. */
export function oldestCode({ lifetimes: { authorization, code } }: Settings, now: EpochMs): EpochMs {
  const seconds = authorization + Math.max(code, DEVICE_REDEMPTION_SECONDS)
  return after(now, -seconds * 1000 - CLOCK_MARGIN_MS)
}
