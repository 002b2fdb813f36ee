import type { Row } from './rows.ts'

/**
 * Returns a function that reads rows, and returns the record of the last time for a row that has not changed since: to parse the scopes of all APIs
 * each second costs more than the requests of that second. `key`: the column that names a row. The records are shared by all stores of a
 * process, which is no fault, because a record says what its row does.
 */
export function openUnchangedRows<Stored>(
  key: string,
  read: (row: Row) => Stored,
): (rows: readonly Row[]) => readonly Stored[] {
  let last: ReadonlyMap<unknown, { readonly row: Row; readonly record: Stored }> = new Map()
  return (rows) => {
    const now = rows.map((row) => {
      const known = last.get(row[key])
      return known !== undefined && isSame(known.row, row) ? known : { row, record: read(row) }
    })
    last = new Map(now.map((one) => [one.row[key], one]))
    return now.map(({ record }) => record)
  }
}

function isSame(one: Row, other: Row): boolean {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
}
