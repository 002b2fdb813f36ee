import type { EpochMs } from '../../src/protocol/brand.ts'
import { NOW } from '../contract/records.ts'
import type { TestClock } from '../server.ts'

/** Begins with an hour and moves only when it is told to, so that no hour ends while a test runs. */
export function openSteadyClock(): TestClock {
  let now: number = NOW
  return { now: () => now as EpochMs, advance: (milliseconds) => void (now += milliseconds) }
}
