import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { MAXIMA } from '../../base/maxima.ts'

/** A backup has no longer header. */
export const HEADER_LIMIT_BYTES = MAXIMA.backupHeader.most
/** A backup has no longer line, and the store no longer row. */
export const LINE_LIMIT_BYTES = MAXIMA.backupLine.most
const CHUNK_BYTES = 1024 * 1024

/** Is called with each chunk of a file before the lines of the chunk are used, and with an empty chunk at the end. */
type ChunkObserver = (chunk: Buffer, index: number) => void

/**
 * Opens a file to read it. A named pipe, on which the reader would wait for a writer, is refused.
 *
 * @throws Error if the path is not a regular file
 */
export function openFile(path: string): number {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  if (fstatSync(file).isFile()) return file
  closeSync(file)
  throw new Error(`${path} is not a regular file.`)
}

/** Each line with its line break. A line over the limit is cut, and is the last. */
export function* linesOf(file: number, observe?: ChunkObserver): Generator<Buffer> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  let limit = HEADER_LIMIT_BYTES
  let rest = Buffer.alloc(0)
  for (let index = 0, length = -1; length !== 0; index += 1) {
    length = readChunk(file, chunk, index * CHUNK_BYTES)
    observe?.(chunk.subarray(0, length), index)
    const data = Buffer.concat([rest, chunk.subarray(0, length)])
    let start = 0
    for (let next = data.indexOf('\n'); next !== -1; next = data.indexOf('\n', start)) {
      const line = data.subarray(start, next + 1)
      yield line.subarray(0, limit)
      if (line.length > limit) return
      start = next + 1
      limit = LINE_LIMIT_BYTES
    }
    rest = data.subarray(start)
    if (rest.length > limit) break
  }
  if (rest.length > 0) yield rest.subarray(0, limit)
}

/** Records the digest of each chunk that is read. */
export function recordChunks(digests: string[]): ChunkObserver {
  return (chunk) => void digests.push(digestOf(chunk))
}

/** Compares each chunk with its recorded digest, so that a change of the file after its check is never used. */
export function checkChunks(path: string, digests: readonly string[]): ChunkObserver {
  return (chunk, index) => {
    if (digestOf(chunk) !== digests[index]) throw new Error(`${path} was changed while it was restored.`)
  }
}

function digestOf(chunk: Buffer): string {
  return createHash('sha256').update(chunk).digest('base64')
}

/** Fills the chunk, except at the end of the file. Returns the number of bytes. */
function readChunk(file: number, chunk: Buffer, position: number): number {
  let length = 0
  for (let read = -1; read !== 0 && length < chunk.length; length += read) {
    read = readSync(file, chunk, length, chunk.length - length, position + length)
  }
  return length
}
