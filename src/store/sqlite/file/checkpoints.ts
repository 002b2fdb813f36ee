import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { CHECKPOINT_THREAD } from './checkpoint-thread.ts'
import type { FileWatch } from './database-file.ts'

/** Moves the write-ahead log into the database file. */
export interface Checkpoints {
  /** Whether the log is being truncated. No connection can write meanwhile. */
  readonly isCutting: () => boolean
  readonly stop: () => Promise<void>
}

/** What the checkpoint thread gets when it starts. */
export interface CheckpointOrder {
  readonly path: string
  /** 1 while the thread holds the write lock. */
  readonly cutting: Int32Array<SharedArrayBuffer>
}

/** SQLite's own default: https://sqlite.org/pragma.html#pragma_wal_autocheckpoint */
const PAGES_BETWEEN = 1000

/**
 * The log size from which a thread is worth its cost: it takes 10 MB, and as long to start as opening the rest of the store.
 */
const WORTHWHILE_BYTES = 1024 * 1024
const LOOK_INTERVAL_MS = 1000

/** Leaves checkpoints to a thread once the log is large enough. Until then SQLite makes them itself. */
export function startCheckpoints(
  database: DatabaseSync,
  path: string,
  { isInPlace }: Pick<FileWatch, 'isInPlace'>,
): Checkpoints {
  let thread: Checkpoints | undefined
  const timer = setInterval(() => {
    const log = statSync(`${path}-wal`, { throwIfNoEntry: false })
    // If the database file was moved or replaced, opening the path would remove the log of the file that is open here.
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

/** If the thread ends, SQLite makes checkpoints again: the log must not grow without limit. */
function startThread(database: DatabaseSync, path: string): Checkpoints {
  database.exec('pragma wal_autocheckpoint = 0')
  const cutting = new Int32Array(new SharedArrayBuffer(4))
  const workerData: CheckpointOrder = { path, cutting }
  const worker = new Worker(CHECKPOINT_THREAD, { workerData })
  worker.unref()
  let isStopping = false
  const ended = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      Atomics.store(cutting, 0, 0)
      if (!isStopping) database.exec(`pragma wal_autocheckpoint = ${PAGES_BETWEEN}`)
      resolve()
    })
  })
  // A thread that fails ends. Without a listener its error would end the process as well.
  worker.on('error', () => undefined)
  return {
    isCutting: () => Atomics.load(cutting, 0) === 1,
    async stop() {
      isStopping = true
      // Ends the unref: otherwise a process that waits for nothing else would exit before the worker has.
      worker.ref()
      worker.postMessage('stop')
      await ended
    },
  }
}
