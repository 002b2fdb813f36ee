import type { EpochMs } from '../../src/base/brand.ts'
import { NOW } from './records.ts'
import type { TestClock } from './server.ts'

const DAY = 24 * 60 * 60 * 1000

/** The clocks of several nodes. They advance only by hand, all together. `aheadMs`: how far each is ahead. */
export function openStillClocks<const Ahead extends readonly number[]>(
  aheadMs: Ahead,
): { readonly [Index in keyof Ahead]: TestClock } {
  // Not earlier than the real time, at which the database was migrated.
  let now = Math.ceil(Date.now() / DAY) * DAY
  const clocks = aheadMs.map((ahead) => ({
    now: () => (now + ahead) as EpochMs,
    advance: (milliseconds: number) => void (now += milliseconds),
  }))
  return clocks as never
}

/** A clock for the limits of a minute or of a quarter of an hour: none ends because a test takes long. */
export function openStillClock(): TestClock {
  return openStillClocks([0])[0]
}

/** A clock that starts at a full hour, so that no hour ends while a test runs. */
export function openSteadyClock(): TestClock {
  let now: number = NOW
  return { now: () => now as EpochMs, advance: (milliseconds) => void (now += milliseconds) }
}
