import { DatabaseSync } from 'node:sqlite'
import { securePath } from './file/database-file.ts'
import { slotOf } from './slot.ts'

/** Older versions of SQLite can corrupt a write-ahead log. */
const OLDEST_SAFE = '3.51.3'

/** Of several processes that start at the same time one prepares the file; the others wait this long. */
const OPENING_PATIENCE_MS = 10_000
const OPENING_PAUSE_MS = 10

/**
 * Pragmas that every connection must have, or the database is not opened. They ensure that an acknowledged commit is on
 * disk.
 */
const REQUIRED_PRAGMAS = { journal_mode: 'wal', synchronous: 2, foreign_keys: 1, trusted_schema: 0 } as const

/**
 * Opens the database. Creates the file if necessary, readable by its owner only. Throws, and says what to do, if it is not
 * safe to use. On a read-only file system it can be read where the files of its log are there.
 */
export function openDatabase(path: string): DatabaseSync {
  const readOnly = securePath(path)
  const database = new DatabaseSync(path, { timeout: OPENING_PATIENCE_MS, enableForeignKeyConstraints: true })
  try {
    refuseOldVersion(database)
    useWriteAheadLog(database)
    database.exec(`
      pragma synchronous = full;
      pragma trusted_schema = off;
      pragma cache_size = -65536;
      pragma temp_store = memory;
    `)
    requirePragmas(database)
    database.function('slot_of', { deterministic: true }, (id) => slotOf(String(id)))
    // From now on a busy wait would block the event loop. Commits wait for the lock without blocking (begin-writing.ts).
    database.exec('pragma busy_timeout = 0')
  } catch (cause) {
    database.close()
    throw readOnly ?? cause
  }
  return database
}

/**
 * SQLite does not wait here: while another process switches the same new file to the log, or removes the log because it
 * closed the last connection, the pragma fails at once (https://sqlite.org/wal.html, "Sometimes Queries Return
 * SQLITE_BUSY").
 */
function useWriteAheadLog(database: DatabaseSync): void {
  const deadline = performance.now() + OPENING_PATIENCE_MS
  for (;;) {
    try {
      database.exec('pragma journal_mode = wal')
      return
    } catch (cause) {
      if (!isBusy(cause) || performance.now() > deadline) throw cause
    }
    // The process is starting, so a blocking wait delays nothing else.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, OPENING_PAUSE_MS)
  }
}

/** https://sqlite.org/rescode.html: the low byte is the primary code. */
export function primaryCode(cause: unknown): number | undefined {
  const code = cause instanceof Error && 'errcode' in cause ? cause.errcode : undefined
  return typeof code === 'number' ? code & 0xff : undefined
}

export function isBusy(cause: unknown): boolean {
  return [5, 6].includes(primaryCode(cause) ?? 0)
}

/** Fails unless every required pragma has its value (threats.md STO-09). */
export function requirePragmas(database: DatabaseSync): void {
  for (const [name, expected] of Object.entries(REQUIRED_PRAGMAS)) {
    const actual = Object.values(database.prepare(`pragma ${name}`).get() ?? {})[0]
    if (actual !== expected) {
      throw new Error(
        `SQLite has ${name} = ${String(actual)} and needs ${String(expected)}. Is the file on a network share?`,
      )
    }
  }
}

function refuseOldVersion(database: DatabaseSync): void {
  const version = String(database.prepare('select sqlite_version() as version').get()?.['version'])
  if (inOrder(version) < inOrder(OLDEST_SAFE)) {
    throw new Error(
      `This Node.js contains SQLite ${version}, which can lose data. Use one with ${OLDEST_SAFE} or newer.`,
    )
  }
}

/** A version as text that sorts correctly. A locale-aware comparison would load 7 MB of ICU data. */
function inOrder(version: string): string {
  return version.replaceAll(/\d+/g, (part) => part.padStart(4, '0'))
}
