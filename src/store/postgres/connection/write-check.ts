import { randomBytes } from 'node:crypto'
import { StoreRefusesWrites } from '../../../ports/store.ts'
import type { WriteFault } from '../../../base/write-fault.ts'
import { answerDeadline, type Database } from './database.ts'
import { readOnlyConnection } from './faults.ts'

/** Whether the database accepts writes, as far as it is known without a write for each check (threats.md STO-07). */
export interface WriteCheck {
  /** Called with the fault of each statement that failed for one. */
  readonly note: (fault: WriteFault) => void
  /** @throws StoreUnavailable */
  readonly require: (database: Pick<Database, 'once' | 'transact'>) => Promise<void>
}

/** A standby is read-only as well. */
const READ_ONLY = { name: 'read-only', text: `select current_setting('transaction_read_only') as is_read_only` }
const FILL = { name: 'fill-probe', text: 'insert into settings (name, value) values ($1, $2)' }
const EMPTY = { name: 'empty-probe', text: 'delete from settings where name = $1' }

/** As much as a few registrations. Random, because PostgreSQL compresses texts. */
const PROBE_BYTES = 64 * 1024
/** However often /health/ready is requested. */
const PROBE_PAUSE_MS = 250

export function openWriteCheck(): WriteCheck {
  let fault: WriteFault | undefined
  let probedAt = Number.NEGATIVE_INFINITY

  /** An operation that succeeds does not show that a disk has space: it may have changed no row, or found space in its table. */
  async function probe(known: WriteFault, { transact }: Pick<Database, 'transact'>): Promise<void> {
    if (performance.now() - probedAt < PROBE_PAUSE_MS) throw new StoreRefusesWrites(known)
    probedAt = performance.now()
    // A name of its own, so that nodes that probe at the same time do not wait for each other.
    const name = `write-probe-${randomBytes(8).toString('hex')}`
    await transact(async (query, finish) => {
      await query(FILL, [name, randomBytes(PROBE_BYTES).toString('base64')])
      finish(EMPTY, [name])
    }, answerDeadline())
  }

  return {
    note: (found) => void (fault = found),
    async require(database) {
      await database.once(async (query) => {
        const [row] = await query(READ_ONLY)
        if (row?.['is_read_only'] === 'on') throw readOnlyConnection()
      }, answerDeadline())
      if (fault !== undefined && fault !== 'store_read_only') await probe(fault, database)
      fault = undefined
    },
  }
}
