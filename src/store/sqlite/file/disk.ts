import { accessSync, constants, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { StoreRefusesWrites, StoreUnavailable } from '../../../ports/store.ts'
import type { WriteFault } from '../../../base/write-fault.ts'
import { primaryCode } from '../database.ts'
import type { Transactions } from './transactions.ts'

/** What is known about the disk of an open database. */
export interface Disk {
  /** Returns the error of a write that failed, and remembers the failure until `require` has made a write. */
  readonly failed: (cause: unknown) => StoreUnavailable
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

const COULD_NOT_WRITE = 'SQLite could not write'

/** By SQLite's primary result code: https://sqlite.org/rescode.html */
const FAULTS: Readonly<Record<number, WriteFault>> = { 8: 'disk_read_only', 10: 'disk_failed', 13: 'disk_full' }

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
    return fault === undefined ? new StoreUnavailable(COULD_NOT_WRITE, cause) : new StoreRefusesWrites(fault, cause)
  }

  function probe(): void {
    endReading()
    // A commit is under way, which will show the same.
    if (database.isTransaction) throw new StoreUnavailable(COULD_NOT_WRITE)
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
    require() {
      const fault = visibleFault(path)
      if (fault !== undefined) throw new StoreRefusesWrites(fault)
      if (isFailing) probe()
    },
  }
}

/** Returns how many bytes this process can still write to the disk of a file. */
export function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(dirname(path))
  return bavail * bsize
}

function visibleFault(path: string): WriteFault | undefined {
  try {
    accessSync(path, constants.W_OK)
    return freeBytes(path) < FREE_BYTES_MIN ? 'disk_full' : undefined
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EROFS' ? 'disk_read_only' : undefined
  }
}
