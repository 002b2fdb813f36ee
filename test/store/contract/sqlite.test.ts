import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { StoreDriver } from '../../../src/ports/store.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { placeBlankDatabase } from '../../support/store/blank-database.ts'
import { temporaryFolder } from '../../support/server.ts'
import { openTestChains } from './chains.ts'
import { oneBatchAtATime, type Stores } from './harness.ts'
import { checkStoreContract } from './store-contract.ts'

checkStoreContract('sqlite', openSqliteStores)

async function openSqliteStores(t: Pick<TestContext, 'after'>): Promise<Stores> {
  const path = join(temporaryFolder(t), 'grantor.db')
  placeBlankDatabase(path)
  const options = { path, patienceMs: 10_000, checkpoints: 'inline' } as const
  const open = (): StoreDriver => oneBatchAtATime(openSqliteStore({ ...options, audit: openTestChains() }))
  const stores = { first: open(), second: open() }
  t.after(async () => void (await Promise.all([stores.first.close(), stores.second.close()])))
  return stores
}
