import { after } from 'node:test'
import type { StoreDriver } from '../../src/ports/store.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { openMigratedDatabase } from '../migrated-database.ts'
import { connect } from '../store/postgres-schema.ts'
import { openTestChains } from './chains.ts'
import type { Stores } from './harness.ts'
import { checkStoreContract } from './store-contract.ts'

/** Two pools on one database, each free to have several batches under way. To make them takes longer than any case does. */
const file = { after: (end: unknown): void => after(end as () => unknown) }
const url = await openMigratedDatabase(file)
const open = (): Promise<StoreDriver> => openPostgresStore({ url, connections: 4, audit: openTestChains() })
const stores: Stores = { first: await open(), second: await open() }
after(async () => void (await Promise.all([stores.first.close(), stores.second.close()])))
const cleaner = await connect(file, url)

checkStoreContract('postgres', async () => {
  await cleaner.query(await emptying())
  return stores
})

/** What leaves the tables as the migrations made them. Truncating them takes a hundred times as long. */
async function emptying(): Promise<string> {
  const { rows } = await cleaner.query<{ readonly statement: string }>(
    `select 'delete from ' || tablename as statement from pg_tables
     where schemaname = current_schema() and tablename not like 'migration%'`,
  )
  return rows.map(({ statement }) => statement).join('; ')
}
