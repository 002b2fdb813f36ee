/** A column of a table: its head, and the text of its cells. */
export type Column<Row> = readonly [head: string, cell: (row: Row) => string]

/** Renders a Markdown table. The first column is aligned left and the others right. */
export function renderTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const cells = [columns.map(([head]) => head), ...rows.map((row) => columns.map(([, cell]) => cell(row)))]
  const widths = columns.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)))
  const [heads = '', ...lines] = cells.map(
    (line) =>
      `| ${line.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`,
  )
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`
  return [heads, rule, ...lines].join('\n')
}

/** A number with that many decimals. A value that could not be measured is a dash. */
export function fixed(value: number | undefined, decimals: number): string {
  return value === undefined ? '–' : value.toFixed(decimals)
}

export function percent(part: number, decimals = 0): string {
  return `${(part * 100).toFixed(decimals)} %`
}
