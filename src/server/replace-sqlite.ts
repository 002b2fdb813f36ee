import { existsSync, linkSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { syncFolder } from '../store/backup/write.ts'
import type { Slice } from '../store/backup/tables.ts'
import { isBusy } from '../store/sqlite/database.ts'
import { takeServerLock } from '../store/sqlite/server-lock.ts'
import { loadSqlite } from '../store/sqlite/snapshot.ts'

type Load = (schema: number, slices: Iterable<Slice>) => void

/** The files that SQLite keeps beside a database. */
const COMPANIONS = ['-wal', '-shm', '-journal']

/**
 * Makes a new database file beside the place of a database, and moves it there when it is complete. No server can use the
 * place meanwhile. The previous file, and its log if it could not be moved into the file, get another name, which is returned.
 *
 * @throws Error if a server uses the place, or a database exists and `replace` is not set
 */
export async function replaceSqlite(
  path: string,
  replace: boolean,
  fill: (draft: string, load: Load) => Promise<void>,
): Promise<string | undefined> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const lock = takeServerLock(path)
  const draft = `${path}.restoring`
  try {
    const exists = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0
    if (exists && !replace) {
      throw new Error(
        `There is a database at ${path}. Add --replace to move it aside, or name another place in DATABASE_URL.`,
      )
    }
    removeFiles(draft)
    await fill(draft, (schema, slices) => loadSqlite(draft, schema, slices))
    if (existsSync(`${draft}-wal`)) throw new Error(`The log of ${draft} is not in the file. Try again.`)
    const aside = `${path}.before-restore-${new Date().toISOString().replaceAll(/[-:.]/g, '')}`
    const isMoved = moveAside(path, aside)
    renameSync(draft, path)
    syncFolder(dirname(path))
    return isMoved ? aside : undefined
  } finally {
    removeFiles(draft)
    lock.release()
  }
}

/** Gives the previous database a second name, and takes its log away. The database keeps its name until it is replaced. */
function moveAside(path: string, aside: string): boolean {
  let isMoved = existsSync(path)
  if (isMoved) {
    foldLog(path)
    linkSync(path, aside)
  }
  for (const suffix of COMPANIONS) {
    if (!existsSync(path + suffix)) continue
    renameSync(path + suffix, aside + suffix)
    isMoved = true
  }
  syncFolder(dirname(path))
  return isMoved
}

/** Moves the log into the file. A damaged database keeps its log. @throws Error if another process has the file open */
function foldLog(path: string): void {
  const database = new DatabaseSync(path, { timeout: 2000 })
  try {
    // Only a connection that is the only one may leave the write-ahead log.
    database.exec('pragma journal_mode = delete')
  } catch (cause) {
    if (isBusy(cause)) throw new Error(`${path} is in use by another process. Stop it first.`, { cause })
  } finally {
    database.close()
  }
}

function removeFiles(path: string): void {
  for (const suffix of ['', ...COMPANIONS]) rmSync(path + suffix, { force: true })
}
