import type { DatabaseSync } from 'node:sqlite'
import { checkColumns, type Cells, type Slice, type Snapshot, type TableColumn } from '../backup/tables.ts'
import { openDatabase } from './database.ts'
import { schemaState, migrate } from './migrate.ts'
import { listMigrations, schemaDigest } from '../migrations.ts'
import { MASTER_KEY, MASTER_KEY_CHECK } from '../nouns/server/settings.ts'
import { slotOf } from './slot.ts'

const ROWS_IN_SLICE = 1000
/** The column with row numbers that are made of the ids of the rows. A backup does not have the numbers. */
const SLOT = 'slot'
/** The ids of the tables with such a column. */
const SLOT_IDS: Readonly<Record<string, string>> = { clients: 'client_id', grants: 'grant_id' }

/** Runs `work` on one consistent state of a file, beside a server that writes to it. Writers do not wait for it. */
export async function withSqliteSnapshot<T>(path: string, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  const database = openDatabase(path)
  try {
    database.exec('begin')
    const setting = database.prepare('select value from settings where name = ?')
    const find = (name: string): string | undefined => setting.get(name)?.['value'] as string | undefined
    const { applied } = schemaState(database)
    return await work({
      schema: applied.at(-1)?.version ?? 0,
      schemaDigest: schemaDigest(applied.map(({ digest }) => digest)),
      issuer: find('issuer'),
      masterKey: { wrapped: find(MASTER_KEY), check: find(MASTER_KEY_CHECK) },
      slices: (tables) => slicesOf(database, tables),
    })
  } finally {
    database.close()
  }
}

async function* slicesOf(database: DatabaseSync, tables: readonly string[]): AsyncGenerator<Slice> {
  for (const table of tables) {
    const columns = columnsOf(database, table)
      .map(({ name }) => name)
      .filter((name) => name !== SLOT)
    const statement = database.prepare(`select ${columns.join(', ')} from ${table}`)
    statement.setReturnArrays(true)
    let rows: Cells[] = []
    for (const row of statement.iterate()) {
      rows.push(row as unknown as Cells)
      if (rows.length < ROWS_IN_SLICE) continue
      yield { table, columns, rows }
      rows = []
    }
    yield { table, columns, rows }
  }
}

/**
 * Creates a file with the schema of a backup, its rows, and then the newest schema. A file that is left of an earlier attempt
 * must have been removed.
 */
export function loadSqlite(path: string, schema: number, slices: Iterable<Slice>): void {
  const database = openDatabase(path)
  try {
    migrate(
      database,
      Date.now(),
      listMigrations().filter(({ version }) => version <= schema),
    )
    database.exec('begin immediate')
    for (const slice of slices) {
      const insert = inserter(database, slice)
      for (const row of slice.rows) insert(row)
    }
    database.exec('commit')
    migrate(database, Date.now())
  } finally {
    database.close()
  }
}

function inserter(database: DatabaseSync, slice: Slice): (row: Cells) => void {
  const { table, columns } = slice
  const known = columnsOf(database, table)
  checkColumns(
    slice,
    known.filter(({ name }) => name !== SLOT),
  )
  const marks = columns.map(() => '?').join(', ')
  if (!known.some(({ name }) => name === SLOT)) {
    const insert = database.prepare(`insert into ${table} (${columns.join(', ')}) values (${marks})`)
    return (row) => void insert.run(...row)
  }
  const insert = database.prepare(
    `insert into ${table} (${columns.join(', ')}, ${SLOT})
     values (${marks}, (select iif(exists (select 1 from ${table} where ${SLOT} = given.number), null, given.number)
       from (select ? as number) as given))`,
  )
  const id = columns.indexOf(SLOT_IDS[table] ?? '')
  return (row) => void insert.run(...row, slotOf(String(row[id])))
}

function columnsOf(database: DatabaseSync, table: string): readonly TableColumn[] {
  return database
    .prepare(`select name, "notnull" and dflt_value is null as required from pragma_table_info('${table}')`)
    .all()
    .map(({ name, required }) => ({ name: String(name), isRequired: required === 1 }))
}
