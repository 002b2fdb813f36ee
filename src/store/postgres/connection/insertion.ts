import type { Row } from '../../rows.ts'
import type { Scalar } from './column-parameters.ts'
import type { Query, Statement } from './query.ts'

/** An insert of many rows. `text` takes them as one array for each column, so that one prepared statement fits any number. */
export interface Insertion extends Statement {
  /** The same for rows as values. */
  readonly values: (count: number) => string
  readonly types: readonly ColumnType[]
}

/** `json` is a text without line breaks, as `JSON.stringify` writes it. */
type ColumnType = 'text' | 'bigint' | 'json'

interface Parts {
  readonly name: string
  /** The table with the columns of `types`, and then those of `constants`. */
  readonly into: string
  readonly types: readonly ColumnType[]
  /** SQL values that all rows have in their last columns. */
  readonly constants?: readonly string[]
  /** What follows the rows, such as `on conflict`. */
  readonly ending?: string
}

export function insertion({ name, into, types, constants = [], ending = '' }: Parts): Insertion {
  const arrays = types.map((type, index) =>
    // JSON has many quotes, which an array would have to escape. It writes a line break inside a text as `\n`.
    type === 'json' ? `string_to_array($${index + 1}, chr(10))` : `$${index + 1}::${type}[]`,
  )
  const columns = ['i.*', ...constants].join(', ')
  const tail = ending === '' ? '' : ` ${ending}`
  return {
    name,
    types,
    text: `insert into ${into} select ${columns} from unnest(${arrays.join(', ')}) as i${tail}`,
    values(count) {
      const rows = Array.from({ length: count }, (_, row) => {
        const cells = types.map(
          (type, index) => `$${row * types.length + index + 1}::${type === 'json' ? 'text' : type}`,
        )
        return `(${[...cells, ...constants].join(', ')})`
      })
      return `insert into ${into} values ${rows.join(', ')}${tail}`
    },
  }
}

/** Returns the parameters of the text of an insertion. */
export function arraysOf({ types }: Insertion, columns: readonly (readonly Scalar[])[]) {
  return columns.map((column, index) => (types[index] === 'json' ? column.join('\n') : column))
}

/**
 * Inserts rows, given as columns. Citus sends each value to the shard of its row, but copies the rows of arrays through the
 * coordinator and commits even one of them in two phases.
 */
export function insertRows(
  query: Query,
  insert: Insertion,
  columns: readonly (readonly Scalar[])[],
): Promise<readonly Row[]> {
  if (!query.isDistributed) return query(insert, arraysOf(insert, columns))
  const count = columns[0]?.length ?? 0
  const values = Array.from({ length: count }, (_, row) => columns.map((column) => column[row] ?? null)).flat()
  // Without a name it is not prepared: its text depends on the number of rows.
  return query({ name: '', text: insert.values(count) }, values)
}
