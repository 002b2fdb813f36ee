import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

/** What a process did to a file below the folder, or to the names there, as recorder.c writes it. */
export type Recorded =
  | { readonly kind: 'open'; readonly inode: number; readonly name: string; readonly empties: boolean }
  | { readonly kind: 'write'; readonly inode: number; readonly offset: number; readonly data: Buffer }
  | { readonly kind: 'truncate'; readonly inode: number; readonly size: number }
  | { readonly kind: 'begin-sync' | 'end-sync'; readonly inode: number }
  | { readonly kind: 'rename' | 'link'; readonly name: string; readonly other: string }
  | { readonly kind: 'unlink' | 'mkdir'; readonly name: string }

export type FileRecord = Recorded & {
  /** Of the monotonic clock, which is that of `process.hrtime`. */
  readonly atNs: bigint
}

const HEADER_BYTES = 40
const KINDS = ['', 'open', 'write', 'truncate', 'begin-sync', 'end-sync', 'rename', 'unlink', 'link', 'mkdir'] as const
/** fcntl.h of Linux. */
const O_TRUNC = 0o1000

/** Reads the records of recorder.c. The names are paths in the folder; the folder itself has the name ''. */
export function readRecords(path: string, folder: string): readonly FileRecord[] {
  const bytes = readFileSync(path)
  const records: FileRecord[] = []
  for (let at = 0; at < bytes.length;) {
    const [operation, pathLength, otherLength, dataLength] = [0, 4, 8, 12].map((place) =>
      bytes.readUInt32LE(at + place),
    )
    const atNs = bytes.readBigUInt64LE(at + 16)
    const inode = Number(bytes.readBigUInt64LE(at + 24))
    const offset = Number(bytes.readBigInt64LE(at + 32))
    at += HEADER_BYTES
    const take = (length = 0): Buffer => bytes.subarray(at, (at += length))
    const nameOf = (length = 0): string => (length === 0 ? '' : relative(folder, take(length).toString()))
    const [name, other] = [nameOf(pathLength), nameOf(otherLength)]
    const data = take(dataLength)
    const kind = KINDS[operation ?? 0]
    switch (kind) {
      case 'open':
        records.push({ kind, atNs, inode, name, empties: (offset & O_TRUNC) !== 0 })
        break
      case 'write':
        records.push({ kind, atNs, inode, offset, data })
        break
      case 'truncate':
        records.push({ kind, atNs, inode, size: offset })
        break
      case 'begin-sync':
      case 'end-sync':
        records.push({ kind, atNs, inode })
        break
      case 'rename':
      case 'link':
        records.push({ kind, atNs, name, other })
        break
      case 'unlink':
      case 'mkdir':
        records.push({ kind, atNs, name })
        break
      default:
        throw new Error(`The record at ${at} has the operation ${operation}.`)
    }
  }
  return records
}
