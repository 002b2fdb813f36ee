import { randomFillSync } from 'node:crypto'
import type { Config } from '../config/config.ts'
import { SYSTEM_NETWORK } from '../outbound/outbound-client.ts'
import type { Network } from '../outbound/target.ts'
import type { Store } from '../ports/store.ts'
import type { EpochMs } from '../base/brand.ts'
import type { Random } from '../protocol/ids.ts'
import { openLineWriter, openLog, type LineWriter, type Log } from './log.ts'

/** The sources of time and randomness, the log, and what else belongs to a process. Tests pass their own. */
export interface Platform {
  readonly clock: () => EpochMs
  /** Milliseconds on a clock that cannot be set. */
  readonly monotonic: () => number
  /** Returns the time of the database, which `ping` reads; undefined when the database has no clock of its own. */
  readonly databaseClock: (ping: Store['ping']) => Promise<EpochMs | undefined>
  readonly random: Random
  readonly logger: Log
  /** Where requests of the server go. */
  readonly network: Network
  /** Milliseconds from the beginning of one page of the console to that of the next one. */
  readonly pageGapMs: number
}

/** A page takes as long as several tokens, so a flood of pages has about a fifth of the process, and the tokens have the rest (threats.md CON-11). */
const PAGE_GAP_MS = 20

const STANDARD_OUTPUT = 1

/** Returns the clocks, the randomness and the log of a real process, by default on standard output. */
export function openPlatform(config: Config, output: LineWriter = openLineWriter(STANDARD_OUTPUT)): Platform {
  return {
    clock: () => Date.now() as EpochMs,
    monotonic: () => performance.now(),
    databaseClock: (ping) => ping(),
    random: openRandom(),
    logger: openLog(config.logLevel, output, {}),
    network: SYSTEM_NETWORK,
    pageGapMs: PAGE_GAP_MS,
  }
}

/** Random bytes from a pool, because asking the system costs more per call than per byte. Each byte is used once. */
function openRandom(): Random {
  const pool = Buffer.allocUnsafe(8192)
  let next = pool.length
  return (bytes) => {
    if (next + bytes > pool.length) {
      randomFillSync(pool)
      next = 0
    }
    const taken = Buffer.allocUnsafe(bytes)
    pool.copy(taken, 0, next, next + bytes)
    pool.fill(0, next, next + bytes)
    next += bytes
    return taken
  }
}
