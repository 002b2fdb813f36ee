import { join } from 'node:path'
import { readConfig } from '../../src/config/config.ts'
import type { Context } from '../../src/ports/context.ts'
import { openRuntime, type Runtime } from '../../src/server/context.ts'
import { openReader, type DatabaseReader } from '../../tools/postgres/database-reader.ts'
import type { BenchDatabase } from '../../tools/postgres/database.ts'
import { runCommand } from '../server.ts'
import { newSecret } from '../../tools/process/server.ts'
import { fillPostgres, fillSqlite } from './fill.ts'
import { growthOperations } from './operations.ts'

/** A store that is filled with a number of rows. */
export interface FilledStore {
  readonly rows: number
  readonly operations: Readonly<Record<string, () => Promise<void>>>
  readonly reader: DatabaseReader
  readonly url: string
  readonly context: Context
  /** The file; undefined: the store is a PostgreSQL database. */
  readonly path: string | undefined
  readonly openingMs: number
  /** Runs a command beside the store, and returns its seconds. */
  readonly command: (codes: readonly number[], ...words: readonly string[]) => Promise<number>
  readonly close: () => Promise<void>
}

/** Opens and fills a store. Without a database, the store is a SQLite file in the folder. */
export async function openFilledStore(
  rows: number,
  folder: string,
  database: BenchDatabase | undefined,
): Promise<FilledStore> {
  const fill = { rows, now: Date.now() }
  const path = join(folder, `${rows}.db`)
  const url = database === undefined ? `sqlite:${path}` : (await database.open()).url
  const settings = { DATABASE_URL: url, GRANTOR_SECRET: newSecret(), LOG_LEVEL: 'silent' }
  const config = readConfig(settings)
  const open = (): Promise<Runtime> => openRuntime(config, undefined, 'server')
  await (await open()).close()
  if (database === undefined) fillSqlite(path, fill)
  else {
    await fillPostgres(url, fill)
    await database.settle()
  }
  const startedAt = performance.now()
  const { context, close } = await open()
  const openingMs = performance.now() - startedAt
  const reader = await openReader(url)
  return {
    rows,
    operations: growthOperations(context, fill),
    reader,
    url,
    context,
    path: database === undefined ? path : undefined,
    openingMs,
    command: (codes, ...words) => runCommand({ folder, settings, codes }, words),
    async close() {
      await reader.close()
      await close()
    },
  }
}
