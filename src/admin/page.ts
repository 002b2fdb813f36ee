import { AdminError } from './admin-error.ts'

/** How many rows one answer has at most, and when nothing is said. */
export const LIST_LIMIT = { most: 1000, usual: 50 } as const

/** A slice of a list, newest first, and where the next slice starts. */
export interface Listed<Row, Id> {
  readonly rows: readonly Row[]
  /** What to give as `before` for the rows after these; undefined at the end. */
  readonly next: Id | undefined
}

/**
 * Asks for one row more than wanted, to know whether the list goes on.
 *
 * @throws AdminError when the limit is not one
 */
export async function listPage<Row extends { readonly id: Id }, Id>(
  list: (page: { readonly before: Id | undefined; readonly limit: number }) => Promise<readonly Row[]>,
  page: { readonly before: Id | undefined; readonly limit: number },
): Promise<Listed<Row, Id>> {
  const { before } = page
  const limit = requireLimit(page.limit)
  const found = await list({ before, limit: limit + 1 })
  const rows = found.slice(0, limit)
  return { rows, next: found.length > limit ? rows.at(-1)?.id : undefined }
}

/** @throws AdminError when the limit is not one */
export function requireLimit(limit: number): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIST_LIMIT.most) return limit
  throw new AdminError(`A list has between 1 and ${LIST_LIMIT.most} rows.`)
}
