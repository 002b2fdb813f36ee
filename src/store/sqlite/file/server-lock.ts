import { DatabaseSync } from 'node:sqlite'
import { identityOf, securePath } from './database-file.ts'
import { isBusy, primaryCode } from '../database.ts'

/** A lock that one process at a time holds. */
export interface ServerLock {
  /**
   * Takes the lock again if its file was removed or replaced, because the lock of a removed file excludes no other process. Returns
   * why the lock is lost, if another process has taken it meanwhile; the next call tries again.
   */
  readonly keep: () => string | undefined
  readonly release: () => void
}

/** The lock is another process's. */
export class LockTaken extends Error {}

/** https://sqlite.org/rescode.html#full */
const FULL = 13

/** Where the lock is, and the connection that holds it. */
interface Held {
  readonly identity: string
  readonly connection: DatabaseSync
}

/**
 * Takes the lock of a server over a SQLite file: an open transaction on `<path>.lock`. The operating system releases it when
 * the process ends, also after kill -9. The file stays, because another process may be opening it.
 *
 * @throws LockTaken that names the process that holds the lock
 */
export function takeServerLock(path: string): ServerLock {
  let held = lockFile(path)
  return {
    keep() {
      if (identityOf(`${path}.lock`) === held.identity) return undefined
      try {
        const next = lockFile(path)
        held.connection.close()
        held = next
      } catch (cause) {
        // If the file cannot be made, for example on a full disk, no other process can take the lock either.
        return cause instanceof LockTaken ? cause.message : undefined
      }
      return undefined
    },
    release: () => held.connection.close(),
  }
}

function lockFile(path: string): Held {
  const file = `${path}.lock`
  const readOnly = securePath(file)
  if (readOnly !== undefined) throw readOnly
  const before = identityOf(file)
  const connection = new DatabaseSync(file, { timeout: 0 })
  try {
    connection.exec('pragma synchronous = off')
    // The file has one page and nothing to lose, and a full disk has no space for a journal.
    connection.exec('pragma journal_mode = memory')
    writeNumber(connection)
    connection.exec('begin immediate')
    const identity = identityOf(file)
    if (identity === undefined || identity !== before) throw new Error(`${file} was replaced. Start again.`)
    return { identity, connection }
  } catch (cause) {
    const holder = isBusy(cause) ? readHolder(connection) : undefined
    connection.close()
    throw holder === undefined
      ? cause
      : new LockTaken(`${path} is in use by ${holder}. A SQLite file has one server. Stop that process first.`)
  }
}

/**
 * Committed before the transaction that is the lock, so that other processes can read the number. On a full disk the lock may have
 * none, or that of an earlier server: what is stored can still be served.
 */
function writeNumber(lock: DatabaseSync): void {
  try {
    lock.exec(`pragma user_version = ${process.pid}`)
  } catch (cause) {
    if (primaryCode(cause) !== FULL) throw cause
  }
}

/** Two servers that start at the same time may both have written their number. */
function readHolder(lock: DatabaseSync): string {
  const pid = Number(lock.prepare('pragma user_version').get()?.['user_version'] ?? 0)
  return pid === 0 || pid === process.pid || !isRunning(pid) ? 'another process' : `process ${pid}`
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (cause) {
    // A process of another user.
    return (cause as NodeJS.ErrnoException).code === 'EPERM'
  }
}
