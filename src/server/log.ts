import { fstatSync, write, writeSync } from 'node:fs'
import { StoreUnavailable } from '../ports/store.ts'
import type { EventFields } from '../protocol/event-names.ts'

/**
 * One line of JSON an event. Fields are data of ours: nothing that a caller sent stands in them (threats.md NET-10). Of an
 * error in `err` its type, message, stack and causes are told.
 */
export interface Log {
  readonly debug: (fields: EventFields) => void
  readonly info: (fields: EventFields) => void
  readonly warn: (fields: EventFields) => void
  readonly error: (fields: EventFields) => void
  readonly flush: LineWriter['flush']
  /** A log on which every line has these fields. */
  readonly with: (fields: object) => Log
}

export type LogLevel = keyof typeof LEVELS | 'silent'

/** As the widespread loggers number them, so that their readers understand ours. */
const LEVELS = { debug: 20, info: 30, warn: 40, error: 50 } as const

/** How many causes of causes are told. */
const CAUSE_DEPTH = 4

/** A log that writes what is at least of this level, each line with the fields `always`. */
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

/** Chosen fields only: what else hangs on an error may hold anything. */
function describeCause(cause: unknown, depth = 1, isBug = !(cause instanceof StoreUnavailable)): object | undefined {
  if (cause === undefined || depth > CAUSE_DEPTH) return undefined
  if (!(cause instanceof Error)) return { type: typeof cause }
  const { name, message } = cause
  // What makes a store unavailable is no bug of ours, and comes with every request while it lasts.
  const stack = isBug ? cause.stack : undefined
  return { type: name, message, stack, cause: describeCause(cause.cause, depth + 1, isBug) }
}

/** Where lines go. */
export interface LineWriter {
  readonly write: (line: string) => void
  /** Resolves when everything is written. */
  readonly flush: () => Promise<void>
}

/** Several processes may share an output: a pipe takes this much without mixing it with what others write (pipe(7), PIPE_BUF). */
const PIECE_BYTES = 4096
/** Pieces kept while nobody reads, 16 MiB. Beyond it lines are lost: memory that runs out would lose more. */
const BACKLOG_LIMIT = 4096
const BUSY_PAUSE_MS = 10

/**
 * Writes whole lines to a file descriptor, many at a time. A file takes them at once; whoever reads a pipe may be slow, so
 * that is written in the background.
 */
export function openLineWriter(descriptor: number): LineWriter {
  const isFile = fstatSync(descriptor).isFile()
  const backlog: string[] = []
  let piece = ''
  let underWay: Promise<void> | undefined

  function passOn(): void {
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
      // All of it is ASCII but for the causes of bugs, so characters are bytes.
      if (piece.length + line.length > PIECE_BYTES) passOn()
      piece += line
    },
    async flush() {
      passOn()
      await underWay
    },
  }
}

/** A disk that is full must not stop the server. */
function writeNow(descriptor: number, text: string): void {
  try {
    writeSync(descriptor, text)
  } catch {
    return
  }
}

/** Never fails: there is nowhere to say that the log cannot be written. */
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
