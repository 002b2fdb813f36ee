import { accessSync, closeSync, constants, lstatSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { StoreUnavailable } from '../../../ports/store.ts'
import { makeFolder, syncFolder } from '../../../files/durable-file.ts'
import { explained } from '../../../files/guarded-file.ts'
import { checkSecretFile } from '../../../base/secret-file.ts'

/** The files that SQLite keeps beside an open database: https://sqlite.org/tempfiles.html */
const COMPANIONS = ['-wal', '-shm', '-journal']

/**
 * Creates the file if it does not exist: mode 0600, and 0700 for a folder that is created. Throws, and says what to do,
 * unless this process owns the file and SQLite's files beside it (threats.md STO-11): SQLite would replay a log that another
 * user put there.
 *
 * Returns the error of a file system that is read-only, on which the file can still be read.
 */
export function securePath(path: string): Error | undefined {
  const folder = dirname(path)
  makeFolder(folder)
  const folderMode = statSync(folder).mode
  if ((folderMode & 0o022) !== 0 && (folderMode & 0o1000) === 0) {
    throw new Error(`Other users may write to ${folder}. Run: chmod go-w ${folder}`)
  }
  makeFile(path)
  const faults = [requireOwn(path), ...COMPANIONS.map((suffix) => requireOwnCompanion(path + suffix))]
  return faults.find((fault) => fault !== undefined)
}

function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
    return
  }
  keepFolder(dirname(path))
}

/** Another process may have made the folder of a new database, and its name may not be on disk yet. */
function keepFolder(folder: string): void {
  try {
    syncFolder(dirname(folder))
  } catch (cause) {
    // A folder that this process cannot read is not one that it made.
    if ((cause as NodeJS.ErrnoException).code !== 'EACCES') throw cause
  }
}

function requireOwn(path: string): Error | undefined {
  const status = lstatSync(path, { throwIfNoEntry: false })
  if (status === undefined) return undefined
  if (status.isSymbolicLink()) throw new Error(`${path} is a symbolic link. Name the file itself in DATABASE_URL.`)
  if (!status.isFile()) throw new Error(`${path} is not a file.`)
  const fault = checkSecretFile(path, status, process.getuid?.(), 'nothing')
  if (fault !== undefined) throw new Error(fault)
  // SQLite would not say which file it is. A command that root ran leaves files that the server cannot open.
  try {
    explained(path, () => accessSync(path, constants.R_OK | constants.W_OK))
    return undefined
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EROFS') throw cause
    return cause as Error
  }
}

/** The process that closes the database last removes its companions, also while another one is about to open it. */
function requireOwnCompanion(path: string): Error | undefined {
  try {
    return requireOwn(path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause
    return undefined
  }
}

/** Detects whether the files of an open database were moved, or the lock of the server was taken by another process. */
export interface FileWatch {
  /** Checks the files now. */
  readonly isInPlace: () => boolean
  /**
   * Uses the result of the last check, so that it costs nothing.
   *
   * @throws StoreUnavailable
   */
  readonly require: () => void
  readonly stop: () => void
}

const LOOK_INTERVAL_MS = 1000

/**
 * Detects that the database file or its log was moved, replaced or removed while the database is open (threats.md STO-17).
 * SQLite continues to write into the file that it has open, and all of that is lost when the process ends. `keepLock` returns why
 * the lock is lost; without it, the process has none.
 */
export function watchFiles(path: string, keepLock: () => string | undefined = () => undefined): FileWatch {
  const opened = [path, `${path}-wal`].map((file) => ({ file, identity: identityOf(file) }))
  let loss: string | undefined
  function isInPlace(): boolean {
    loss = opened.every(({ file, identity }) => identityOf(file) === identity)
      ? keepLock()
      : `${path} or its log is not the file that this process opened: it was moved, replaced or removed. Stop the server, put the right file there, and start it again.`
    return loss === undefined
  }
  const timer = setInterval(isInPlace, LOOK_INTERVAL_MS).unref()
  return {
    isInPlace,
    require() {
      if (loss !== undefined) throw new StoreUnavailable(loss)
    },
    stop: () => clearInterval(timer),
  }
}

/** The device and the number of a file; undefined if there is none. */
export function identityOf(file: string): string | undefined {
  const status = statSync(file, { bigint: true, throwIfNoEntry: false })
  return status === undefined ? undefined : `${status.dev}:${status.ino}`
}
