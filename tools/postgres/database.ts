import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { startPostgres, type Postgres } from './postgres.ts'
import { pin } from '../process/children.ts'
import { listTree, readTreeUsage } from '../process/usage.ts'

/** The PostgreSQL of a run. It has the default durability, so every commit is synced, and its files are on a real disk. */
export interface BenchDatabase {
  readonly version: string
  /** Creates an empty database whose activity is measured. */
  readonly open: () => Promise<{ readonly url: string; readonly adminUrl: string; readonly watch: DatabaseWatch }>
  /** Writes all data to the files, so that none of it is written during a measurement. */
  readonly settle: () => Promise<void>
  readonly close: () => Promise<void>
}

/** The activity of one database since it was created. The processor time is that of the whole cluster. */
export interface DatabaseWatch {
  readonly read: () => Promise<DatabaseUse>
}

export interface DatabaseUse {
  /** undefined on a system without /proc. */
  readonly cpuMs: number | undefined
  /** Transactions that wrote. */
  readonly commits: number
  /** undefined without pg_stat_statements. */
  readonly statements: number | undefined
}

const SETTINGS = { fsync: 'on', synchronous_commit: 'on', shared_buffers: '256MB' }
const EXTENSION = 'pg_stat_statements'

/** Starts PostgreSQL with all its processes on the given core. undefined: on any core. */
export async function startDatabase(core: number | undefined): Promise<BenchDatabase> {
  const postgres = await startCounting()
  const pid = Number(readFileSync(join(postgres.folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0])
  if (core !== undefined) for (const one of listTree(pid)) pin(one, core)
  const admin = new pg.Pool({ connectionString: postgres.adminUrl(), max: 1 })
  admin.on('error', () => undefined)
  const counts = await admin.query(`create extension if not exists ${EXTENSION}`).then(
    () => true,
    () => false,
  )
  const { rows } = await admin.query<{ server_version: string }>('show server_version')
  return {
    version: rows[0]?.server_version ?? 'unknown',
    async open() {
      const { name, url, adminUrl } = await postgres.createDatabase()
      return {
        url,
        adminUrl,
        watch: {
          async read() {
            const cpuMs = readTreeUsage(pid)?.cpuMs
            const commits = await countCommits(admin)
            return { cpuMs, commits, statements: counts ? await countStatements(admin, name) : undefined }
          },
        },
      }
    },
    settle: async () => void (await admin.query('checkpoint')),
    async close() {
      await admin.end()
      await postgres.remove()
    },
  }
}

/** An installed PostgreSQL may lack the extension. Then statements are not counted. */
async function startCounting(): Promise<Postgres> {
  try {
    return await startPostgres({ settings: { ...SETTINGS, shared_preload_libraries: EXTENSION } })
  } catch {
    return startPostgres({ settings: SETTINGS })
  }
}

/** Every transaction that writes gets a number of the cluster, and no other does (https://www.postgresql.org/docs/current/transaction-id.html). */
async function countCommits(admin: pg.Pool): Promise<number> {
  const { rows } = await admin.query<{ next: string }>('select pg_snapshot_xmax(pg_current_snapshot())::text as next')
  return Number(rows[0]?.next)
}

async function countStatements(admin: pg.Pool, name: string): Promise<number> {
  const { rows } = await admin.query<{ statements: string }>(
    `select coalesce(sum(calls) filter (where query not in ('begin', 'commit')), 0) as statements
     from ${EXTENSION} join pg_database on pg_database.oid = dbid where datname = $1`,
    [name],
  )
  return Number(rows[0]?.statements)
}
