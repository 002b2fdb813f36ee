import { createHash } from 'node:crypto'
import { closeSync } from 'node:fs'
import { checkChunks, linesOf, openFile, recordChunks } from './lines.ts'
import { tablesOf, type Cells, type Slice } from './tables.ts'
import type { BackupEnd, BackupHeader, TableHead } from './write.ts'

/** A backup whose content was checked against its checksum and its counts. */
export interface CheckedBackup {
  readonly header: BackupHeader
  readonly rows: Readonly<Record<string, number>>
  /** The columns of each table of the file. */
  readonly columns: Readonly<Record<string, readonly string[]>>
  /** Tables of this version that the file does not have: it is damaged, or an older version made it. */
  readonly lacking: readonly string[]
  readonly sha256: string
  readonly mac: string
  /** Reads the rows again. Throws before it returns a row of a part of the file that changed since the check. */
  readonly slices: () => Iterable<Slice>
  readonly close: () => void
}

const ROWS_IN_SLICE = 1000
const BYTES_IN_SLICE = 1024 * 1024

/**
 * Opens a backup and reads all of it, to find every damage before anything is written. The content is not authenticated yet, so
 * no message repeats text of the file.
 *
 * @throws Error that says what is wrong with the file
 */
export function openBackup(path: string): CheckedBackup {
  const file = openFile(path)
  try {
    const digests: string[] = []
    const { header, rows, columns, end } = check(path, file, digests)
    const { sha256, mac } = end
    const lacking = tablesOf(header).filter((name) => rows[name] === undefined)
    return {
      header,
      rows,
      columns,
      lacking,
      sha256,
      mac,
      slices: () => slicesOf(path, file, digests),
      close: () => closeSync(file),
    }
  } catch (cause) {
    closeSync(file)
    throw cause
  }
}

/**
 * Returns the header of a backup; undefined if the file is not one.
 *
 * @throws Error if a newer release made the backup, or the path is not a regular file
 */
export function readBackupHeader(path: string): BackupHeader | undefined {
  const file = openFile(path)
  try {
    for (const line of linesOf(file)) return headerOf(line)
    return undefined
  } finally {
    closeSync(file)
  }
}

interface Checked {
  readonly header: BackupHeader
  readonly rows: Readonly<Record<string, number>>
  readonly columns: CheckedBackup['columns']
  readonly end: BackupEnd['end']
}

function check(path: string, file: number, digests: string[]): Checked {
  const hash = createHash('sha256')
  const counts: Record<string, number> = {}
  const columns: Record<string, readonly string[]> = {}
  let header: BackupHeader | undefined
  let table: string | undefined
  let end: BackupEnd['end'] | undefined
  for (const line of linesOf(file, recordChunks(digests))) {
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
        if (!tablesOf(header).includes(table))
          throw new Error(`${path} has a table that this release does not know. A newer release may know it.`)
        if (counts[table] !== undefined) throw new Error(`${path} is damaged: it has a table twice.`)
        counts[table] = 0
        columns[table] = mark.columns
      } else if (table === undefined) throw new Error(`${path} is damaged: it has rows of no table.`)
      else counts[table] = (counts[table] ?? 0) + 1
    }
    hash.update(line)
  }
  if (header === undefined || end === undefined) throw new Error(`${path} is incomplete: its end is missing.`)
  if (hash.digest('hex') !== end.sha256) throw new Error(`${path} is damaged: its checksum is wrong.`)
  const tables = new Set([...Object.keys(counts), ...Object.keys(end.rows)])
  const missing = [...tables].filter((name) => counts[name] !== end.rows[name])
  if (missing.length > 0) throw new Error(`${path} is damaged: rows are missing in ${missing.join(', ')}.`)
  return { header, rows: counts, columns, end }
}

const OPENING_BRACE = 0x7b

function headerOf(line: Buffer): BackupHeader | undefined {
  // Any file may be named here, also a large binary one.
  if (!line.includes('"grantor-backup"')) return undefined
  const header: Partial<Record<keyof BackupHeader, unknown>> | undefined = parseLine(line)
  if (header?.format !== 'grantor-backup') return undefined
  if (header.version !== 1) {
    throw new Error('The backup was made by a newer release of Grantor. Restore it with that release.')
  }
  const {
    release,
    schema,
    schema_digest: digest = '',
    issuer,
    made_at,
    master_key,
    secret_check,
    final = true,
  } = header
  const areTexts = [release, digest, issuer, made_at, secret_check, master_key ?? ''].every(
    (one) => typeof one === 'string',
  )
  const isValid =
    areTexts && Number.isSafeInteger(schema) && !Number.isNaN(Date.parse(String(made_at))) && final === true
  return isValid ? (header as BackupHeader) : undefined
}

/** A line that is an object: the head of a table, or the end. The end is not part of the checksum. */
function markOf(path: string, line: Buffer): TableHead | BackupEnd {
  const mark: Partial<TableHead & BackupEnd> | undefined = parseLine(line)
  if (typeof mark?.table === 'string' && Array.isArray(mark.columns)) return mark as TableHead
  const { rows, sha256, mac } = (mark?.end ?? {}) as Partial<BackupEnd['end']>
  if (typeof rows !== 'object' || rows === null || typeof sha256 !== 'string' || typeof mac !== 'string') {
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

function* slicesOf(path: string, file: number, digests: readonly string[]): Generator<Slice> {
  let head: TableHead | undefined
  let rows: Cells[] = []
  let bytes = 0
  let isFirst = true
  for (const line of linesOf(file, checkChunks(path, digests))) {
    const isMark = line[0] === OPENING_BRACE
    if (head !== undefined && (isMark || rows.length >= ROWS_IN_SLICE || bytes >= BYTES_IN_SLICE)) {
      yield { ...head, rows }
      rows = []
      bytes = 0
    }
    if (!isMark) {
      rows.push(JSON.parse(line.toString()) as Cells)
      bytes += line.length
    } else if (isFirst) isFirst = false
    else {
      const object = JSON.parse(line.toString()) as TableHead | BackupEnd
      head = 'end' in object ? undefined : object
    }
  }
}
