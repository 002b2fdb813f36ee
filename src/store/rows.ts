import type { Hit } from '../ports/operations/server.ts'

/** What both stores share: the columns of the schema (migrations/), and the records that are made from them. */

/** A value of a column or of a statement's parameter. */
export type Value = string | number | null
export type Row = Readonly<Record<string, Value>>

/**
 * Returns the start of the fixed window. Fixed windows can be counted exactly, and their rows can be swept once the window
 * is over.
 */
export function windowStart({ now, windowMs }: Pick<Hit, 'now' | 'windowMs'>): number {
  return now - (now % windowMs)
}

/** Returns an id below which all ids from before a time sort: ids start with 12 hex digits of milliseconds. */
export function idBefore(time: number, prefix: string): string {
  return prefix + Math.max(0, time).toString(16).padStart(12, '0')
}

/** Reads the record from the row that a query found, if it found one. */
export function recordOf<T>(row: unknown, read: (row: Row) => T): T | undefined {
  return row === undefined ? undefined : read(row as Row)
}
