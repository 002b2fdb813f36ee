import type { Value } from '../rows.ts'

/** What a statement takes in one place, or an array of them. */
export type Scalar = Value | boolean

/** Many rows as one parameter a column: what `unnest` takes. */
export function columns<T>(rows: readonly T[], ...read: readonly ((row: T) => Scalar | undefined)[]) {
  return read.map((value) => rows.map((row) => value(row) ?? null))
}

/**
 * A column of JSON, as a statement takes it with `string_to_array(…, chr(10))`. JSON writes a line's end as `\n` wherever it
 * stands in a text, so no line is cut, and neither side has to mark the quotes that JSON is full of, as an array has them.
 */
export function jsonLines<T>(rows: readonly T[], read: (row: T) => unknown): string {
  return rows.map((row) => JSON.stringify(read(row))).join('\n')
}

/** An array as PostgreSQL reads it, made in a fraction of the time that the driver takes. */
export function arrayLiteral(values: readonly Scalar[]): string {
  let text = '{'
  for (const value of values) {
    if (text.length > 1) text += ','
    text += typeof value === 'string' ? quoted(value) : String(value ?? 'NULL')
  }
  return `${text}}`
}

function quoted(text: string): string {
  return text.includes('"') || text.includes('\\') ? `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"` : `"${text}"`
}
