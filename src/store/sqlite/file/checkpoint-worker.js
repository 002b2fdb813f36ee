import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { BRIEF_MS, checkpoint, LOG_LIMITS } from './checkpoint.js'

/** @import { CheckpointOrder } from './checkpoints.ts' */

/**
 * Moves the write-ahead log into the database file, outside the thread that serves requests: a checkpoint there makes one
 * commit in a thousand wait for tens of milliseconds. This file and its imports are JavaScript, because each thread that
 * reads TypeScript loads its own compiler, which takes 22 MB.
 *
 * @type {CheckpointOrder}
 */
const { path, cutting } = workerData

/**
 * Under load most pages are written again and again. What is moved once a second costs a redeemed code 1.7 µs of processor time; four times
 * a second it is 4.1 µs.
 */
const INTERVAL_MS = 1000

/** After a log could not be truncated, for how many intervals it is only moved: writers may have waited for seconds. */
const REST_INTERVALS = 30
const ONLY_MOVED = { ...LOG_LIMITS, cutBytes: Infinity }
let rest = 0

const database = new DatabaseSync(path, { timeout: BRIEF_MS })
database.exec('pragma synchronous = full')
const timer = setInterval(tick, INTERVAL_MS)

function tick() {
  const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (logBytes === 0) return
  try {
    rest = Math.max(0, rest - 1)
    const limits = rest > 0 ? ONLY_MOVED : LOG_LIMITS
    if (checkpoint(database, logBytes, limits, () => Atomics.store(cutting, 0, 1)) === 'held') rest = REST_INTERVALS
  } catch {
    // A checkpoint that fails loses nothing: the log keeps everything, and the next tick tries again.
  } finally {
    Atomics.store(cutting, 0, 0)
  }
}

parentPort?.once('message', () => {
  clearInterval(timer)
  database.close()
  parentPort?.close()
})
