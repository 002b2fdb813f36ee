import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { completeName, createDraft, syncFolder } from '../../files/durable-file.ts'
import { HEADER_LIMIT_BYTES, LINE_LIMIT_BYTES } from './lines.ts'
import type { Slice } from './tables.ts'

/** The first line of a backup. Each other line is the head of a table, a row, or the end. */
export interface BackupHeader {
  readonly format: 'grantor-backup'
  readonly version: 1
  /** The release that made the backup. */
  readonly release: string
  /** The version of the newest migration. */
  readonly schema: number
  /** `schemaDigest` of the migrations up to it. */
  readonly schema_digest: string
  readonly issuer: string
  /** ISO 8601, UTC. */
  readonly made_at: string
  /** The master key, encrypted under the root secret; null: the root secret is the master key. */
  readonly master_key: string | null
  /** A fixed text, keyed with the master key. */
  readonly secret_check: string
  /** Present in a final export: the store was closed before, and the file has all of it. */
  readonly final?: true
}

/** The line before the rows of a table. */
export interface TableHead {
  readonly table: string
  readonly columns: readonly string[]
}

/** The last line. */
export interface BackupEnd {
  readonly end: {
    readonly rows: Readonly<Record<string, number>>
    /** SHA-256 of all lines before, in hexadecimal. */
    readonly sha256: string
    /** The checksum, keyed with the master key: without it, a backup cannot be changed. */
    readonly mac: string
  }
}

/** What a backup contains: rows by table, and bytes. */
export interface Written {
  readonly rows: Readonly<Record<string, number>>
  readonly bytes: number
}

/** The end of the name of a file that is still being written. */
const DRAFT = '.partial'
const BUFFER_BYTES = 1024 * 1024
const NAME_LENGTH = 100

/**
 * Writes a backup, readable by its owner only. The file gets its name after its content is on disk, so under that name it is
 * always complete. An existing file is replaced.
 *
 * @throws NodeJS.ErrnoException of the system call that failed
 */
export async function writeBackup(
  path: string,
  header: BackupHeader,
  slices: AsyncIterable<Slice>,
  authenticate: (sha256: string) => string,
): Promise<Written> {
  const { path: draft, file } = createDraft(path, DRAFT)
  try {
    const written = await writeLines(file, header, slices, authenticate)
    fsyncSync(file)
    renameSync(draft, path)
    syncFolder(dirname(path))
    return written
  } catch (cause) {
    rmSync(draft, { force: true })
    throw cause
  } finally {
    closeSync(file)
  }
}

/** Returns the name that a draft would get when it is complete; undefined if the name is not that of a draft. */
export function draftOf(name: string): string | undefined {
  return completeName(name, DRAFT)
}

async function writeLines(
  file: number,
  header: BackupHeader,
  slices: AsyncIterable<Slice>,
  authenticate: (sha256: string) => string,
): Promise<Written> {
  const hash = createHash('sha256')
  const counts: Record<string, number> = {}
  let waiting = ''
  let bytes = 0
  const flush = (): void => {
    const chunk = Buffer.from(waiting)
    hash.update(chunk)
    writeAll(file, chunk)
    bytes += chunk.length
    waiting = ''
  }
  waiting += lineOf(header, HEADER_LIMIT_BYTES, () => 'The header')
  for await (const { table, columns, rows } of slices) {
    if (counts[table] === undefined)
      waiting += lineOf({ table, columns } satisfies TableHead, LINE_LIMIT_BYTES, () => `The head of ${table}`)
    counts[table] = (counts[table] ?? 0) + rows.length
    for (const row of rows) waiting += lineOf(row, LINE_LIMIT_BYTES, () => `The row ${nameOf(row)} of ${table}`)
    if (waiting.length > BUFFER_BYTES) flush()
  }
  flush()
  const sha256 = hash.digest('hex')
  const end: BackupEnd = { end: { rows: counts, sha256, mac: authenticate(sha256) } }
  const last = Buffer.from(`${JSON.stringify(end)}\n`)
  writeAll(file, last)
  return { rows: counts, bytes: bytes + last.length }
}

/** Refuses a line that a restore would refuse. `name`: the subject of the message. */
function lineOf(value: unknown, limit: number, name: () => string): string {
  const line = `${JSON.stringify(value)}\n`
  // A character has at most three bytes for each of its code units.
  if (line.length * 3 > limit && Buffer.byteLength(line) > limit) {
    throw new Error(`${name()} has more than ${limit} bytes, which a line of a backup cannot have.`)
  }
  return line
}

/** The first column of each table is the key, or the start of it, and none is a secret. */
function nameOf([key]: readonly unknown[]): string {
  return String(key).slice(0, NAME_LENGTH)
}

function writeAll(file: number, chunk: Buffer): void {
  for (let written = 0; written < chunk.length;) written += writeSync(file, chunk, written)
}
