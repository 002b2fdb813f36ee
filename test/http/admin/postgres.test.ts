import { test } from 'node:test'
import { openMigratedDatabase } from '../../support/migrated-database.ts'
import { performEveryTask } from './every-route.ts'
import { openAdminServer } from '../../support/admin-server.ts'

test('every route does its task over PostgreSQL as over a file', async (t) => {
  const env = { DATABASE_URL: await openMigratedDatabase(t), GRANTOR_SECRET: 's'.repeat(32) }
  await performEveryTask(await openAdminServer(t, env))
})
