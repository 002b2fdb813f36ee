import type { ClockCheck } from '../ports/context.ts'
import { after, type EpochMs } from '../base/brand.ts'
import { CLOCK_TOLERANCE_MS } from '../base/clock.ts'

/**
 * Whether a token has expired by the clock of every node, so that a revocation would have no effect. While this node's clock
 * differs it does not know the time, and the token has to be revoked (threats.md STO-13).
 */
export function hasExpiredEverywhere({ deletionTime }: Pick<ClockCheck, 'deletionTime'>, expiresAt: EpochMs): boolean {
  const deletableBefore = deletionTime()
  return deletableBefore !== undefined && expiresAt < after(deletableBefore, -2 * CLOCK_TOLERANCE_MS)
}
