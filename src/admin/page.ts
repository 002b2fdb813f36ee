/** The maximum and the default number of rows of a page. */
export const LIST_LIMIT = { most: 1000, usual: 50 } as const

/** The page of a list that a task returns. */
export interface PageRequest<Id> {
  /** The page continues after this row, the last of the previous page; undefined: it is the first page. */
  readonly before?: Id | undefined
  /** The maximum number of rows. */
  readonly limit: number
}

/** A page of a list, and the start of the next page. */
export interface Listed<Row, Id> {
  readonly rows: readonly Row[]
  /** The `before` of the next page; null on the last page. */
  readonly next: Id | null
}

/** Returns a page of a list, newest first. It reads one row more than the limit, to know whether more rows follow. */
export async function listPage<Row extends { readonly id: Id }, Id>(
  list: (page: { readonly before: Id | undefined; readonly limit: number }) => Promise<readonly Row[]>,
  { before, limit }: PageRequest<Id>,
): Promise<Listed<Row, Id>> {
  const found = await list({ before, limit: limit + 1 })
  const rows = found.slice(0, limit)
  return { rows, next: found.length > limit ? (rows.at(-1)?.id ?? null) : null }
}

/** Returns a page of rows that are all in memory, in the order of their ids. */
export function pageOf<Row>(
  all: readonly Row[],
  idOf: (row: Row) => string,
  { before, limit }: PageRequest<string>,
): Listed<Row, string> {
  const found = all.filter((row) => before === undefined || idOf(row) > before)
  const rows = found.slice(0, limit)
  const last = found.length > rows.length ? rows.at(-1) : undefined
  return { rows, next: last === undefined ? null : idOf(last) }
}
