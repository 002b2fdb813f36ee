import { spawn, spawnSync } from 'node:child_process'
import pg from 'pg'
import { listMigrations } from '../../src/store/migrations.ts'
import {
  COPIED_TABLES,
  distributeTables,
  findObstacle,
  readCluster,
  SHARD_KEYS,
} from '../../src/store/postgres/distribution.ts'
import { migrateAt } from '../../src/store/postgres/schema/migrate-at.ts'
import { migratePostgres } from '../../src/store/postgres/schema/migrate.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import type { Findings } from '../findings.ts'
import { createProvider } from './person.ts'
import { aUserOfTwo, SHARDS } from './shards.ts'
import type { KillableDatabase } from '../restarts/campaign.ts'

/** What a cluster of Citus must do besides serving requests. */

const ROWS = 1200

/** Every kind of step of a migration, on a distributed table. */
const PLANTED = {
  version: 9001,
  name: 'planted',
  sql: `-- each statement by itself
alter table grants add column /*postgres if not exists*/ planted bigint;
create index /*postgres concurrently*/ if not exists grants_unplanted on grants (grant_id) where planted is null;
-- repeat until no row changes
update grants set planted = 1 where grant_id in (
  select grant_id from grants where planted is null order by grant_id limit 500);
drop index /*postgres concurrently*/ if exists grants_unplanted;
`,
}

/**
 * Migrates an empty database, adds rows of a user, and distributes its tables.
 * @throws Error if the database has rows, its tables cannot be distributed, or a worker can be migrated instead
 */
export async function prepare([url = '', ...others]: readonly string[]): Promise<void> {
  for (const other of others) {
    const cause: unknown = await migrateAt(other, Date.now()).then(() => 'it was migrated', String)
    if (!String(cause).includes('is a worker'))
      throw new Error(`A machine that is not the coordinator: ${String(cause)}`)
  }
  await withClient(url, async (client) => {
    const { rowCount } = await client.query(`select 1 where to_regclass('clients') is not null`)
    if (rowCount === 1) throw new Error('The database must be empty.')
    await migratePostgres(client, Date.now())
    await addRows(url)
    const obstacle = await findObstacle(client)
    if (obstacle !== undefined) throw new Error(obstacle)
    await distributeTables(client, SHARDS)
  })
}

/** The rows are written as on one machine, without names. */
async function addRows(url: string): Promise<void> {
  const store = await openPostgresStore({ url, connections: 1 })
  await createProvider(store)
  await aUserOfTwo(store)
  await store.close()
}

/** Runs the store contract with one handle on each machine. Returns how many cases passed, of how many. */
export function checkContract(urls: readonly string[], findings: Findings): string {
  const { stdout } = spawnSync('node', ['--test', '--test-reporter=tap', 'test/store/contract/postgres.test.ts'], {
    env: { ...process.env, CONTRACT_DATABASES: urls.slice(0, 2).join(' ') },
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  for (const failure of stdout.split(/^not ok \d+ - /m).slice(1)) {
    const [, reason = ''] = /^ +error: (?:\|-\s+)?(.+)$/m.exec(failure) ?? []
    findings.report(`contract: ${failure.split('\n')[0]}: ${reason}`)
  }
  const [passed, all] = ['pass', 'tests'].map((name) => new RegExp(`^# ${name} (\\d+)$`, 'm').exec(stdout)?.[1] ?? '0')
  if (all === '0') findings.report('contract: it did not run')
  return `${passed} of ${all}`
}

/** Applies a planted migration to rows on all machines, and empties the database. */
export async function proveMigration(url: string, findings: Findings): Promise<void> {
  await withClient(url, async (client) => {
    await client.query(
      `insert into grants (grant_id, client_id, user_id, scope, resources, created_at, expires_at)
       select 'planted' || number, '', '', '', '[]', 0, 0 from generate_series(1, $1) as number`,
      [ROWS],
    )
    await migratePostgres(client, Date.now(), [...listMigrations(), PLANTED])
    const { rows } = await client.query<{ readonly count: string }>('select count(*) from grants where planted = 1')
    if (Number(rows[0]?.count) !== ROWS) findings.report(`migration: ${rows[0]?.count} of ${ROWS} rows were filled`)
    await client.query('alter table grants drop column planted')
    await client.query('delete from migrations where version = $1', [PLANTED.version])
    for (const table of [...Object.keys(SHARD_KEYS), ...COPIED_TABLES]) {
      if (table !== 'migrations') await client.query(`delete from ${table}`)
    }
    const { placements = [] } = (await readCluster(client)) ?? {}
    if (placements.some(({ by }) => by === 'local')) findings.report('migration: a table is not distributed')
  })
}

/** Checks that all machines have the same copies. Returns how many tables. */
export async function proveCopies(url: string, findings: Findings): Promise<string> {
  await withClient(url, async (client) => {
    for (const table of COPIED_TABLES) {
      const { rowCount } = await client.query(
        `select distinct result from run_command_on_all_nodes('select array_agg(t::text order by t::text) from ${table} as t')`,
      )
      if (rowCount !== 1) findings.report(`the copies of ${table} differ`)
    }
  })
  return `tables whose copies are the same on all machines: ${COPIED_TABLES.length}`
}

/** Removes the links of the audit, which are not under the master key of the nodes. */
export async function clearAudit(url: string): Promise<void> {
  await withClient(url, async (client) => void (await client.query('delete from audit_links')))
}

/** Checks that every machine reports a table that the coordinator alone has, as the doctor does. */
export async function proveDoctor(urls: readonly string[], findings: Findings): Promise<void> {
  const [coordinator = '', ...others] = urls
  const table = 'planted_on_one_machine'
  await withClient(coordinator, async (client) => void (await client.query(`create table ${table} (id text)`)))
  for (const url of urls) {
    await withClient(url, async (client) => {
      const [found] = (await readCluster(client, [table]))?.placements ?? []
      const expected = others.includes(url) ? 'missing' : 'local'
      if (found?.by !== expected) findings.report(`doctor: a table of one machine is "${found?.by}" to ${url}`)
    })
  }
  await withClient(coordinator, async (client) => void (await client.query(`drop table ${table}`)))
}

/** A machine that is killed and started by commands of the caller. */
export function commandDatabase(kill: string, start: string): KillableDatabase {
  return { kill: () => runCommand(kill), start: () => runCommand(start) }
}

function runCommand(command: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'ignore', 'inherit'] })
    child.once('error', reject)
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`${command} ended with ${code}.`))))
  })
}

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'prove citus' })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}
