import assert from 'node:assert/strict'
import { test } from 'node:test'
import type pg from 'pg'
import { openQuery, type Query } from '../../../src/store/postgres/connection/query.ts'
import { distributedUserHandlers } from '../../../src/store/postgres/distributed-users.ts'
import { openMigratedDatabase } from '../../support/store/migrated-database.ts'
import { openSession } from '../../support/store/postgres.ts'
import { aGrantSlice, aSweep } from '../contract/server/sweep.ts'

test('where Citus distributes the tables, a sweep that finds nothing changes nothing on any shard', async (t) => {
  const client = await openSession(t, await openMigratedDatabase(t))
  const query = openQuery(client as unknown as pg.PoolClient, performance.now() + 10_000, true)
  const texts: string[] = []
  const recording: Query = Object.assign(
    (...[statement, parameters]: Parameters<Query>) => {
      texts.push(statement.text)
      return query(statement, parameters)
    },
    { isDistributed: true },
  )
  await distributedUserHandlers.sweepExpired.run(recording, [aSweep()])
  await distributedUserHandlers.sweepGrants.run(recording, [aGrantSlice()])
  assert.ok(texts.length > 15)
  assert.deepEqual(
    texts.filter((text) => !text.startsWith('select')),
    [],
  )
})
