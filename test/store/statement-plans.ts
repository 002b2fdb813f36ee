import type { DatabaseSync } from 'node:sqlite'
import type pg from 'pg'
import { SHARD_KEYS } from '../../src/store/postgres/distribution.ts'
import type { Access, Schema } from './portable-sql.ts'

/** Plans and schemas as the real databases report them. */

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Recheck Cond'?: string
  readonly Plans?: readonly PlanNode[]
}

/** Returns the plan that PostgreSQL keeps for a prepared statement in this session, whatever its parameters. */
export async function planOnPostgres(client: pg.Client, sql: string): Promise<readonly Access[]> {
  const count = Math.max(0, ...[...sql.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))
  const parameters = count === 0 ? '' : `(${Array.from({ length: count }, () => 'null').join(', ')})`
  await client.query(`prepare examined as ${sql}`)
  const { rows } = await client.query<{ readonly 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>(
    `explain (format json) execute examined ${parameters}`,
  )
  await client.query('deallocate examined')
  return (rows[0]?.['QUERY PLAN'] ?? []).flatMap(({ Plan }) => accessesOf(Plan))
}

function accessesOf(node: PlanNode, parent?: PlanNode): readonly Access[] {
  const below = (node.Plans ?? []).flatMap((plan) => accessesOf(plan, node))
  const table = node['Relation Name']
  if (table === undefined || node['Node Type'] === 'ModifyTable') return below
  const condition = node['Index Cond'] ?? node['Recheck Cond']
  const isFirstRows = parent?.['Node Type'] === 'Limit' && node['Node Type'].startsWith('Index')
  return [{ table, keys: equalities(condition ?? ''), isWhole: condition === undefined && !isFirstRows }, ...below]
}

/** Returns how SQLite finds the rows. */
export function planOnSqlite(database: DatabaseSync, sql: string): readonly Access[] {
  const steps = database.prepare(`explain query plan ${sql}`).all()
  return steps.flatMap(({ detail }) => {
    const [, way, table, condition] = /^(SEARCH|SCAN) (\w+)(?:.* \((.*)\))?/.exec(String(detail)) ?? []
    if (table === undefined) return []
    return [{ table, keys: equalities(condition ?? ''), isWhole: way === 'SCAN' }]
  })
}

/** Returns the columns on the left of `=`. */
function equalities(condition: string): readonly string[] {
  return [...condition.matchAll(/(\w+)\s*=/g)].map(([, column]) => column ?? '')
}

/** Returns all objects of the connection's schema. */
export async function readPostgresObjects(client: pg.Client): Promise<Schema> {
  const rowsOf = async <Row extends object>(sql: string): Promise<readonly Row[]> => (await client.query<Row>(sql)).rows
  const columns = await rowsOf<Schema['columns'][number]>(
    `select table_name as table, column_name as name, data_type as type,
       column_default is not null or is_identity = 'YES' or is_generated = 'ALWAYS' as made
     from information_schema.columns where table_schema = current_schema()`,
  )
  const uniques = await rowsOf<Schema['uniques'][number]>(
    `select indrelid::regclass::text as table, indexrelid::regclass::text as name, indisprimary as "isPrimary",
       array(select attname::text from unnest(indkey::int2[]) with ordinality as part (number, place)
         join pg_attribute on attrelid = indrelid and attnum = number order by place) as columns
     from pg_index join pg_class on pg_class.oid = indexrelid
     where indisunique and relnamespace = current_schema()::regnamespace order by 2`,
  )
  const objects = await rowsOf<{ readonly object: string }>(
    `select 'sequence ' || relname as object from pg_class
       where relkind = 'S' and relnamespace = current_schema()::regnamespace
     union all select 'trigger ' || tgname from pg_trigger where not tgisinternal
     union all select 'function ' || proname from pg_proc where pronamespace = current_schema()::regnamespace
     union all select 'foreign key ' || conname from pg_constraint
       where contype = 'f' and connamespace = current_schema()::regnamespace
     order by 1`,
  )
  return { columns, uniques, objects: objects.map(({ object }) => object) }
}

/** Returns the same for a SQLite file. */
export function readSqliteObjects(database: DatabaseSync): Schema {
  const rowsOf = (sql: string): readonly Record<string, unknown>[] => database.prepare(sql).all()
  // A virtual table, and the shadow tables that it makes, are an index.
  const tables = rowsOf(
    `select name from pragma_table_list where type = 'table' and schema = 'main' and name not like 'sqlite_%'`,
  )
  const names = tables.map(({ name }) => String(name))
  const columns = names.flatMap((table) =>
    rowsOf(`select name, type, dflt_value is not null or hidden <> 0 as made from pragma_table_xinfo('${table}')`).map(
      ({ name, type, made }) => ({ table, name: String(name), type: String(type).toLowerCase(), made: made === 1 }),
    ),
  )
  const uniques = names.flatMap((table) =>
    rowsOf(`select name, origin from pragma_index_list('${table}') where "unique" = 1`).map(({ name, origin }) => ({
      table,
      name: String(name),
      isPrimary: origin === 'pk',
      columns: rowsOf(`select name from pragma_index_info('${String(name)}') order by seqno`).map((row) =>
        String(row['name']),
      ),
    })),
  )
  const keys = names.flatMap((table) => rowsOf(`select "table" as target from pragma_foreign_key_list('${table}')`))
  const triggers = rowsOf(`select name from sqlite_schema where type = 'trigger'`)
  return {
    columns,
    uniques,
    objects: [
      ...keys.map(({ target }) => `foreign key to ${String(target)}`),
      ...triggers.map(({ name }) => `trigger ${String(name)}`),
    ],
  }
}

/** Fills every sharded table without letting PostgreSQL collect statistics. */
export async function fillUnanalyzed(client: pg.Client, rows: number): Promise<void> {
  const { columns } = await readPostgresObjects(client)
  // The session may have the product's statement timeout, which filling a table would exceed.
  await client.query('set statement_timeout = 0')
  // Numbers of equal length arrive in index order, which takes half the time together with unlogged tables.
  for (const table of Object.keys(SHARD_KEYS)) {
    const own = columns.filter((column) => column.table === table)
    const values = own.map(({ type }) =>
      type === 'bigint' ? 'number' : type === 'ARRAY' ? 'array[number]' : `'row-' || number`,
    )
    await client.query(`alter table ${table} set (autovacuum_enabled = off), set unlogged`)
    await client.query(
      `insert into ${table} (${own.map(({ name }) => name).join(', ')})
       select ${values.join(', ')} from generate_series(${rows}, ${2 * rows - 1}) as number`,
    )
  }
}
