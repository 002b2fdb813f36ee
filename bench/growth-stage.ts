import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { openRuntime, type Runtime } from '../src/server/server.ts'
import { readConfig } from '../src/config/config.ts'
import type { BenchDatabase } from './database.ts'
import { fillPostgres, fillSqlite } from './growth-fill.ts'
import { growthOperations } from './growth-operations.ts'

/** A store that is filled with a number of rows. */
export interface GrowthStage {
  readonly rows: number
  readonly operations: Readonly<Record<string, () => Promise<void>>>
  /** The number of bytes that `work` adds to the write-ahead log. */
  readonly countLogBytes: (run: () => Promise<void>) => Promise<number>
  readonly close: () => Promise<void>
}

export interface GrowthPlace {
  readonly folder: string
  readonly secret: string
  /** undefined: the store is a SQLite file in the folder. */
  readonly database: BenchDatabase | undefined
}

/** Opens and fills a store. `now` is the time of the filling, so that the rows are always the same. */
export async function openGrowthStage(rows: number, { folder, secret, database }: GrowthPlace): Promise<GrowthStage> {
  const fill = { rows, now: Date.now() }
  const path = join(folder, `${rows}.db`)
  const url = database === undefined ? `sqlite:${path}` : (await database.open()).url
  const open = (): Promise<Runtime> =>
    openRuntime(readConfig({ DATABASE_URL: url, GRANTOR_SECRET: secret, LOG_LEVEL: 'silent' }), undefined, 'server')
  await (await open()).close()
  if (database === undefined) fillSqlite(path, fill)
  else {
    await fillPostgres(url, fill)
    await database.settle()
  }
  const workshop = await open()
  return {
    rows,
    operations: growthOperations(workshop.context, fill),
    countLogBytes: (run) => (database === undefined ? countInFile(path, run) : countInPostgres(url, run)),
    close: workshop.close,
  }
}

/** An open read transaction prevents the log from being restarted, so that the log grows by all bytes that are written. */
async function countInFile(path: string, run: () => Promise<void>): Promise<number> {
  const reader = new DatabaseSync(path, { timeout: 10_000 })
  reader.exec('pragma wal_checkpoint(truncate); begin; select 1 from clients limit 1')
  const before = statSync(`${path}-wal`).size
  await run()
  const after = statSync(`${path}-wal`).size
  reader.close()
  return after - before
}

async function countInPostgres(url: string, run: () => Promise<void>): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const position = async (): Promise<number> =>
    Number((await client.query<{ at: string }>("select pg_current_wal_insert_lsn() - '0/0' as at")).rows[0]?.at)
  const before = await position()
  await run()
  const after = await position()
  await client.end()
  return after - before
}
