import type pg from 'pg'
import { StoreUnavailable } from '../../../ports/store.ts'
import type { Row } from '../../rows.ts'
import { arrayLiteral, type Scalar } from './column-parameters.ts'
import { forCitus } from '../distribution.ts'
import { allOrFirstFault, faultOf } from './faults.ts'

/** The rows of an update or insert: `from unnest($1::text[], $2::bigint[]) as i (id, now)`. */
const ROWS = /\s+(?:from|cross join) unnest\(([^)]+)\)\s+as i \(([^)]+)\)/

/** A statement, which each connection prepares once under its name. */
export interface Statement {
  readonly name: string
  readonly text: string
}

/** A single value, or an array with one column of many rows. */
export type Parameter = Scalar | readonly Scalar[]

/** Runs one statement and returns its rows. */
export type RunStatement = (statement: Statement, parameters?: readonly Parameter[]) => Promise<readonly Row[]>

export interface Query extends RunStatement {
  /** Whether the tables are distributed by Citus (docs/scaling.md). */
  readonly isDistributed: boolean
}

/** Runs statements on a connection until a deadline on the clock of `performance`. */
export function openQuery(client: pg.PoolClient, answerBy: number, isDistributed: boolean): Query {
  async function send(name: string, text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    // The network may lose a statement or its response. PostgreSQL's own limits cannot report that.
    const query_timeout = Math.ceil(answerBy - performance.now())
    if (query_timeout <= 0) throw new StoreUnavailable('PostgreSQL was too slow')
    try {
      const config = { name, text, values: [...values], query_timeout }
      const { rows } = await client.query<Row>(config)
      return rows
    } catch (cause) {
      throw faultOf(cause)
    }
  }

  async function query(statement: Statement, parameters: readonly Parameter[] = []): Promise<readonly Row[]> {
    const single = isDistributed ? knownOneRowOf(statement) : undefined
    if (single !== undefined) {
      const columns = parameters as readonly (readonly Scalar[])[]
      const rows = (columns[0] ?? []).map((_, row) => columns.map((column) => column[row] ?? null))
      return (await allOrFirstFault(rows.map((values) => send(single.name, single.text, values)))).flat()
    }
    const values = parameters.map((value) =>
      typeof value === 'object' && value !== null ? arrayLiteral(value) : value,
    )
    return send(statement.name, isDistributed ? forCitus(statement.text) : statement.text, values)
  }
  return Object.assign(query, { isDistributed })
}

/**
 * Returns an update or insert of the rows of arrays as that of one row; undefined for other statements. Citus sends it to the
 * shard of the row without planning it, at a third of the CPU.
 */
export function oneRowOf({ name, text }: Statement): Statement | undefined {
  const [from, arrays = '', columns = ''] = (/^(update|insert)\b/.test(text) ? ROWS.exec(text) : null) ?? []
  if (from === undefined) return undefined
  const parameters = arrays.split(', ').map((array) => array.replace('[]', ''))
  const names = columns.split(/,\s+/)
  const single = text
    .replace(from, '')
    .replaceAll(/\bi\.(\w+)/g, (_, column: string) => parameters[names.indexOf(column)] ?? column)
  return { name: `${name}-one-row`, text: single }
}

const known = new WeakMap<Statement, Statement | undefined>()

/** The same, worked out once for each statement that is prepared. */
function knownOneRowOf(statement: Statement): Statement | undefined {
  if (!known.has(statement)) known.set(statement, oneRowOf(statement))
  return known.get(statement)
}
