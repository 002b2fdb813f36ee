import { DatabaseSync } from 'node:sqlite'
import { securePath } from './database-file.ts'
import { isBusy } from './database.ts'

/** A lock that one process at a time holds. */
export interface ServerLock {
  readonly release: () => void
}

/**
 * Takes the lock of a server over a SQLite file: an open transaction on `<path>.lock`. The operating system releases it when
 * the process ends, also after kill -9. The file stays, because another process may be opening it.
 *
 * @throws Error that names the process that holds the lock
 */
export function takeServerLock(path: string): ServerLock {
  const file = `${path}.lock`
  securePath(file)
  const lock = new DatabaseSync(file, { timeout: 0 })
  try {
    lock.exec('pragma synchronous = off')
    // Committed before the transaction that is the lock, so that other processes can read the number.
    lock.exec(`pragma user_version = ${process.pid}`)
    lock.exec('begin immediate')
    return { release: () => lock.close() }
  } catch (cause) {
    const holder = isBusy(cause) ? readHolder(lock) : undefined
    lock.close()
    throw holder === undefined
      ? cause
      : new Error(`${path} is in use by ${holder}. A SQLite file has one server. Stop that process first.`)
  }
}

/** Two servers that start at the same time may both have written their number. */
function readHolder(lock: DatabaseSync): string {
  const pid = Number(lock.prepare('pragma user_version').get()?.['user_version'] ?? 0)
  return pid === 0 || pid === process.pid ? 'another process' : `process ${pid}`
}
