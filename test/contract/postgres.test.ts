import type { TestContext } from 'node:test'
import type { StoreDriver } from '../../src/ports/store.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { openTestDatabase } from '../postgres.ts'
import { openTestChains } from './chains.ts'
import type { Stores } from './harness.ts'
import { checkStoreContract } from './store-contract.ts'

checkStoreContract('postgres', openPostgresStores)

/** Two pools on one database, each free to have several batches under way. */
async function openPostgresStores(t: Pick<TestContext, 'after'>): Promise<Stores> {
  const options = { url: await openTestDatabase(t), connections: 4 }
  const open = (): Promise<StoreDriver> => openPostgresStore({ ...options, audit: openTestChains() })
  const stores = { first: await open(), second: await open() }
  t.after(async () => void (await Promise.all([stores.first.close(), stores.second.close()])))
  return stores
}
