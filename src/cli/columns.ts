import type { Paint } from './terminal.ts'

const GAP = '  '

/** Aligned columns below their headings. */
export function columns(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  paint: Paint,
): readonly string[] {
  const cells = rows.map((row) => row.map(visible))
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...cells.map((row) => lengthOf(row[column] ?? ''))),
  )
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - lengthOf(cell))))
      .join(GAP)
      .trimEnd()
  return [paint('dim', line(headings)), ...cells.map(line)]
}

/** Aligned `name  value` lines. */
export function facts(pairs: readonly (readonly [name: string, value: string])[], paint: Paint): readonly string[] {
  const width = Math.max(...pairs.map(([name]) => name.length))
  return pairs.map(([name, value]) => `${paint('dim', name.padEnd(width))}${GAP}${visible(value)}`)
}

/**
 * What strangers registered must not move the cursor, colour the screen or turn the line around: control and format
 * characters become their number.
 */
export function visible(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`,
  )
}

/** To the minute, in UTC: `2026-11-20 14:02`. */
export function moment(milliseconds: number | undefined): string {
  return milliseconds === undefined ? '–' : new Date(milliseconds).toISOString().slice(0, 16).replace('T', ' ')
}

function lengthOf(text: string): number {
  return [...text].length
}
