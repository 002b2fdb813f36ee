import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { checkpoint, LOG_LIMITS, type CheckpointOrder } from './checkpoint.ts'

/**
 * Moves the write-ahead log into the database file, away from the thread that answers requests: a checkpoint there makes
 * one commit in a thousand wait for tens of milliseconds.
 */
const { path, cutting } = workerData as CheckpointOrder

const INTERVAL_MS = 250

const database = new DatabaseSync(path, { timeout: 20 })
database.exec('pragma synchronous = full')
const timer = setInterval(tick, INTERVAL_MS)

function tick(): void {
  const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (logBytes === 0) return
  try {
    checkpoint(database, logBytes, LOG_LIMITS, () => Atomics.store(cutting, 0, 1))
  } catch {
    // Nothing is lost by a checkpoint that fails: the log keeps everything, and the next tick tries again.
  } finally {
    Atomics.store(cutting, 0, 0)
  }
}

parentPort?.once('message', () => {
  clearInterval(timer)
  database.close()
  parentPort?.close()
})
