import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { checkpoint, LOG_LIMITS } from './checkpoint.ts'

/**
 * Moves the write-ahead log into the database file, away from the thread that answers requests: a checkpoint there makes
 * one commit in a thousand wait for tens of milliseconds.
 */
const { path } = workerData as { readonly path: string }

const INTERVAL_MS = 250

const database = new DatabaseSync(path, { timeout: 20 })
database.exec('pragma synchronous = full')
const timer = setInterval(tick, INTERVAL_MS)

function tick(): void {
  const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (logBytes === 0) return
  try {
    checkpoint(database, logBytes, LOG_LIMITS)
  } catch {
    // Nothing is lost by a checkpoint that fails: the log keeps everything, and the next tick tries again.
  }
}

parentPort?.once('message', () => {
  clearInterval(timer)
  database.close()
  parentPort?.close()
})
