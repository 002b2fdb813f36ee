import { createHash } from 'node:crypto'
import { unlockMasterKey } from '../../../src/keys/master-key.ts'

/** Changes of the lines of a backup. */

type End = { readonly end: { readonly sha256: string; readonly rows: Readonly<Record<string, number>> } }
type Values = readonly unknown[]

/** As an attacker without the root secret can change a file, or as a release writes one. */
export function withChecksum(lines: readonly string[], current?: string): readonly string[] {
  const { end } = JSON.parse(lines.at(-1) ?? '') as End
  const sha256 = createHash('sha256').update(lines.slice(0, -1).join('')).digest('hex')
  const { master_key: wrapped, secret_check: check } = JSON.parse(lines[0] ?? '') as Readonly<Record<string, string>>
  const keys = current === undefined ? undefined : unlockMasterKey({ wrapped, check }, { current, previous: undefined })
  const mac = keys === undefined ? {} : { mac: keys.secrets.digest('backup', [sha256]) }
  return lines.with(lines.length - 1, `${JSON.stringify({ end: { ...end, sha256, ...mac } })}\n`)
}

export function withHeader(lines: readonly string[], change: object): readonly string[] {
  return lines.with(0, `${JSON.stringify({ ...(JSON.parse(lines[0] ?? '') as object), ...change })}\n`)
}

/** The lines without a table, as a version that did not have it wrote them. */
export function withoutTable(lines: readonly string[], table: string): readonly string[] {
  const [start, end] = placeOf(lines, table)
  const { end: marks } = JSON.parse(lines.at(-1) ?? '') as End
  const rows = Object.fromEntries(Object.entries(marks.rows).filter(([name]) => name !== table))
  return lines.with(lines.length - 1, `${JSON.stringify({ end: { ...marks, rows } })}\n`).toSpliced(start, end - start)
}

/** The lines with other columns of a table. `change`: receives the columns, or the values of a row. */
export function withColumns(
  lines: readonly string[],
  table: string,
  change: (values: Values, columns: readonly string[]) => Values,
): readonly string[] {
  const [start, end] = placeOf(lines, table)
  const { columns } = JSON.parse(lines[start] ?? '') as { readonly columns: readonly string[] }
  return lines.map((line, index) => {
    if (index === start) return `${JSON.stringify({ table, columns: change(columns, columns) })}\n`
    return index > start && index < end ? `${JSON.stringify(change(JSON.parse(line) as Values, columns))}\n` : line
  })
}

/** Where a table begins, and where the next one does. */
function placeOf(lines: readonly string[], table: string): readonly [start: number, end: number] {
  const start = lines.findIndex((line) => line.startsWith(`{"table":"${table}"`))
  return [start, lines.findIndex((line, index) => index > start && line.startsWith('{'))]
}
