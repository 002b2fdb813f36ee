import type { DatabaseSync } from 'node:sqlite'

/** What the thread that moves the log is told. */
export interface CheckpointOrder {
  readonly path: string
  /** 1 while it holds the lock of those who write. */
  readonly cutting: Int32Array<SharedArrayBuffer>
}

/** How far the write-ahead log may grow. */
export interface LogLimits {
  /** A log that grew past this is cut. */
  readonly cutBytes: number
  /** Only while no more of it than this is missing in the file: until that is moved, writers wait. */
  readonly restPages: number
  /** Past this it is cut whatever is missing: then the disk is slower than those who write, and they must wait. */
  readonly mostBytes: number
}

const MEGABYTE = 1024 * 1024
export const LOG_LIMITS: LogLimits = { cutBytes: 64 * MEGABYTE, restPages: 512, mostBytes: 256 * MEGABYTE }

/** Each moves what was written while the one before ran, so they get shorter while the disk is faster than the writers. */
const MOST_PASSES = 8

/**
 * Moves the log into the database file, beside those who read and write, and cuts it when it grew too long. Cutting holds
 * the writers' lock until all is moved and synced, so nearly all is moved before; `onCutting` is called at the last moment
 * before. Answers whether it was cut. Throws when another connection is in the way: then the next time will do.
 */
export function checkpoint(
  database: DatabaseSync,
  logBytes: number,
  limits: LogLimits,
  onCutting: () => void,
): boolean {
  let missingPages = moveLog(database, 'passive')
  if (logBytes <= limits.cutBytes) return false
  for (let pass = 1; missingPages > limits.restPages && pass < MOST_PASSES; pass += 1) {
    missingPages = moveLog(database, 'passive')
  }
  if (missingPages > limits.restPages && logBytes <= limits.mostBytes) return false
  onCutting()
  return moveLog(database, 'truncate') === 0
}

/** How many pages of the log are not in the file then. https://sqlite.org/pragma.html#pragma_wal_checkpoint */
function moveLog(database: DatabaseSync, mode: 'passive' | 'truncate'): number {
  const { log, checkpointed } = database.prepare(`pragma wal_checkpoint(${mode})`).get() as unknown as Counts
  return log - checkpointed
}

interface Counts {
  readonly log: number
  readonly checkpointed: number
}
