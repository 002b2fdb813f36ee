import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { StoreRefusesWrites, StoreUnavailable, type WriteProbes } from '../../../ports/store.ts'
import { answerDeadline, type Database } from './database.ts'
import { readOnlyConnection } from './faults.ts'

/**
 * A standby is read-only as well. A session whose commit waits for a synchronous standby is visible to all sessions of its role, also
 * after its caller has given up, so that one commit of one node tells every node.
 */
const LOOK = {
  name: 'look-at-writes',
  text: `select current_setting('transaction_read_only') as is_read_only,
    exists (select 1 from pg_stat_activity where datname = current_database() and usename = current_user
      and wait_event = 'SyncRep' and query_start < clock_timestamp() - interval '3 seconds') as is_waiting`,
}
/** What token requests and sign-ins write. A lock of another table ends less than all of them. */
const LOCK = {
  name: 'lock-probe',
  text: 'lock table audit_links, authorizations, clients, grants, hits, sessions in row exclusive mode',
}
const FILL = { name: 'fill-probe', text: 'insert into leases (name, mark) values ($1, $2)' }
const EMPTY = { name: 'empty-probe', text: 'delete from leases where name = $1' }

/** As much as a few registrations. Random, because PostgreSQL compresses texts. */
const PROBE_BYTES = 64 * 1024
/** However often /health/ready is requested. */
const PAUSE_MS = 250
/** On Citus a machine that is away concerns its shards only. The store accepts writes if one of so many rows can be written. */
const DISTRIBUTED_TRIES = 3
/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const LOCK_NOT_AVAILABLE = '55P03'

export function openWriteProbes({ once, transact, isDistributed }: Database): WriteProbes {
  async function writeRow(deadline: number): Promise<void> {
    // A name of its own, so that nodes that write at the same time do not wait for each other.
    const name = `write-probe-${randomBytes(8).toString('hex')}`
    await transact(async (query, finish) => {
      // Citus would lock the tables on every machine.
      if (!isDistributed) await query(LOCK)
      await query(FILL, [name, randomBytes(PROBE_BYTES).toString('base64')])
      finish(EMPTY, [name])
    }, deadline)
  }

  async function write(): Promise<void> {
    const deadline = answerDeadline()
    for (let tries = 1; ; tries += 1) {
      try {
        return await writeRow(deadline)
      } catch (cause) {
        if (!isDistributed || tries === DISTRIBUTED_TRIES || performance.now() >= deadline)
          throw reasonOf(cause, deadline)
      }
    }
  }

  return {
    pauseMs: PAUSE_MS,
    write,
    look: () =>
      once(async (query) => {
        const [row] = await query(LOOK)
        if (row?.['is_read_only'] === 'on') throw readOnlyConnection()
        if (row?.['is_waiting'] === 't') throw new StoreRefusesWrites('commits_wait')
      }, answerDeadline()),
  }
}

/** Names what the error of a statement does not. The database has just been read. */
function reasonOf(fault: unknown, deadline: number): unknown {
  if (!(fault instanceof StoreUnavailable) || fault instanceof StoreRefusesWrites) return fault
  if (fault.cause instanceof pg.DatabaseError)
    return fault.cause.code === LOCK_NOT_AVAILABLE ? new StoreRefusesWrites('store_locked', fault) : fault
  return performance.now() >= deadline ? new StoreRefusesWrites('commits_hang', fault) : fault
}
