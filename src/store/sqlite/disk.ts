import { accessSync, constants, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { StoreUnavailable, type DiskFault } from '../../ports/store.ts'
import { primaryCode } from './database.ts'
import type { Transactions } from './transactions.ts'

/** What is known about the disk of an open database. */
export interface Disk {
  /** Returns the error of a write that failed, and remembers the failure until a write succeeds. */
  readonly failed: (cause: unknown) => StoreUnavailable
  readonly succeeded: () => void
  /**
   * Checks whether the next commit can succeed. After a failure this needs a write, because a quota or a failing disk is not
   * visible in any other way. The write changes nothing that is stored.
   *
   * @throws StoreUnavailable
   */
  readonly require: () => void
}

/** With less, the next commit may not fit on the disk. */
const FREE_BYTES_MIN = 256 * 1024
/** As much as a commit of a few rows adds to the file and to its log. */
const PROBE_BYTES = 64 * 1024

/** By SQLite's primary result code: https://sqlite.org/rescode.html */
const FAULTS: Readonly<Record<number, DiskFault>> = { 8: 'disk_read_only', 10: 'disk_failed', 13: 'disk_full' }

const TEXTS: Readonly<Record<DiskFault, string>> = {
  disk_full: 'the disk of SQLite is full',
  disk_read_only: 'the disk of SQLite is read-only',
  disk_failed: 'the disk of SQLite fails',
}

export function watchDisk(
  database: DatabaseSync,
  path: string,
  { beginWriting, endReading }: Pick<Transactions, 'beginWriting' | 'endReading'>,
): Disk {
  let isFailing = false
  const fill = database.prepare(`insert into settings (name, value) values ('disk-probe', printf('%.*c', ?, 'x'))`)
  const empty = database.prepare(`delete from settings where name = 'disk-probe'`)

  function failed(cause: unknown): StoreUnavailable {
    isFailing = true
    const fault = visibleFault(path) ?? FAULTS[primaryCode(cause) ?? 0]
    return new StoreUnavailable(fault === undefined ? 'SQLite could not write' : TEXTS[fault], cause, fault)
  }

  function probe(): void {
    endReading()
    // A commit is under way, which will show the same.
    if (database.isTransaction) throw new StoreUnavailable('SQLite could not write')
    try {
      beginWriting()
      fill.run(PROBE_BYTES)
      empty.run()
      database.exec('commit')
    } catch (cause) {
      if (database.isTransaction) database.exec('rollback')
      throw failed(cause)
    }
    isFailing = false
  }

  return {
    failed,
    succeeded: () => void (isFailing = false),
    require() {
      const fault = visibleFault(path)
      if (fault !== undefined) throw new StoreUnavailable(TEXTS[fault], undefined, fault)
      if (isFailing) probe()
    },
  }
}

/** Returns how many bytes this process can still write to the disk of a file. */
export function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(dirname(path))
  return bavail * bsize
}

function visibleFault(path: string): DiskFault | undefined {
  try {
    accessSync(path, constants.W_OK)
    return freeBytes(path) < FREE_BYTES_MIN ? 'disk_full' : undefined
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EROFS' ? 'disk_read_only' : undefined
  }
}
