import { accessSync, constants, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { DatabaseSync } from 'node:sqlite'
import { StoreRefusesWrites, StoreUnavailable, type WriteProbes } from '../../../ports/store.ts'
import type { WriteFault } from '../../../base/write-fault.ts'
import { isBusy, primaryCode } from '../database.ts'
import type { Transactions } from './transactions.ts'

/** The disk of an open database, and whether it takes writes. */
export interface Disk extends WriteProbes {
  /** Returns the error of a write that failed. */
  readonly failed: (cause: unknown) => StoreUnavailable
}

/** With less, the next commit may not fit on the disk. */
const FREE_BYTES_MIN = 256 * 1024
/** As much as a commit of a few rows adds to the file and to its log. */
const PROBE_BYTES = 64 * 1024
const PAUSE_MS = 20

const COULD_NOT_WRITE = 'SQLite could not write'

/** By SQLite's primary result code: https://sqlite.org/rescode.html */
const FAULTS: Readonly<Record<number, WriteFault>> = { 8: 'disk_read_only', 10: 'disk_failed', 13: 'disk_full' }

export function watchDisk(
  database: DatabaseSync,
  path: string,
  {
    beginWriting,
    endReading,
    patienceMs,
  }: Pick<Transactions, 'beginWriting' | 'endReading'> & { readonly patienceMs: number },
): Disk {
  const fill = database.prepare(`insert into settings (name, value) values ('disk-probe', printf('%.*c', ?, 'x'))`)
  const empty = database.prepare(`delete from settings where name = 'disk-probe'`)

  function failed(cause: unknown): StoreUnavailable {
    const fault = visibleFault(path) ?? FAULTS[primaryCode(cause) ?? 0]
    return fault === undefined ? new StoreUnavailable(COULD_NOT_WRITE, cause) : new StoreRefusesWrites(fault, cause)
  }

  /** Writes without a pause for other work, so that a commit never finds its connection in this transaction. */
  function writeNow(): void {
    endReading()
    try {
      beginWriting()
      fill.run(PROBE_BYTES)
      empty.run()
      database.exec('commit')
    } catch (cause) {
      if (database.isTransaction) database.exec('rollback')
      throw cause
    }
  }

  /** Whether a write was made. A commit of this process or another process may be under way. */
  function tryWriting(): boolean {
    if (database.isTransaction) return false
    try {
      writeNow()
      return true
    } catch (cause) {
      if (isBusy(cause)) return false
      throw failed(cause)
    }
  }

  return {
    failed,
    pauseMs: 0,
    async look() {
      const fault = visibleFault(path)
      if (fault !== undefined) throw new StoreRefusesWrites(fault)
    },
    async write() {
      const deadline = performance.now() + patienceMs
      while (!tryWriting()) {
        if (performance.now() > deadline) throw new StoreRefusesWrites('store_locked')
        await delay(PAUSE_MS)
      }
    },
  }
}

/** Returns how many bytes this process can still write to the disk of a file. */
export function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(dirname(path))
  return bavail * bsize
}

/** Returns the length of the write-ahead log of a file. */
export function logBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
}

function visibleFault(path: string): WriteFault | undefined {
  try {
    accessSync(path, constants.W_OK)
    return freeBytes(path) < FREE_BYTES_MIN ? 'disk_full' : undefined
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EROFS' ? 'disk_read_only' : undefined
  }
}
