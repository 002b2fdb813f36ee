import type { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import type { CheckpointOrder } from './checkpoint.ts'

/** What moves the write-ahead log into the database file. */
export interface Checkpoints {
  /** Whether the log is being cut, so that nobody can write. */
  readonly isCutting: () => boolean
  readonly stop: () => Promise<void>
}

/** SQLite's own number: https://sqlite.org/pragma.html#pragma_wal_autocheckpoint */
const PAGES_BETWEEN = 1000

/** A thread takes as long to start as all else that a store does to open, and so soon there is no log to move. */
const START_AFTER_MS = 1000

/** Leaves checkpoints to a thread of their own soon. Until then SQLite makes them itself. */
export function startCheckpoints(database: DatabaseSync, path: string): Checkpoints {
  let thread: Checkpoints | undefined
  const timer = setTimeout(() => (thread = startThread(database, path)), START_AFTER_MS).unref()
  return {
    isCutting: () => thread?.isCutting() ?? false,
    async stop() {
      clearTimeout(timer)
      await thread?.stop()
    },
  }
}

/** SQLite makes checkpoints again should the thread end: the log must not grow for ever. */
function startThread(database: DatabaseSync, path: string): Checkpoints {
  database.exec('pragma wal_autocheckpoint = 0')
  const cutting = new Int32Array(new SharedArrayBuffer(4))
  const workerData: CheckpointOrder = { path, cutting }
  const worker = new Worker(new URL('./checkpoint-worker.ts', import.meta.url), { workerData })
  worker.unref()
  let isStopping = false
  const ended = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      Atomics.store(cutting, 0, 0)
      if (!isStopping) database.exec(`pragma wal_autocheckpoint = ${PAGES_BETWEEN}`)
      resolve()
    })
  })
  // A thread that fails ends. Unheard, its error would end the process too.
  worker.on('error', () => undefined)
  return {
    isCutting: () => Atomics.load(cutting, 0) === 1,
    async stop() {
      isStopping = true
      // Counted again: a process that waits for nothing else would end before the worker did.
      worker.ref()
      worker.postMessage('stop')
      await ended
    },
  }
}
