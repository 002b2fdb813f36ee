import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'

/** https://sqlite.org/fileformat2.html#the_write_ahead_log */
const LOG_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
/** In page 1: the file change counter. */
const COUNTER_OFFSET = 24
/** A command may be moving the log into the file meanwhile. */
const TRIES = 3
const PAUSE_MS = 100

/**
 * Rejects a write-ahead log that was not written for the file beside it, for example after an older copy was put in the place
 * of a file whose server was killed. SQLite would mix the pages of both. No server may have the file open.
 *
 * The file change counter in page 1 grows by at most one with each version of that page. The file has the version before the
 * log, or one of the log. A log without a version of page 1 cannot be checked.
 *
 * @throws Error that says what to do
 */
export function refuseForeignLog(path: string): void {
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (fitsTogether(path)) return
    // The process is starting, so a blocking wait delays nothing else.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
  }
  throw new Error(
    `${path}-wal is the log of another file than ${path}, or of an older state of it. If you have put a copy there, move ${path}-wal and ${path}-shm away, and revoke what was revoked since the copy was made. "grantor restore" does both.`,
  )
}

function fitsTogether(path: string): boolean {
  const counter = readCounter(path)
  const { all, first } = readLoggedCounters(`${path}-wal`)
  return counter === undefined || first === undefined || all.includes(counter) || first === counter + 1
}

/** Returns undefined for a file that is missing or that has no page yet. */
function readCounter(path: string): number | undefined {
  return withFile(path, (file) => {
    const page = Buffer.alloc(COUNTER_OFFSET + 4)
    return readSync(file, page, 0, page.length, 0) < page.length ? undefined : page.readUInt32BE(COUNTER_OFFSET)
  })
}

/** The counters of all versions of page 1 in the log, oldest first. The last transaction may be incomplete. */
function readLoggedCounters(path: string): { readonly all: readonly number[]; readonly first: number | undefined } {
  const all: number[] = []
  const first = withFile(path, (file) => {
    const { size } = fstatSync(file)
    const header = Buffer.alloc(LOG_HEADER_BYTES)
    if (readSync(file, header, 0, LOG_HEADER_BYTES, 0) < LOG_HEADER_BYTES) return undefined
    const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(8)
    const frame = Buffer.alloc(FRAME_HEADER_BYTES + COUNTER_OFFSET + 4)
    let [commits, commitsBefore] = [0, 0]
    for (let at = LOG_HEADER_BYTES; at + frameBytes <= size; at += frameBytes) {
      readSync(file, frame, 0, frame.length, at)
      // The frames of an earlier log have other salts.
      if (!frame.subarray(8, 16).equals(header.subarray(16, 24))) break
      if (frame.readUInt32BE(0) === 1) {
        if (all.length === 0) commitsBefore = commits
        all.push(frame.readUInt32BE(FRAME_HEADER_BYTES + COUNTER_OFFSET))
      }
      if (frame.readUInt32BE(4) !== 0) commits += 1
    }
    return commits > commitsBefore + 1 ? all[0] : undefined
  })
  return { all, first }
}

/** Returns undefined if the path is not that of a file. */
function withFile<T>(path: string, read: (file: number) => T): T | undefined {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined
  const file = openSync(path, 'r')
  try {
    return read(file)
  } finally {
    closeSync(file)
  }
}
