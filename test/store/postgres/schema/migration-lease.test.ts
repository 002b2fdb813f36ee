import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { migratePostgres, schemaState, type MigrationTiming } from '../../../../src/store/postgres/schema/migrate.ts'
import { LEASE_TABLE, takeLease } from '../../../../src/store/postgres/schema/migration-lease.ts'
import { openSession, openTestDatabase } from '../../../support/store/postgres.ts'
import { PLANTED, VERSIONS, versionsOf } from '../../planted-migrations.ts'
import { cut, onQuery } from '../schema.ts'

const NOW = 1_700_000_000_000
const HOUR = 3_600_000
const QUICK: MigrationTiming = { leaseMs: 20, pollMs: 5, patienceMs: 600_000, lockTimeoutMs: 100 }
const IMPATIENT: MigrationTiming = { ...QUICK, patienceMs: 100 }

test('a node that waits too long reports which migration it waits for, and what to do', async (t) => {
  const url = await openTestDatabase(t)
  const [holder, node] = [await openSession(t, url), await openSession(t, url)]
  await holder.query(LEASE_TABLE)
  const lease = await takeLease(holder, HOUR)
  await assert.rejects(
    migratePostgres(node, NOW, PLANTED, IMPATIENT),
    /^Error: Another node has been migrating the database for more than 0\.1 s\. Wait until "grantor migrate status"/,
  )
  assert.deepEqual((await schemaState(node, PLANTED)).applied, [])
  await lease?.release()
  assert.deepEqual(versionsOf(await migratePostgres(node, NOW, PLANTED, QUICK)), VERSIONS)
})

test('the lease of a node that died is taken over once it has expired', async (t) => {
  const url = await openTestDatabase(t)
  const [ended, node] = [await openSession(t, url), await openSession(t, url)]
  await ended.query(LEASE_TABLE)
  assert.ok(await takeLease(ended, HOUR))
  cut(ended)
  await assert.rejects(migratePostgres(node, NOW, PLANTED, IMPATIENT), /Another node/)
  await node.query('update migration_lease set expires_at = 0')
  assert.deepEqual(versionsOf(await migratePostgres(node, NOW, PLANTED, QUICK)), VERSIONS)
})

