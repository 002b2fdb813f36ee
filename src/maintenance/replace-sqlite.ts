import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makeFolder, syncFolder } from '../files/durable-file.ts'
import type { Slice } from '../store/backup/tables.ts'
import { securePath } from '../store/sqlite/file/database-file.ts'
import { isBusy } from '../store/sqlite/database.ts'
import { takeServerLock } from '../store/sqlite/file/server-lock.ts'
import { loadSqlite } from '../store/sqlite/snapshot.ts'

type Load = (schema: number, slices: Iterable<Slice>) => void

export interface Replacement {
  /** Whether a database that exists is moved aside. */
  readonly replace: boolean
  /** Makes the new database. */
  readonly fill: (draft: string, load: Load) => Promise<void>
  /** Runs while no other process can use the database, before it is replaced. Throws if it must not be replaced. */
  readonly requireUnchanged: () => void
}

/** The files that SQLite keeps beside a database. */
const COMPANIONS = ['-wal', '-shm', '-journal']
const PATIENCE_MS = 2000

/**
 * Makes a new database file beside the place of a database, and moves it there when it is complete. No server can use the
 * place meanwhile, and no command while the file is moved. The previous file, and its log if it could not be moved into the
 * file, get another name, which is returned.
 *
 * @throws Error if a process uses the place, or a database exists and `replace` is not set
 */
export async function replaceSqlite(
  path: string,
  { replace, fill, requireUnchanged }: Replacement,
): Promise<string | undefined> {
  makeFolder(dirname(path))
  const lock = takeServerLock(path)
  const draft = `${path}.restoring`
  try {
    if (!replace) refuseDatabase(path)
    removeFiles(draft)
    await fill(draft, (schema, slices) => loadSqlite(draft, schema, slices))
    if (existsSync(`${draft}-wal`)) throw new Error(`The log of ${draft} is not in the file. Try again.`)
    return exchange(path, draft, () => {
      // A command may have created a database meanwhile.
      if (!replace) refuseDatabase(path)
      const loss = lock.keep()
      if (loss !== undefined) throw new Error(loss)
      requireUnchanged()
    })
  } finally {
    removeFiles(draft)
    lock.release()
  }
}

function refuseDatabase(path: string): void {
  if (!hasContent(path)) return
  throw new Error(
    `There is a database at ${path}. Name another place in DATABASE_URL, or move it aside, as "grantor restore" does with --replace.`,
  )
}

function hasContent(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0
}

/**
 * Puts the draft into the place of the database. Both are locked until after that: a command that has the previous file open
 * would write a log beside the new one.
 */
function exchange(path: string, draft: string, check: () => void): string | undefined {
  // A command that creates the file now has to wait, too.
  if (!existsSync(path)) securePath(path)
  const previous = holdPrevious(path)
  let next: DatabaseSync | undefined
  try {
    next = hold(draft)
    check()
    const aside = `${path}.before-restore-${new Date().toISOString().replaceAll(/[-:.]/g, '')}`
    const isMoved = moveAside(path, aside)
    renameSync(draft, path)
    syncFolder(dirname(path))
    refuseCompanions(path, isMoved ? aside : undefined)
    return isMoved ? aside : undefined
  } finally {
    next?.close()
    previous?.close()
  }
}

/**
 * Gives the previous database a second name, and takes its log away. The database keeps its name until it is replaced. Returns whether
 * there was one.
 */
function moveAside(path: string, aside: string): boolean {
  let isMoved = hasContent(path)
  if (isMoved) linkSync(path, aside)
  // SQLite begins a journal when it locks an empty file. It has nothing of a database.
  else rmSync(`${path}-journal`, { force: true })
  for (const suffix of COMPANIONS) {
    if (!existsSync(path + suffix)) continue
    renameSync(path + suffix, aside + suffix)
    isMoved = true
  }
  syncFolder(dirname(path))
  return isMoved
}

/** Holds the previous database. One that is damaged keeps its log and is not held. */
function holdPrevious(path: string): DatabaseSync | undefined {
  try {
    return hold(path)
  } catch (cause) {
    if (cause instanceof InUse) throw cause
    return undefined
  }
}

class InUse extends Error {}

/**
 * Moves the log into the file, and locks the file against every other connection, until the connection is closed.
 *
 * @throws InUse if another process has the file open
 */
function hold(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: PATIENCE_MS })
  try {
    // Only a connection that is the only one may leave the write-ahead log.
    database.exec('pragma journal_mode = delete')
    database.exec('begin exclusive')
    // Another process may have opened the log again between the two. Then only other writers have to wait.
    if (database.prepare('pragma journal_mode').get()?.['journal_mode'] === 'delete') return database
  } catch (cause) {
    database.close()
    if (!isBusy(cause)) throw cause
    throw new InUse(inUse(path), { cause })
  }
  database.close()
  throw new InUse(inUse(path))
}

function inUse(path: string): string {
  return `${path} is in use by another process. Stop it first.`
}

/**
 * The new file has no log yet, because it is locked. A log beside it is that of a process with the previous file, which could
 * not be locked because it is damaged. The previous file gets its name back, because SQLite would mix the pages of both.
 */
function refuseCompanions(path: string, aside: string | undefined): void {
  const found = COMPANIONS.map((suffix) => path + suffix).filter((file) => existsSync(file))
  if (found.length === 0) return
  if (aside === undefined) rmSync(path)
  else renameSync(aside, path)
  syncFolder(dirname(path))
  throw new Error(`Another process has opened ${path} and made ${found.join(', ')}. Stop it, and restore again.`)
}

function removeFiles(path: string): void {
  for (const suffix of ['', ...COMPANIONS]) rmSync(path + suffix, { force: true })
}
