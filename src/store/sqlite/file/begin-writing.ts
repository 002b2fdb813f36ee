import { setTimeout as delay } from 'node:timers/promises'
import { StoreUnavailable } from '../../../ports/store.ts'
import { isBusy } from '../database.ts'
import type { Disk } from './disk.ts'
import type { Transactions } from './transactions.ts'

export interface LockPatience {
  /** How long a commit waits while another process holds the lock. */
  readonly patienceMs: number
  /**
   * Whether this process holds the lock to truncate the write-ahead log. That takes as long as the disk needs, like a
   * commit.
   */
  readonly isCutting: () => boolean
}

const LONGEST_PAUSE_MS = 20
/** A disk that needs longer to truncate the log does not answer. */
const CUTTING_LIMIT_MS = 4000

/**
 * Waits for the lock without blocking the event loop (threats.md STO-08).
 *
 * @throws StoreUnavailable
 */
export async function beginWriting(
  { beginWriting: begin }: Pick<Transactions, 'beginWriting'>,
  { patienceMs, isCutting, disk }: LockPatience & { readonly disk: Pick<Disk, 'failed'> },
): Promise<void> {
  const latest = performance.now() + CUTTING_LIMIT_MS
  let deadline = performance.now() + patienceMs
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const isOurs = isCutting()
    if (isOurs) deadline = performance.now() + patienceMs
    try {
      begin()
      return
    } catch (cause) {
      if (!isBusy(cause)) throw disk.failed(cause)
      if (performance.now() + pauseMs > (isOurs ? latest : deadline))
        throw new StoreUnavailable('SQLite is locked', cause)
    }
    await delay(pauseMs)
  }
}