test('a node keeps its lease while a statement takes longer than the lease is valid', async (t) => {
  const url = await openTestDatabase(t)
  const [slow, node] = [await openSession(t, url), await openSession(t, url)]
  await slow.query(LEASE_TABLE)
  assert.ok(await takeLease(slow, 0))
  const atWork = slow.query('select pg_sleep(600)').catch(() => 'ended')
  await waitUntil(node, `select 1 from pg_stat_activity where ${ASLEEP}`)
  await assert.rejects(migratePostgres(node, NOW, PLANTED, IMPATIENT), /Another node/)
  await node.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${ASLEEP}`)
  assert.equal(await atWork, 'ended')
  assert.deepEqual(versionsOf(await migratePostgres(node, NOW, PLANTED, QUICK)), VERSIONS)
})

test('a node that lost its lease stops before it changes anything', async (t) => {
  const url = await openTestDatabase(t)
  const [slow, node] = [await openSession(t, url), await openSession(t, url)]
  let isLost = false
  // The other node applies everything while this one is about to start the backfill.
  const paused = onQuery(slow, async (sql) => {
    if (isLost || !sql.includes('select statements_done')) return
    isLost = true
    await node.query('update migration_lease set expires_at = 0')
    assert.deepEqual(versionsOf(await migratePostgres(node, NOW, PLANTED, QUICK)), [3, 4])
  })
  await assert.rejects(migratePostgres(paused, NOW, PLANTED, QUICK), /Another node took over the migration/)
  assert.equal(isLost, true)
  assert.deepEqual(await migratePostgres(slow, NOW, PLANTED, QUICK), [])
})

test('an index that a killed node left half built is built again', async (t) => {
  const url = await openTestDatabase(t)
  const [dying, node, writer] = [await openSession(t, url), await openSession(t, url), await openSession(t, url)]
  await migratePostgres(node, NOW, PLANTED.slice(0, 2), QUICK)
  // The index build waits for this transaction, half done.
  await writer.query('begin')
  await writer.query(`insert into things values ('open', 'abc')`)
  const killed = assert.rejects(migratePostgres(dying, NOW, PLANTED, QUICK))
  await waitUntil(node, `select 1 from pg_stat_progress_create_index where ${HERE} and phase like 'waiting for%'`)
  await node.query(`select pg_terminate_backend(pid) from pg_stat_progress_create_index where ${HERE}`)
  await killed
  assert.equal((await node.query(INVALID)).rowCount, 1)
  await writer.query('commit')
  assert.deepEqual(versionsOf(await migratePostgres(node, NOW, PLANTED.slice(0, 3), QUICK)), [3])
  assert.equal((await node.query(INVALID)).rowCount, 0)
  assert.equal((await node.query(`select 1 where to_regclass('things_size') is not null`)).rowCount, 1)
})

test('while a migration waits for a lock the running release works, and the migration succeeds once the lock is free', async (t) => {
  const url = await openTestDatabase(t)
  const [node, reader, release] = [await openSession(t, url), await openSession(t, url), await openSession(t, url)]
  await migratePostgres(node, NOW, PLANTED.slice(0, 1), QUICK)
  await reader.query('begin')
  await reader.query('select * from things')
  let attempts = 0
  const migrated = migratePostgres(
    onQuery(node, (sql) => void (attempts += Number(sql.startsWith('alter table')))),
    NOW,
    PLANTED,
    QUICK,
  )
  await waitFor(() => attempts > 2)
  assert.equal((await release.query('select * from things')).rowCount, 5)
  await reader.query('commit')
  assert.deepEqual(versionsOf(await migrated), [2, 3, 4])
})

test('a migration that gets no lock for too long reports that, and another start may try again', async (t) => {
  const url = await openTestDatabase(t)
  const [node, reader] = [await openSession(t, url), await openSession(t, url)]
  await migratePostgres(node, NOW, PLANTED.slice(0, 1), QUICK)
  await reader.query('begin')
  await reader.query('select * from things')
  await assert.rejects(
    migratePostgres(node, NOW, PLANTED, IMPATIENT),
    /could not get its locks for 0\.1 s: canceling statement due to lock timeout\. Find the long transaction/,
  )
  await reader.query('commit')
  assert.deepEqual(versionsOf(await migratePostgres(node, NOW, PLANTED, QUICK)), [2, 3, 4])
})

test('a backfill continues where the previous node was killed, batch by batch', async (t) => {
  const url = await openTestDatabase(t)
  const [dying, node] = [await openSession(t, url), await openSession(t, url)]
  const batches: string[] = []
  const counted = (client: pg.Client, fatal: number) =>
    onQuery(client, (sql) => {
      if (!sql.startsWith('update things')) return
      batches.push(sql)
      if (batches.length === fatal) cut(client)
    })
  await assert.rejects(migratePostgres(counted(dying, 3), NOW, PLANTED, QUICK))
  assert.deepEqual(versionsOf(await migratePostgres(counted(node, 0), NOW, PLANTED, QUICK)), [3, 4])
  // Two batches of two rows, one of which is killed; one batch of the last row, and one that finds no row.
  assert.equal(batches.length, 5)
})

const HERE = 'datname = current_database()'
const ASLEEP = `${HERE} and state = 'active' and query = 'select pg_sleep(600)'`
const INVALID = `select 1 from pg_index where not indisvalid`

/** Repeats the query until it returns a row. */
async function waitUntil(client: pg.Client, sql: string): Promise<void> {
  while ((await client.query(sql)).rowCount === 0) await delay(10)
}

async function waitFor(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await delay(5)
}
