import { join } from 'node:path'
import { readConfig } from '../../src/config/config.ts'
import { openRuntime, type Runtime } from '../../src/server/context.ts'
import { openReader, type DatabaseReader } from '../../tools/postgres/database-reader.ts'
import type { BenchDatabase } from '../../tools/postgres/database.ts'
import { newSecret } from '../../tools/process/server.ts'
import { fillPostgres, fillSqlite } from './fill.ts'
import { growthOperations } from './operations.ts'

/** A store that is filled with a number of rows. */
export interface FilledStore {
  readonly rows: number
  readonly operations: Readonly<Record<string, () => Promise<void>>>
  readonly reader: DatabaseReader
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
  const config = readConfig({ DATABASE_URL: url, GRANTOR_SECRET: newSecret(), LOG_LEVEL: 'silent' })
  const open = (): Promise<Runtime> => openRuntime(config, undefined, 'server')
  await (await open()).close()
  if (database === undefined) fillSqlite(path, fill)
  else {
    await fillPostgres(url, fill)
    await database.settle()
  }
  const { context, close } = await open()
  const reader = await openReader(url)
  return {
    rows,
    operations: growthOperations(context, fill),
    reader,
    async close() {
      await reader.close()
      await close()
    },
  }
}
