/** @import { DatabaseSync } from 'node:sqlite' */

/**
 * The limits of the write-ahead log's length.
 *
 * @typedef {object} LogLimits
 * @property {number} cutBytes A log that is longer than this is truncated.
 * @property {number} restPages It is truncated only if at most this many of its pages are not in the file yet, because
 *   writers wait until these are moved.
 * @property {number} mostBytes A log that is longer than this is truncated in any case, and writers must wait: the disk is slower than
 *   they are, or the snapshots of other processes overlap without a pause.
 */

const MEGABYTE = 1024 * 1024
/** @type {Readonly<LogLimits>} */
export const LOG_LIMITS = { cutBytes: 64 * MEGABYTE, restPages: 512, mostBytes: 256 * MEGABYTE }

/**
 * Each pass moves what was written during the previous one, so passes get shorter while the disk is faster than the writers.
 */
const MOST_PASSES = 8

/** How long a truncation waits for a lock while the log is not far too long. */
export const BRIEF_MS = 20
/** Writers do not wait for a snapshot that lasts longer than this, such as that of a backup. */
const LONGEST_SNAPSHOT_MS = 700
const LOOK_MS = 10

/**
 * Moves the log into the database file while other connections read and write, and truncates it when it is too long.
 * Truncating holds the write lock until everything is moved and synced, so nearly all of it is moved before; `onCutting` is
 * called immediately before. Returns `held` if snapshots of other connections keep a log that is far too long. Throws if another
 * connection is in the way; the next call then tries again.
 *
 * @param {DatabaseSync} database
 * @param {number} logBytes
 * @param {Readonly<LogLimits>} limits
 * @param {() => void} onCutting
 * @returns {'moved' | 'cut' | 'held'}
 */
export function checkpoint(database, logBytes, limits, onCutting) {
  let missingPages = moveLog(database, 'passive').missing
  if (logBytes <= limits.cutBytes) return 'moved'
  for (let pass = 1; missingPages > limits.restPages && pass < MOST_PASSES; pass += 1) {
    missingPages = moveLog(database, 'passive').missing
  }
  const isTooLong = logBytes > limits.mostBytes
  if (missingPages > limits.restPages && !isTooLong) return 'moved'
  const snapshotMs = isTooLong ? timeSnapshots(database) : 0
  if (snapshotMs === undefined) return 'held'
  onCutting()
  // First snapshots of an older state have to end, and then all that read from the log. Those that begin meanwhile read the file alone.
  database.exec(`pragma busy_timeout = ${BRIEF_MS + Math.ceil(3 * snapshotMs)}`)
  try {
    if (moveLog(database, 'truncate').missing === 0) return 'cut'
  } finally {
    database.exec(`pragma busy_timeout = ${BRIEF_MS}`)
  }
  return isTooLong ? 'held' : 'moved'
}

/**
 * Returns how long the snapshots that there are now last: until all that the log has now can be moved. Writers do not wait meanwhile.
 * undefined: too long for them to wait.
 *
 * @param {DatabaseSync} database
 */
function timeSnapshots(database) {
  const begun = performance.now()
  const { log } = moveLog(database, 'passive')
  for (;;) {
    const passedMs = performance.now() - begun
    // A log that was moved as a whole begins at its start again, and is shorter.
    const { checkpointed, missing } = moveLog(database, 'passive')
    if (missing === 0 || checkpointed >= log) return passedMs
    if (passedMs > LONGEST_SNAPSHOT_MS) return undefined
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS)
  }
}

/**
 * Moves the log, and returns how many pages it has, and how many of them are not in the file yet.
 * https://sqlite.org/pragma.html#pragma_wal_checkpoint
 *
 * @param {DatabaseSync} database
 * @param {'passive' | 'truncate'} mode
 */
function moveLog(database, mode) {
  const counts = database.prepare(`pragma wal_checkpoint(${mode})`).get()
  const [log, checkpointed] = [Number(counts?.['log']), Number(counts?.['checkpointed'])]
  return { log, checkpointed, missing: log - checkpointed }
}
