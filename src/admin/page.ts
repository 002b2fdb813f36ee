import { AdminError } from './admin-error.ts'

/** The maximum and the default number of rows of a page. */
export const LIST_LIMIT = { most: 1000, usual: 50 } as const

/** The page of a list that a task returns. */
export interface PageRequest<Id> {
  /** The page continues after this row, the last of the previous page; undefined: it is the first page. */
  readonly before?: Id | undefined
  /** The maximum number of rows. */
  readonly limit: number
}

/** A page of a list, newest first, and the start of the next page. */
export interface Listed<Row, Id> {
  readonly rows: readonly Row[]
  /** The `before` of the next page; undefined on the last page. */
  readonly next: Id | undefined
}

/**
 * Reads one row more than the limit, to know whether more rows follow.
 *
 * @throws AdminError when the limit is invalid
 */
export async function listPage<Row extends { readonly id: Id }, Id>(
  list: (page: { readonly before: Id | undefined; readonly limit: number }) => Promise<readonly Row[]>,
  page: PageRequest<Id>,
): Promise<Listed<Row, Id>> {
  const { before } = page
  const limit = requireLimit(page.limit)
  const found = await list({ before, limit: limit + 1 })
  const rows = found.slice(0, limit)
  return { rows, next: found.length > limit ? rows.at(-1)?.id : undefined }
}

/** @throws AdminError when the limit is invalid */
export function requireLimit(limit: number): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIST_LIMIT.most) return limit
  throw new AdminError(`A list has between 1 and ${LIST_LIMIT.most} rows.`)
}
