import type { EpochMs } from '../../src/base/brand.ts'
import { NOW } from './records.ts'
import type { TestClock } from './server.ts'

/** A clock that starts at a full hour and is advanced by the test, so that no hour ends while a test runs. */
export function openSteadyClock(): TestClock {
  let now: number = NOW
  return { now: () => now as EpochMs, advance: (milliseconds) => void (now += milliseconds) }
}
