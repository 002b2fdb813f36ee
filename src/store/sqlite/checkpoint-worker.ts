import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

/**
 * Moves the write-ahead log into the database file, away from the thread that answers requests: a checkpoint there makes
 * one commit in a thousand wait for tens of milliseconds.
 */
const { path } = workerData as { readonly path: string }

const INTERVAL_MS = 250
/** A log that grew past this is cut back, which makes writers wait for once. */
const LOG_LIMIT_BYTES = 64 * 1024 * 1024

const database = new DatabaseSync(path, { timeout: 20 })
database.exec('pragma synchronous = full')
const timer = setInterval(checkpoint, INTERVAL_MS)

function checkpoint(): void {
  const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (logBytes === 0) return
  try {
    database.prepare(`pragma wal_checkpoint(${logBytes > LOG_LIMIT_BYTES ? 'truncate' : 'passive'})`).all()
  } catch {
    // Nothing is lost by a checkpoint that fails: the log keeps everything, and the next tick tries again.
  }
}

parentPort?.once('message', () => {
  clearInterval(timer)
  database.close()
  parentPort?.close()
})
