import type { StoreNeeds } from '../ports/context.ts'
import type { Reach, SearchedList } from '../ports/store.ts'

/** The maximum and the default number of rows of a page. */
export const PAGE_LIMIT = { most: 1000, usual: 50 } as const

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

/** A search through a list that no index answers: how many rows it examines for a page, and in one read. */
export interface Search<Row, Id> {
  readonly list: SearchedList
  readonly examined: number
  readonly slice: number
  /** Reads the rows of a slice that the statement finds, at most `limit` of them. */
  readonly read: (
    slice: { readonly before: Id | undefined; readonly limit: number } & Reach<Id>,
  ) => Promise<readonly Row[]>
  /** What the statement cannot compare. undefined: nothing. */
  readonly isMeant?: ((row: Row) => boolean) | undefined
}

/** Returns a page of the rows that are searched, newest first. It may have fewer rows than its limit, or none, and another page follow. */
export async function searchPage<Row extends { readonly id: Id }, Id extends string>(
  { store }: StoreNeeds<'findListEnd'>,
  { list, examined, slice, read, isMeant }: Search<Row, Id>,
  { before: start, limit }: PageRequest<Id>,
): Promise<Listed<Row, Id>> {
  const rows: Row[] = []
  let before = start
  for (let seen = 0; seen < examined; seen += slice) {
    const from = (await store.findListEnd({ list, before, size: slice })) as Id | undefined
    if (from === undefined) return { rows, next: null }
    const found = await read({ before, from, limit: isMeant === undefined ? limit + 1 - rows.length : slice })
    rows.push(...(isMeant === undefined ? found : found.filter(isMeant)))
    if (rows.length > limit) return { rows: rows.slice(0, limit), next: rows[limit - 1]?.id ?? null }
    before = from
  }
  return { rows, next: before ?? null }
}

/** Rows that one call examines for a text, which no statement finds: an index would cost each new row. A page of them costs 30 ms. */
export const EXAMINED_FOR_TEXT = 2000

/** Returns a page of the rows that are meant, newest first. It may have fewer rows than its limit, or none, and another page follow. */
export async function textPage<Row extends { readonly id: Id }, Id>(
  list: (page: { readonly before: Id | undefined; readonly limit: number }) => Promise<readonly Row[]>,
  isMeant: (row: Row) => boolean,
  { before: start, limit }: PageRequest<Id>,
): Promise<Listed<Row, Id>> {
  const rows: Row[] = []
  let before = start
  for (let examined = 0; examined < EXAMINED_FOR_TEXT; examined += PAGE_LIMIT.most) {
    const slice = await list({ before, limit: PAGE_LIMIT.most })
    for (const row of slice) {
      if (rows.length === limit) return { rows, next: before ?? null }
      if (isMeant(row)) rows.push(row)
      before = row.id
    }
    if (slice.length < PAGE_LIMIT.most) return { rows, next: null }
  }
  return { rows, next: before ?? null }
}

/** Whether one of the names has the text, in any case. */
export function hasText(text: string, ...names: readonly (string | undefined)[]): boolean {
  return names.some((name) => name?.toLowerCase().includes(text.toLowerCase()) === true)
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
