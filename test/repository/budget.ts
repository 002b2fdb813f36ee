/** docs/budget.json: how many words each page of docs/ may have. */
export interface Budget {
  /** The words of all rows together that people write. */
  readonly sum: number
  /** The lines of README.md. */
  readonly readmeLines: number
  /** Pages of at most 900 words. A new page gets its row here. */
  readonly pages: Readonly<Record<string, number>>
  /** The pages that need more. */
  readonly longPages: Readonly<Record<string, number>>
  /** Reference that is generated from the code and the tests: it grows with them, and does not count in the sum. */
  readonly generatedPages: Readonly<Record<string, number>>
}

const PAGE_WORDS = 900

/** Counts as `wc -w` does. */
function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length
}

/** Says for each page, and for the sum, what exceeds the budget, and which row to change. */
export function overBudget(budget: Budget, pages: ReadonlyMap<string, string>): readonly string[] {
  const written = { ...budget.pages, ...budget.longPages }
  const rows: Readonly<Record<string, number>> = { ...written, ...budget.generatedPages }
  const sum = Object.values(written).reduce((total, words) => total + words, 0)
  return [
    ...[...pages].flatMap(([page, text]) => {
      const words = countWords(text)
      const row = `"${page}": ${Math.ceil(words / 50) * 50}`
      const allowed = rows[page]
      if (allowed === undefined)
        return [`${page} has no row: write ${row} below "pages" of docs/budget.json, at most ${PAGE_WORDS}.`]
      return words <= allowed
        ? []
        : [`${page} has ${words} words, and ${allowed} are allowed: shorten it, or write ${row}.`]
    }),
    ...Object.keys(rows).flatMap((page) => (pages.has(page) ? [] : [`${page} does not exist: remove its row.`])),
    ...Object.entries(budget.pages).flatMap(([page, words]) =>
      words <= PAGE_WORDS
        ? []
        : [`The row of ${page} allows ${words} words: at most ${PAGE_WORDS}, or below "longPages".`],
    ),
    ...(sum <= budget.sum
      ? []
      : [`The rows have ${sum} words together, and "sum" allows ${budget.sum}: shorten a page.`]),
  ]
}
