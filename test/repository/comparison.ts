import { readFileSync } from 'node:fs'

/** What the maker of a product says about it. A product without a cell was not looked up, or its maker says nothing. */
interface Cell {
  readonly text: string
  /** A page of the maker. */
  readonly source: string
  /** The day on which it was read. */
  readonly read: string
}

interface Comparison {
  readonly products: readonly string[]
  readonly rows: readonly {
    readonly about: string
    readonly grantor: string
    readonly others: Readonly<Record<string, Cell>>
  }[]
}

export const COMPARISON: Comparison = JSON.parse(readFileSync('docs/comparison.json', 'utf8'))

/** Every fault of the data, a line each: a cell of no product, without a page of the maker, or without the day. */
export function findFaults({ products, rows }: Comparison): readonly string[] {
  return rows.flatMap(({ about, others }) =>
    Object.entries(others).flatMap(([product, { text, source, read }]) => [
      ...(products.includes(product) ? [] : [`${about}: ${product} is no product of the table.`]),
      ...(text === '' ? [`${about}, ${product}: the cell is empty.`] : []),
      ...(/^https:\/\/\S+$/.test(source) ? [] : [`${about}, ${product}: no source.`]),
      ...(/^\d{4}-\d{2}-\d{2}$/.test(read) ? [] : [`${about}, ${product}: no day.`]),
    ]),
  )
}

/** docs/comparison.md. */
export function comparisonPage({ products, rows }: Comparison): string {
  const days = rows.flatMap(({ others }) => Object.values(others).map(({ read }) => read)).toSorted()
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const body = rows.map(({ about, grantor, others }) =>
    line([about, grantor, ...products.map((product) => linked(others[product]))]),
  )
  return `# Comparison

Each cell of another product leads to a page of its maker, read on ${days.at(0)}${days.at(0) === days.at(-1) ? '' : ` to ${days.at(-1)}`}. An empty cell was not looked up, or no page of
the maker says it: it does not mean "no". The data is \`docs/comparison.json\`, from which \`npm run docs\` makes this page; an issue with a
source corrects a cell.

Grantor is new. It has no certificate and no outside audit, and does not do SAML, LDAP or SCIM: for those take Keycloak,
Zitadel or authentik, or put Grantor behind them ([what it does not do](not-included.md)).

${line(['', 'Grantor', ...products])}
|${'---|'.repeat(products.length + 2)}
${body.join('\n')}
`
}

function linked(cell: Cell | undefined): string {
  return cell === undefined ? '' : `[${cell.text}](${cell.source})`
}
