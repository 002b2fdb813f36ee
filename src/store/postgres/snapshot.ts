import type pg from 'pg'
import { checkColumns, type Cells, type Slice, type Snapshot, type TableColumn } from '../backup/tables.ts'
import { listMigrations, schemaDigest } from '../migrations.ts'
import { idBefore } from '../rows.ts'
import { MASTER_KEY, MASTER_KEY_CHECK, RESTORING } from '../nouns/server/settings.ts'
import { isDistributed } from './distribution.ts'
import { migratePostgres, schemaState } from './schema/migrate.ts'
import { withConnection } from './connection/single-connection.ts'

const ROWS_IN_SLICE = 1000
const INT8 = 20
const BOOL = 16
const BACKUP = {
  name: 'backup',
  types: {
    getTypeParser: (oid: number) => (oid === INT8 ? Number : oid === BOOL ? (text: string) => text === 't' : String),
  },
}

/**
 * The machines of Citus have no common snapshot, so of the newest commits a backup may have only some. A chain of the audit must not
 * lack a link between others, so all links of the last seconds are left out. A node gives a commit up sooner than that.
 */
const LEFT_OUT_MS = 15_000

/** Runs `work` on one consistent state of a database, beside servers that write to it. Writers do not wait for it. */
export function withPostgresSnapshot<T>(url: string, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  return withConnection(url, BACKUP, async (client) => {
    await client.query('begin isolation level repeatable read read only')
    const { rows } = await client.query<{ readonly name: string; readonly value: string }>(
      'select name, value from settings',
    )
    const linksBefore = (await isDistributed(client)) ? await findLinksBefore(client) : '~'
    const settings = new Map(rows.map(({ name, value }) => [name, value]))
    const { applied } = await schemaState(client)
    return work({
      schema: applied.at(-1)?.version ?? 0,
      schemaDigest: schemaDigest(applied.map(({ digest }) => digest)),
      issuer: settings.get('issuer'),
      masterKey: { wrapped: settings.get(MASTER_KEY), check: settings.get(MASTER_KEY_CHECK) },
      slices: (tables) => slicesOf(client, tables, linksBefore),
    })
  })
}

/** Returns an id after all links that every machine shows. */
async function findLinksBefore(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ readonly now: number }>(
    'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now',
  )
  return idBefore((rows[0]?.now ?? 0) - LEFT_OUT_MS, '')
}

async function* slicesOf(client: pg.Client, tables: readonly string[], linksBefore: string): AsyncGenerator<Slice> {
  for (const table of tables) {
    const columns = (await columnsOf(client, table)).map(({ name }) => name)
    // Ids have no quotation marks.
    const where = table === 'audit_links' ? `where link_id < '${linksBefore}'` : ''
    await client.query(`declare backup no scroll cursor for select ${columns.join(', ')} from ${table} ${where}`)
    for (let length = ROWS_IN_SLICE; length === ROWS_IN_SLICE;) {
      const { rows } = await client.query<Cells[]>({ text: `fetch ${ROWS_IN_SLICE} from backup`, rowMode: 'array' })
      yield { table, columns, rows: rows as unknown as readonly Cells[] }
      length = rows.length
    }
    await client.query('close backup')
  }
}

/**
 * Creates the schema of a backup in an empty database, inserts its rows in one transaction, and then applies the newer
 * migrations. After a failure the database has no rows, and the same call can be made again. The rows have a mark until
 * `endRestore` is called: no server starts before.
 *
 * @throws Error if the database has rows or is distributed
 */
export function loadPostgres(
  url: string,
  { schema, mark }: { readonly schema: number; readonly mark: string },
  slicesAt: (databaseNow: number) => Iterable<Slice>,
): Promise<void> {
  return withConnection(url, BACKUP, async (client) => {
    await migratePostgres(
      client,
      Date.now(),
      listMigrations().filter(({ version }) => version <= schema),
    )
    if (await isDistributed(client)) {
      throw new Error(
        'The tables are distributed. Restore into a database whose tables are not, and then distribute them.',
      )
    }
    await client.query('begin')
    // A server that starts now waits for this transaction, and then finds the restored rows.
    await client.query('lock table settings, users, clients in access exclusive mode')
    const { rows } = await client.query<{ readonly is_used: boolean; readonly now: number }>(
      `select exists (select 1 from settings) or exists (select 1 from users) or exists (select 1 from clients) as is_used,
         floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now`,
    )
    const [found] = rows
    if (found === undefined || found.is_used) {
      throw new Error(
        'The database has rows. Create an empty database, and name it in DATABASE_URL. If this file was restored or imported into it before, it is complete. If only the token of the administrator is lost after a restore, run: grantor admin create --name restore --access write',
      )
    }
    for (const slice of slicesAt(found.now)) await insert(client, slice)
    await client.query('insert into settings (name, value) values ($1, $2)', [RESTORING, mark])
    await client.query('commit')
    await migratePostgres(client, Date.now())
  })
}

/** Returns the mark of the backup whose rows are in the database and whose restore is not complete. */
export function findRestore(url: string): Promise<string | undefined> {
  return withConnection(url, BACKUP, async (client) => {
    if ((await schemaState(client)).applied.length === 0) return undefined
    const { rows } = await client.query<{ readonly value: string }>('select value from settings where name = $1', [
      RESTORING,
    ])
    return rows[0]?.value
  })
}

/** Removes the mark of a restore, so that servers start. */
export function endRestore(url: string): Promise<void> {
  return withConnection(url, BACKUP, async (client) => {
    await client.query('delete from settings where name = $1', [RESTORING])
  })
}

async function insert(client: pg.Client, slice: Slice): Promise<void> {
  const { table, columns, rows } = slice
  const known = await columnsOf(client, table)
  checkColumns(slice, known)
  const types = new Map(known.map(({ name, type }) => [name, type]))
  const arrays = columns.map((name, index) => `$${index + 1}::${types.get(name) ?? 'text'}[]`)
  await client.query(
    `insert into ${table} (${columns.join(', ')}) select * from unnest(${arrays.join(', ')})`,
    columns.map((_, index) => rows.map((row) => row[index] ?? null)),
  )
}

async function columnsOf(
  client: pg.Client,
  table: string,
): Promise<readonly (TableColumn & { readonly type: string })[]> {
  const { rows } = await client.query<TableColumn & { readonly type: string }>(
    `select column_name as name, data_type as type, is_nullable = 'NO' and column_default is null as "isRequired"
     from information_schema.columns
     where table_schema = current_schema() and table_name = $1 order by ordinal_position`,
    [table],
  )
  return rows
}
