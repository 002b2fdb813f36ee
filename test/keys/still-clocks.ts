import type { EpochMs } from '../../src/protocol/brand.ts'
import type { TestClock } from '../server.ts'

const DAY = 24 * 60 * 60 * 1000

/** Clocks of as many nodes that stand still until one of them is moved, which moves all. Each is so far ahead of the first. */
export function openStillClocks<const Ahead extends readonly number[]>(
  aheadMs: Ahead,
): { readonly [Index in keyof Ahead]: TestClock } {
  // Not before the real time, at which the database was migrated.
  let now = Math.ceil(Date.now() / DAY) * DAY
  const clocks = aheadMs.map((ahead) => ({
    now: () => (now + ahead) as EpochMs,
    advance: (milliseconds: number) => void (now += milliseconds),
  }))
  return clocks as never
}
