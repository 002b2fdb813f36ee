import pg from 'pg'
import type { Connection } from '../../../src/store/postgres/schema/migration-lease.ts'

/** Sessions in separate schemas of one test database: creating a schema is faster than creating a database. */

let schemas = 0

/** Returns the same address with a new, empty schema. */
export async function newSchema(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const name = await enterSchema(client)
  await client.end()
  return addressOf(url, name)
}

/** Switches the session to a new schema and returns its name. */
export async function enterSchema(client: pg.Client): Promise<string> {
  schemas += 1
  const name = `planted_${process.pid}_${schemas}`
  await client.query(`create schema ${name}; set search_path = ${name}`)
  return name
}

export function addressOf(url: string, schema: string): string {
  const address = new URL(url)
  address.searchParams.set('options', `-c search_path=${schema}`)
  return address.href
}

/** The same session, which reports each query before it runs and after. */
export function onQuery(
  client: pg.Client,
  before: (sql: string) => void | Promise<void>,
  after: (sql: string) => void | Promise<void> = () => undefined,
): Connection {
  const query = async (sql: string, values?: unknown[]): Promise<unknown> => {
    await before(sql)
    const result = await client.query(sql, values)
    await after(sql)
    return result
  }
  return { query } as Connection
}

/** A session whose process is killed at a query, before it is sent or after; no process reads the response. */
export function dyingAt(client: pg.Client, fatal: number, moment: 'before' | 'after'): Connection {
  let count = 0
  const die = (): void => {
    if (count !== fatal) return
    cut(client)
    throw new Error('killed')
  }
  const tick = (): void => {
    count += 1
    if (moment === 'before') die()
  }
  return onQuery(client, tick, () => {
    if (moment === 'after') die()
  })
}

/** Closes the socket, as the kernel does when a process ends. */
export function cut(client: pg.Client): void {
  const { connection } = client as unknown as { readonly connection: { readonly stream: { destroy: () => void } } }
  connection.stream.destroy()
}

/** Returns everything that the migrations created in this schema. */
export async function dump(client: pg.Client): Promise<unknown> {
  const rowsOf = async (sql: string): Promise<readonly unknown[]> => (await client.query<Row>(sql)).rows
  return {
    columns: await rowsOf(
      // The standard's own view searches the columns of all schemas.
      `select relname, attname, format_type(atttypid, atttypmod), attnotnull, collname
       from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
         left join pg_collation on pg_collation.oid = attcollation
       where relnamespace = current_schema()::regnamespace and relkind = 'r' order by relname, attname`,
    ),
    indexes: await rowsOf(
      `select relname, indisvalid, replace(pg_get_indexdef(indexrelid), current_schema(), '') as definition
       from pg_index join pg_class on pg_class.oid = indexrelid
       where relnamespace = current_schema()::regnamespace order by relname`,
    ),
    options: await rowsOf(
      `select relname, reloptions from pg_class where relnamespace = current_schema()::regnamespace order by relname`,
    ),
    notes: await rowsOf('select * from migrations order by version'),
    progress: await rowsOf('select * from migration_progress'),
    rows: await rowsOf('select * from things order by id'),
  }
}

type Row = Record<string, unknown>
