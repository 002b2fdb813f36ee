import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync, gzipSync } from 'node:zlib'
import { BOOKKEEPING, listMigrations, readScript } from '../../src/store/migrations.ts'
import { withClient } from '../../tools/postgres/postgres.ts'
import { freePorts } from '../../tools/process/free-ports.ts'
import { fill, FILLED_SETTINGS } from './filled.ts'
import { faultsOfHeld, obtainHeld, type Held } from './held.ts'
import { createStore, openNode, settingsOf } from './node.ts'

/**
 * A database of a release, and what is held of it. Each release leaves one of each store in `test/upgrade/<version>/`, so that every later
 * one is tested with it. The files are packed with gzip:
 *
 *   sqlite            the file
 *   postgres          the rows of all tables; their schema is that of the migrations of the release, which never change
 *   sqlite-held, postgres-held   `Kept`
 */
export interface Kept {
  /** When it was made: what is held expires, so a test sets its clock to this time. */
  readonly at: number
  readonly settings: Readonly<Record<string, string>>
  readonly held: Held
}

export const KEPT_STORES = ['sqlite', 'postgres'] as const
export type KeptStore = (typeof KEPT_STORES)[number]

/** Not that of the runner of migrations, which makes it itself. */
const TABLES = `select table_name as name from information_schema.tables
  where table_schema = current_schema() and table_type = 'BASE TABLE' and table_name <> 'migration_lease' order by 1`
/** Not the parts of the index of names. */
const SQLITE_TABLES = `select name from sqlite_schema where type = 'table' and name not like 'user_grams%' order by 1`

/** Starts a release on an empty database, uses it, and keeps the database. `place`: a folder for its files. */
export async function make(
  kept: string,
  store: KeptStore,
  url: string,
  { release, place: folder }: Making,
): Promise<void> {
  const [port = 0, adminPort = 0] = await freePorts(2)
  const issuer = `http://localhost:${port}`
  const agent = new Agent({ keepAlive: false })
  const settings = { ...settingsOf(issuer, url), ...FILLED_SETTINGS }
  const administrator = await createStore(release, settings)
  const node = openNode(release, [port, adminPort], { folder, agent, settings, issuer, administrator })
  try {
    await node.process.start()
    await fill(node)
    const held = await obtainHeld(node)
    await node.process.stop()
    await keep(kept, store, url, { at: Date.now(), settings, held })
  } finally {
    node.process.kill()
    agent.destroy()
  }
}

/** Starts a release on a database that was kept just now. Says what of it no longer works. */
export async function use(
  kept: string,
  store: KeptStore,
  url: string,
  { release, place: folder }: Making,
): Promise<readonly string[]> {
  const { settings, held } = await place(kept, store, url)
  const [port = 0, adminPort = 0] = await freePorts(2)
  const agent = new Agent({ keepAlive: false })
  const { issuer, administrator } = held
  const own = { ...settings, DATABASE_URL: url }
  const node = openNode(release, [port, adminPort], { folder, agent, settings: own, issuer, administrator })
  try {
    await node.process.start()
    const faults = await faultsOfHeld(node, held)
    await node.process.stop()
    return faults
  } finally {
    node.process.kill()
    agent.destroy()
  }
}

interface Making {
  /** The folder of the installed release. */
  readonly release: string
  readonly place: string
}

/** Writes a database that no server uses to the folder. `url`: of its server. */
export async function keep(folder: string, store: KeptStore, url: string, kept: Kept): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const write = (name: string, content: Buffer | string): void =>
    writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }))
  write(`${store}-held`, JSON.stringify(kept))
  write(store, store === 'sqlite' ? readWhole(pathOf(url)) : JSON.stringify(await readTables(url)))
}

/** Puts a kept database at this address, where there is none, or an empty one. */
export async function place(folder: string, store: KeptStore, url: string): Promise<Kept> {
  const read = (name: string): Buffer => gunzipSync(readFileSync(join(folder, `${name}.gz`)))
  const bytes = read(store)
  if (store === 'sqlite') writeFileSync(pathOf(url), bytes, { flag: 'wx', mode: 0o600 })
  else await writeTables(url, JSON.parse(bytes.toString()) as Tables)
  return JSON.parse(read(`${store}-held`).toString()) as Kept
}

/** The tables without a row. */
export async function emptyTables(url: string): Promise<readonly string[]> {
  if (url.startsWith('postgres'))
    return Object.entries(await readTables(url)).flatMap(([name, { length }]) => (length === 0 ? [name] : []))
  const database = new DatabaseSync(pathOf(url))
  const names = database.prepare(SQLITE_TABLES).all()
  const empty = names.map(({ name }) => String(name)).filter((name) => !database.prepare(`select 1 from ${name}`).get())
  database.close()
  return empty
}

function pathOf(url: string): string {
  return url.replace(/^sqlite:/, '')
}

/** The file with what is in its log, and without free pages. */
function readWhole(path: string): Buffer {
  const copy = `${path}-kept`
  const database = new DatabaseSync(path)
  database.prepare('vacuum into ?').run(copy)
  database.close()
  const bytes = readFileSync(copy)
  rmSync(copy)
  return bytes
}

/** The rows of each table, as JSON of PostgreSQL. */
type Tables = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>

function readTables(url: string): Promise<Tables> {
  return withClient(url, async (client) => {
    const tables: [string, Tables[string]][] = []
    const { rows } = await client.query<{ readonly name: string }>(TABLES)
    for (const { name } of rows) {
      const sql = `select coalesce(json_agg(t), '[]')::text as rows from ${name} t`
      const [found] = (await client.query<{ readonly rows: string }>(sql)).rows
      tables.push([name, JSON.parse(found?.rows ?? '[]') as Tables[string]])
    }
    return Object.fromEntries(tables)
  })
}

/** Makes the tables by the migrations that the database had, and inserts its rows. */
function writeTables(url: string, tables: Tables): Promise<void> {
  const applied = new Set((tables['migrations'] ?? []).map(({ version }) => version))
  const scripts = listMigrations()
    .filter(({ version }) => applied.has(version))
    .map((migration) => readScript(migration, 'postgres'))
  const statements = scripts.flatMap((script) => script.statements.map(({ sql }) => sql))
  return withClient(url, async (client) => {
    for (const sql of [...BOOKKEEPING, ...statements]) await client.query(sql)
    for (const [name, rows] of Object.entries(tables)) {
      await client.query(`delete from ${name}`)
      const sql = `insert into ${name} select * from json_populate_recordset(null::${name}, $1)`
      await client.query(sql, [JSON.stringify(rows)])
    }
  })
}
