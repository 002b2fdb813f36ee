/** @import { DatabaseSync } from 'node:sqlite' */

/**
 * How far the write-ahead log may grow.
 *
 * @typedef {object} LogLimits
 * @property {number} cutBytes A log that grew past this is cut.
 * @property {number} restPages Only while no more of it than this is missing in the file: until that is moved, writers wait.
 * @property {number} mostBytes Past this it is cut whatever is missing: then the disk is slower than those who write, and
 *   they must wait.
 */

const MEGABYTE = 1024 * 1024
/** @type {Readonly<LogLimits>} */
export const LOG_LIMITS = { cutBytes: 64 * MEGABYTE, restPages: 512, mostBytes: 256 * MEGABYTE }

/** Each moves what was written while the one before ran, so they get shorter while the disk is faster than the writers. */
const MOST_PASSES = 8

/**
 * Moves the log into the database file, beside those who read and write, and cuts it when it grew too long. Cutting holds
 * the writers' lock until all is moved and synced, so nearly all is moved before; `onCutting` is called at the last moment
 * before. Answers whether it was cut. Throws when another connection is in the way: then the next time will do.
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
 * How many pages of the log are not in the file then. https://sqlite.org/pragma.html#pragma_wal_checkpoint
 *
 * @param {DatabaseSync} database
 * @param {'passive' | 'truncate'} mode
 */
function moveLog(database, mode) {
  const counts = database.prepare(`pragma wal_checkpoint(${mode})`).get()
  return Number(counts?.['log']) - Number(counts?.['checkpointed'])
}
