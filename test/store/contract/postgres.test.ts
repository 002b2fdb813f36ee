import { after } from 'node:test'
import type { StoreDriver } from '../../../src/ports/store.ts'
import { openPostgresStore } from '../../../src/store/postgres/store.ts'
import { openMigratedDatabase } from '../../support/store/migrated-database.ts'
import { openTestChains } from './chains.ts'
import type { Stores } from './harness.ts'
import { checkStoreContract } from './store-contract.ts'
import { openSession } from '../../support/store/postgres.ts'

/**
 * Two pools on one database, or on two machines of a cluster (prove/citus). Each may have several batches in progress. Opening
 * them takes longer than any test.
 */
const file = { after: (end: unknown): void => after(end as () => unknown) }
const [url, otherUrl = url] = (process.env['CONTRACT_DATABASES'] ?? (await openMigratedDatabase(file))).split(' ') as [
  string,
]
const open = (address: string): Promise<StoreDriver> =>
  openPostgresStore({ url: address, connections: 4, audit: openTestChains() })
const stores: Stores = { first: await open(url), second: await open(otherUrl) }
after(async () => void (await Promise.all([stores.first.close(), stores.second.close()])))
const cleaner = await openSession(file, url)

checkStoreContract('postgres', async () => {
  await cleaner.query(await emptying())
  return stores
})

/** Restores the tables to the state after the migrations. Truncating them would take a hundred times as long. */
async function emptying(): Promise<string> {
  const { rows } = await cleaner.query<{ readonly statement: string }>(
    `select 'delete from ' || tablename as statement from pg_tables
     where schemaname = current_schema() and tablename not like 'migration%'`,
  )
  return rows.map(({ statement }) => statement).join('; ')
}
