import { fstatSync, write, writeSync } from 'node:fs'
import { nameSources } from '../files/stack.ts'
import { StoreUnavailable } from '../ports/store.ts'
import type { EventFields } from '../protocol/audit/event-names.ts'

/**
 * Writes one line of JSON for each event. The fields are the server's own data, and of what a caller sent only what threats.md
 * NET-10 lists. Of an error in `err`, the log has its type, message, stack and causes.
 */
export interface Log {
  readonly debug: (fields: EventFields) => void
  readonly info: (fields: EventFields) => void
  readonly warn: (fields: EventFields) => void
  readonly error: (fields: EventFields) => void
  readonly flush: LineWriter['flush']
  /** Returns a log that adds these fields to every line. */
  readonly with: (fields: object) => Log
}

export type LogLevel = keyof typeof LEVELS | 'silent'

/** The numbers that widespread loggers use, so that their tools can read this log. */
const LEVELS = { debug: 20, info: 30, warn: 40, error: 50 } as const

/** How many nested causes are logged. */
const CAUSE_DEPTH = 4

/** Opens a log that writes events of at least this level, with the fields `always` on each line. */
export function openLog(least: LogLevel, writer: LineWriter, always: object): Log {
  const fixed = Object.keys(always).length === 0 ? '' : `,${JSON.stringify(always).slice(1, -1)}`
  const from = least === 'silent' ? Number.POSITIVE_INFINITY : LEVELS[least]
  function log(level: number, fields: object): void {
    if (level < from) return
    const text = JSON.stringify('err' in fields ? { ...fields, err: describeCause(fields.err) } : fields)
    writer.write(`{"level":${level},"time":${Date.now()}${fixed}${text === '{}' ? '' : ','}${text.slice(1)}\n`)
  }
  return {
    debug: (fields) => log(LEVELS.debug, fields),
    info: (fields) => log(LEVELS.info, fields),
    warn: (fields) => log(LEVELS.warn, fields),
    error: (fields) => log(LEVELS.error, fields),
    flush: writer.flush,
    with: (fields) => openLog(least, writer, { ...always, ...fields }),
  }
}

/** Returns selected fields only, because other properties of an error may hold anything. */
function describeCause(cause: unknown, depth = 1, isBug = !(cause instanceof StoreUnavailable)): object | undefined {
  if (cause === undefined || depth > CAUSE_DEPTH) return undefined
  if (!(cause instanceof Error)) return { type: typeof cause }
  const { name, message } = cause
  // An unavailable store is not a bug, and while it lasts every request logs it.
  const stack = isBug && cause.stack !== undefined ? nameSources(cause.stack) : undefined
  return { type: name, message, stack, cause: describeCause(cause.cause, depth + 1, isBug) }
}

/** The output of a log. */
export interface LineWriter {
  readonly write: (line: string) => void
  /** Resolves when everything is written. */
  readonly flush: () => Promise<void>
}

/** Several processes may share an output. A pipe does not interleave writes of up to this size (pipe(7), PIPE_BUF). */
const PIECE_BYTES = 4096
/** Pieces that wait while the pipe is not read, 16 MiB. Further lines are lost: running out of memory would lose more. */
const BACKLOG_LIMIT = 4096
const BUSY_PAUSE_MS = 10

/**
 * Writes whole lines to a file descriptor, many at a time. A file is written synchronously. A pipe is written in the
 * background, because its reader may be slow.
 */
export function openLineWriter(descriptor: number): LineWriter {
  const isFile = fstatSync(descriptor).isFile()
  const backlog: string[] = []
  let piece = ''
  let underWay: Promise<void> | undefined

  function handOver(): void {
    if (piece !== '' && isFile) writeNow(descriptor, piece)
    else if (piece !== '' && backlog.length < BACKLOG_LIMIT) backlog.push(piece)
    piece = ''
    if (backlog.length > 0) underWay ??= writeBacklog()
  }

  async function writeBacklog(): Promise<void> {
    for (let next = backlog.shift(); next !== undefined; next = backlog.shift()) await writeAll(descriptor, next)
    underWay = undefined
  }

  return {
    write(line) {
      // Except for the causes of bugs a line is ASCII, so its length is its size in bytes.
      if (piece.length + line.length > PIECE_BYTES) handOver()
      piece += line
    },
    async flush() {
      handOver()
      await underWay
    },
  }
}

/** Ignores failures: a full disk must not stop the server. */
function writeNow(descriptor: number, text: string): void {
  try {
    writeSync(descriptor, text)
  } catch {
    return
  }
}

/** Never fails: there is nowhere to report that the log cannot be written. */
function writeAll(descriptor: number, text: string): Promise<void> {
  const bytes = Buffer.from(text)
  return new Promise((resolve) => {
    const writeFrom = (start: number): void =>
      write(descriptor, bytes, start, (cause, written) => {
        if (cause?.code === 'EAGAIN') setTimeout(writeFrom, BUSY_PAUSE_MS, start)
        else if (cause !== null || start + written >= bytes.length) resolve()
        else writeFrom(start + written)
      })
    writeFrom(0)
  })
}
