import { test } from 'node:test'
import { openMigratedDatabase } from '../../support/migrated-database.ts'
import { performEveryTask } from './every-route.ts'
import { openStage } from '../../support/admin-stage.ts'

test('every route does its task over PostgreSQL as over a file', async (t) => {
  const env = { DATABASE_URL: await openMigratedDatabase(t), GRANTOR_SECRET: 's'.repeat(32) }
  await performEveryTask(await openStage(t, env))
})
