import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { temporaryFolder } from '../server.ts'
import { oneBatchAtATime, type Stores } from './harness.ts'
import { checkStoreContract } from './store-contract.ts'

checkStoreContract('sqlite', openSqliteStores)

async function openSqliteStores(t: Pick<TestContext, 'after'>): Promise<Stores> {
  const options = { path: join(temporaryFolder(t), 'grantor.db'), patienceMs: 10_000, checkpoints: 'inline' } as const
  const stores = { first: oneBatchAtATime(openSqliteStore(options)), second: oneBatchAtATime(openSqliteStore(options)) }
  t.after(async () => void (await Promise.all([stores.first.close(), stores.second.close()])))
  return stores
}
