import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import type { FileWatch } from './database-file.ts'

/** What moves the write-ahead log into the database file. */
export interface Checkpoints {
  /** Whether the log is being cut, so that nobody can write. */
  readonly isCutting: () => boolean
  readonly stop: () => Promise<void>
}

/** What the thread that moves the log is told. */
export interface CheckpointOrder {
  readonly path: string
  /** 1 while it holds the lock of those who write. */
  readonly cutting: Int32Array<SharedArrayBuffer>
}

/** SQLite's own number: https://sqlite.org/pragma.html#pragma_wal_autocheckpoint */
const PAGES_BETWEEN = 1000

/** A thread takes 10 MB, and as long to start as all else that a store does to open. A shorter log is no work for it. */
const WORTHWHILE_BYTES = 1024 * 1024
const LOOK_INTERVAL_MS = 1000

/** Leaves checkpoints to a thread of their own once so much is written. Until then SQLite makes them itself. */
export function startCheckpoints(
  database: DatabaseSync,
  path: string,
  { isInPlace }: Pick<FileWatch, 'isInPlace'>,
): Checkpoints {
  let thread: Checkpoints | undefined
  const timer = setInterval(() => {
    const log = statSync(`${path}-wal`, { throwIfNoEntry: false })
    // To open another file there, or none, would remove the log of this one.
    if (log === undefined || log.size < WORTHWHILE_BYTES || !isInPlace()) return
    clearInterval(timer)
    thread = startThread(database, path)
  }, LOOK_INTERVAL_MS).unref()
  return {
    isCutting: () => thread?.isCutting() ?? false,
    async stop() {
      clearInterval(timer)
      await thread?.stop()
    },
  }
}

/** SQLite makes checkpoints again should the thread end: the log must not grow for ever. */
function startThread(database: DatabaseSync, path: string): Checkpoints {
  database.exec('pragma wal_autocheckpoint = 0')
  const cutting = new Int32Array(new SharedArrayBuffer(4))
  const workerData: CheckpointOrder = { path, cutting }
  const worker = new Worker(new URL('./checkpoint-worker.js', import.meta.url), { workerData })
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
