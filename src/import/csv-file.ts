import { isUtf8 } from 'node:buffer'
import { isAcceptable, isBlank, readLines, type RecordLine } from './input-file.ts'

/** Of one record that has several lines. */
const RECORD_LENGTH = 1024 * 1024

/** What is known of a record up to the end of a line. */
interface Cells {
  readonly cells: string[]
  /** The text so far of a quoted cell that goes on in the next line. */
  readonly open: string | undefined
}

/**
 * Reads a CSV file (RFC 4180) whose first line has the names of the columns: each further record is an object of texts. A quoted cell may have
 * line ends. A line that is malformed is no record, but quotes that do not match over several lines end the reading, because they may
 * hide records. So does a line that is too long to be read.
 *
 * @throws Error when the file cannot be read, lacks one of `columns`, has quotes that do not match, or a line that is too long
 */
export function* readCsvRecords(path: string, columns: readonly string[]): Generator<RecordLine> {
  let names: readonly string[] | undefined
  for (const { line, cells } of readRecords(path)) {
    if (names === undefined) names = namesOf(path, cells, columns)
    else yield { line, value: recordOf(names, cells) }
  }
  if (names === undefined) throw new Error(`${path} has no line with the names of its columns.`)
}

function* readRecords(path: string): Generator<{ line: number; cells: readonly string[] | undefined }> {
  let line = 0
  let start = 0
  let length = 0
  let isText = true
  let known: Cells | undefined
  const unmatched = () => new Error(`${path}: the quotes of the record in line ${start} do not match.`)
  for (const bytes of readLines(path)) {
    line += 1
    if (bytes === 'too-long') throw new Error(`${path}: line ${line} has more than 1 MiB.`)
    if (known === undefined) {
      if (isBlank(bytes)) continue
      ;[start, length, isText] = [line, 0, true]
    }
    length += bytes.length + 1
    isText &&= isUtf8(bytes)
    // Of what is no UTF-8 the quotes count, too: what comes after a line end in them is no record.
    const read = readCells(bytes.toString().replace(/\r$/, ''), known)
    if (known !== undefined && (read === undefined || length > RECORD_LENGTH)) throw unmatched()
    if (read?.open === undefined) yield { line: start, cells: isText ? read?.cells : undefined }
    known = read?.open === undefined ? undefined : read
  }
  if (known !== undefined) throw unmatched()
}

/** Reads the cells of a line, and adds them to those of the lines before. undefined: it is malformed. */
function readCells(text: string, earlier: Cells | undefined): Cells | undefined {
  const cells = earlier?.cells ?? []
  let open = earlier?.open === undefined ? undefined : `${earlier.open}\n`
  for (let at = 0; ; at += 1) {
    let end: number
    if (open === undefined && text[at] !== '"') {
      const comma = text.indexOf(',', at)
      end = comma === -1 ? text.length : comma
      const cell = text.slice(at, end)
      if (cell.includes('"')) return undefined
      cells.push(cell)
    } else {
      end = open === undefined ? at + 1 : at
      open ??= ''
      for (;;) {
        const quote = text.indexOf('"', end)
        if (quote === -1) return { cells, open: open + text.slice(end) }
        open += text.slice(end, quote)
        end = quote + 1
        if (text[end] !== '"') break
        open += '"'
        end += 1
      }
      cells.push(open)
      open = undefined
    }
    if (end === text.length) return { cells, open }
    if (text[end] !== ',') return undefined
    at = end
  }
}

function namesOf(path: string, cells: readonly string[] | undefined, columns: readonly string[]): readonly string[] {
  const missing = columns.filter((name) => cells?.includes(name) !== true)
  if (cells === undefined || missing.length > 0) throw new Error(`${path} has no column ${missing.join(', ')}.`)
  if (new Set(cells).size < cells.length) throw new Error(`${path} has two columns of one name.`)
  return cells
}

function recordOf(names: readonly string[], cells: readonly string[] | undefined): RecordLine['value'] {
  if (cells?.length !== names.length) return undefined
  const record = Object.fromEntries(names.map((name, index) => [name, cells[index]]))
  return isAcceptable(record) ? record : undefined
}
