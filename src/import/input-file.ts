import { hash, createHash } from 'node:crypto'
import { isUtf8 } from 'node:buffer'
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { isObject, parseJson, type JsonObject } from '../base/json.ts'

/** A line of a file with a record on each. `value`: undefined if the line is not acceptable. */
export interface RecordLine {
  readonly line: number
  readonly value: JsonObject | undefined
}

const CHUNK_BYTES = 1024 * 1024
/** Of one line. Longer ones are not kept in memory. */
const LINE_BYTES = 1024 * 1024
const DOCUMENT_BYTES = 256 * 1024 * 1024
const DEPTH_LIMIT = 16
const NEWLINE = 0x0a
const GZIP = Buffer.from([0x1f, 0x8b])
/** RFC 8259 §8.1 allows a parser to ignore a byte order mark. */
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

/** Reads a file with a record on each line. Empty lines are ignored. @throws Error when the file cannot be read */
export function* readRecordLines(path: string): Generator<RecordLine> {
  let line = 0
  for (const bytes of readLines(path)) {
    line += 1
    if (bytes === 'too-long') yield { line, value: undefined }
    else if (!isBlank(bytes)) yield { line, value: readObject(bytes) }
  }
}

/** Reads a file that is one JSON document. @throws Error when the file cannot be read, or is not one */
export function readDocument(path: string): unknown {
  const { size } = named(path, () => statSync(path))
  if (size > DOCUMENT_BYTES) throw new Error(`${path} has more than ${DOCUMENT_BYTES / 1024 / 1024} MiB.`)
  const bytes = withoutMark(named(path, () => readFileSync(path)))
  const value = isUtf8(bytes) ? parseJson(bytes.toString()) : undefined
  if (value === undefined) throw new Error(`${path} is not a JSON document in UTF-8.`)
  return value
}

/** Whether a value of JSON is an object that can be used. What is nested deeply, or would change prototypes, is not. */
export function isAcceptable(value: unknown): value is JsonObject {
  return isObject(value) && isPlain(value, 1)
}

/** The SHA-256 of files together, which tells whether one has changed. */
export function digestOf(paths: readonly string[]): string {
  const digests = paths.map((path) => {
    const digest = createHash('sha256')
    for (const chunk of readChunks(path)) digest.update(chunk)
    return digest.digest('hex')
  })
  return digests.length === 1 ? String(digests[0]) : hash('sha256', digests.join('\n'))
}

/** Reads the lines of a file, without their ends. @throws Error when the file cannot be read */
export function* readLines(path: string): Generator<Buffer | 'too-long'> {
  let kept: Buffer[] = []
  let length = 0
  let isFirst = true
  const take = (): Buffer | 'too-long' => {
    const bytes = length > LINE_BYTES ? ('too-long' as const) : Buffer.concat(kept)
    ;[kept, length] = [[], 0]
    return bytes
  }
  for (const chunk of readChunks(path)) {
    if (isFirst && chunk.subarray(0, GZIP.length).equals(GZIP))
      throw new Error(`${path} is compressed. Unpack it first.`)
    let start = isFirst ? chunk.length - withoutMark(chunk).length : 0
    isFirst = false
    for (let end = chunk.indexOf(NEWLINE, start); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end))
      yield take()
      start = end + 1
    }
    keep(chunk.subarray(start))
  }
  if (length > 0) yield take()

  function keep(part: Buffer): void {
    length += part.length
    // The chunk is overwritten by the next one. Of a line that is too long nothing is kept.
    if (length > LINE_BYTES) kept = []
    else if (part.length > 0) kept.push(Buffer.from(part))
  }
}

function* readChunks(path: string): Generator<Buffer> {
  const file = named(path, () => openSync(path, 'r'))
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    for (;;) {
      const count = named(path, () => readSync(file, chunk))
      if (count === 0) return
      yield chunk.subarray(0, count)
    }
  } finally {
    closeSync(file)
  }
}

/** Whether a line has nothing. */
export function isBlank(bytes: Buffer): boolean {
  return bytes.length === 0 || (bytes.length < 64 && bytes.toString('latin1').trim() === '')
}

function readObject(bytes: Buffer): JsonObject | undefined {
  const value = isUtf8(bytes) ? parseJson(bytes.toString()) : undefined
  return isAcceptable(value) ? value : undefined
}

function isPlain(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return isText(value)
  if (typeof value !== 'object' || value === null) return true
  if (depth > DEPTH_LIMIT) return false
  if (Array.isArray(value)) return value.every((one) => isPlain(one, depth + 1))
  return Object.entries(value).every(([name, one]) => name !== '__proto__' && isText(name) && isPlain(one, depth + 1))
}

function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

function withoutMark(bytes: Buffer): Buffer {
  const isMarked = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
  return isMarked ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes
}

function named<T>(path: string, use: () => T): T {
  try {
    return use()
  } catch (cause) {
    throw new Error(`${path} cannot be read: ${(cause as NodeJS.ErrnoException).code}`, { cause })
  }
}
