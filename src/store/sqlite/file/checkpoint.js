/** @import { DatabaseSync } from 'node:sqlite' */

/**
 * The limits of the write-ahead log's length.
 *
 * @typedef {object} LogLimits
 * @property {number} cutBytes A log that is longer than this is truncated.
 * @property {number} restPages It is truncated only if at most this many of its pages are not in the file yet, because
 *   writers wait until these are moved.
 * @property {number} mostBytes A log that is longer than this is truncated in any case: the disk is slower than the writers,
 *   so they must wait.
 */

const MEGABYTE = 1024 * 1024
/** @type {Readonly<LogLimits>} */
export const LOG_LIMITS = { cutBytes: 64 * MEGABYTE, restPages: 512, mostBytes: 256 * MEGABYTE }

/**
 * Each pass moves what was written during the previous one, so passes get shorter while the disk is faster than the writers.
 */
const MOST_PASSES = 8

/**
 * Moves the log into the database file while other connections read and write, and truncates it when it is too long.
 * Truncating holds the write lock until everything is moved and synced, so nearly all of it is moved before; `onCutting` is
 * called immediately before. Returns whether the log was truncated. Throws if another connection is in the way; the next
 * call then tries again.
 *
 * @param {DatabaseSync} database
 * @param {number} logBytes
 * @param {Readonly<LogLimits>} limits
 * @param {() => void} onCutting
 */
export function checkpoint(database, logBytes, limits, onCutting) {
  let missingPages = moveLog(database, 'passive')
  if (logBytes <= limits.cutBytes) return false
  for (let pass = 1; missingPages > limits.restPages && pass < MOST_PASSES; pass += 1) {
    missingPages = moveLog(database, 'passive')
  }
  if (missingPages > limits.restPages && logBytes <= limits.mostBytes) return false
  onCutting()
  return moveLog(database, 'truncate') === 0
}

/**
 * Moves the log, and returns how many of its pages are not in the file yet. https://sqlite.org/pragma.html#pragma_wal_checkpoint
 *
 * @param {DatabaseSync} database
 * @param {'passive' | 'truncate'} mode
 */
function moveLog(database, mode) {
  const counts = database.prepare(`pragma wal_checkpoint(${mode})`).get()
  return Number(counts?.['log']) - Number(counts?.['checkpointed'])
}
