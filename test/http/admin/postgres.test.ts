import { test } from 'node:test'
import { openMigratedDatabase } from '../../support/store/migrated-database.ts'
import { performEveryTask } from './every-route.ts'
import { openAdminServer } from '../../support/admin-server.ts'

test('every route performs its task on PostgreSQL as on SQLite', async (t) => {
  const env = { DATABASE_URL: await openMigratedDatabase(t), GRANTOR_SECRET: 's'.repeat(32) }
  await performEveryTask(await openAdminServer(t, env))
})
