import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { BACKUP_TABLES, STORED_TABLES, type Cells, type Slice } from './tables.ts'
import type { BackupEnd, BackupHeader, TableHead } from './write.ts'

/** A backup whose content was checked against its checksum and its counts. */
export interface CheckedBackup {
  readonly header: BackupHeader
  readonly rows: Readonly<Record<string, number>>
  readonly sha256: string
  readonly mac: string
  /** Reads the rows. */
  readonly slices: () => Iterable<Slice>
  readonly close: () => void
}

const CHUNK_BYTES = 1024 * 1024
const LINE_LIMIT_BYTES = 64 * 1024 * 1024
const ROWS_IN_SLICE = 1000

/**
 * Opens a backup and reads all of it, to find every damage before anything is written.
 *
 * @throws Error that says what is wrong with the file
 */
export function openBackup(path: string): CheckedBackup {
  const file = openSync(path, 'r')
  try {
    const { header, end } = check(path, file)
    return { header, ...end, slices: () => slicesOf(file), close: () => closeSync(file) }
  } catch (cause) {
    closeSync(file)
    throw cause
  }
}

/** Returns the header of a backup; undefined if the file is not one. */
export function readBackupHeader(path: string): BackupHeader | undefined {
  const file = openSync(path, 'r')
  try {
    for (const line of linesOf(file)) return headerOf(line)
    return undefined
  } finally {
    closeSync(file)
  }
}

function check(path: string, file: number): { readonly header: BackupHeader; readonly end: BackupEnd['end'] } {
  const hash = createHash('sha256')
  const counts: Record<string, number> = {}
  let header: BackupHeader | undefined
  let table: string | undefined
  let end: BackupEnd['end'] | undefined
  for (const line of linesOf(file)) {
    if (header === undefined) {
      header = headerOf(line)
      if (header === undefined) throw new Error(`${path} is not a backup of Grantor.`)
    } else {
      if (end !== undefined) throw new Error(`${path} is damaged: it continues after its end.`)
      if (line[0] === OPENING_BRACE) {
        const mark = markOf(path, line)
        if ('end' in mark) {
          end = mark.end
          continue
        }
        table = mark.table
        if (BACKUP_TABLES[table] !== 'stored')
          throw new Error(`${path} has a table that this release does not know: ${table}.`)
        counts[table] = 0
      } else if (table === undefined) throw new Error(`${path} is damaged: it has rows of no table.`)
      else counts[table] = (counts[table] ?? 0) + 1
    }
    hash.update(line)
  }
  if (header === undefined || end === undefined) throw new Error(`${path} is incomplete: its end is missing.`)
  if (hash.digest('hex') !== end.sha256) throw new Error(`${path} is damaged: its checksum is wrong.`)
  const missing = STORED_TABLES.filter((name) => counts[name] === undefined || counts[name] !== end.rows[name])
  if (missing.length > 0) throw new Error(`${path} is damaged: rows are missing in ${missing.join(', ')}.`)
  return { header, end }
}

const OPENING_BRACE = 0x7b

function headerOf(line: Buffer): BackupHeader | undefined {
  // Any file may be named here, also a large binary one.
  if (!line.includes('"grantor-backup"')) return undefined
  const header = parseLine(line) as BackupHeader | undefined
  if (header?.format !== 'grantor-backup') return undefined
  if (header.version === 1) return header
  throw new Error('The backup was made by a newer release of Grantor. Restore it with that release.')
}

/** A line that is an object: the head of a table, or the end. The end is not part of the checksum. */
function markOf(path: string, line: Buffer): TableHead | BackupEnd {
  const mark: Partial<TableHead & BackupEnd> | undefined = parseLine(line)
  if (typeof mark?.table === 'string') return mark as TableHead
  const { rows, sha256, mac } = (mark?.end ?? {}) as Partial<BackupEnd['end']>
  if (typeof rows !== 'object' || typeof sha256 !== 'string' || typeof mac !== 'string') {
    throw new Error(`${path} is damaged: a line has no meaning.`)
  }
  return mark as BackupEnd
}

function parseLine(line: Buffer): object | undefined {
  try {
    return (JSON.parse(line.toString()) ?? undefined) as object | undefined
  } catch {
    return undefined
  }
}

function* slicesOf(file: number): Generator<Slice> {
  let head: TableHead | undefined
  let rows: Cells[] = []
  let isFirst = true
  for (const line of linesOf(file)) {
    const isMark = line[0] === OPENING_BRACE
    if (head !== undefined && (isMark || rows.length >= ROWS_IN_SLICE)) {
      yield { ...head, rows }
      rows = []
    }
    if (!isMark) rows.push(JSON.parse(line.toString()) as Cells)
    else if (isFirst) isFirst = false
    else {
      const object = JSON.parse(line.toString()) as TableHead | BackupEnd
      head = 'end' in object ? undefined : object
    }
  }
}

/** Each line with its line break. */
function* linesOf(file: number): Generator<Buffer> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  let rest = Buffer.alloc(0)
  for (let position = 0, length = -1; length !== 0; position += length) {
    length = readSync(file, chunk, 0, CHUNK_BYTES, position)
    const data = Buffer.concat([rest, chunk.subarray(0, length)])
    let start = 0
    for (let next = data.indexOf('\n'); next !== -1; next = data.indexOf('\n', start)) {
      yield data.subarray(start, next + 1)
      start = next + 1
    }
    rest = data.subarray(start)
    if (rest.length > LINE_LIMIT_BYTES) break
  }
  if (rest.length > 0) yield rest
}
