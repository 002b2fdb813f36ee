import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type pg from 'pg'
import type { SessionStart } from '../../../src/ports/operations/session.ts'
import type { UserId } from '../../../src/protocol/ids.ts'
import { distributedHandlers } from '../../../src/store/postgres/distributed-keys.ts'
import { distributedUserHandlers } from '../../../src/store/postgres/distributed-users.ts'
import { keepEverything, tablesOf, type Slice } from '../../../src/store/backup/tables.ts'
import { KEYS, SHARD_KEYS } from '../../../src/store/postgres/distribution.ts'
import { endRestore, loadPostgres, withPostgresSnapshot } from '../../../src/store/postgres/snapshot.ts'
import { openQuery, type Query } from '../../../src/store/postgres/connection/query.ts'
import { openPostgresStore } from '../../../src/store/postgres/store.ts'
import { openMigratedDatabase } from '../../support/store/migrated-database.ts'
import { openSession, openTestDatabase } from '../../support/store/postgres.ts'
import { openTestChains } from '../contract/chains.ts'
import { perform } from '../contract/harness.ts'
import { at, HOUR } from '../../support/records.ts'
import { aGrantSlice, aSweep } from '../contract/server/sweep.ts'
import { aTornUser, createTornUsers, PROVIDER } from './torn-user.ts'

type Run = (query: Query, inputs: readonly unknown[]) => Promise<readonly unknown[]>
const HANDLERS = { ...distributedHandlers, ...distributedUserHandlers } as unknown as Readonly<
  Record<string, { readonly run: Run } | undefined>
>

const file = { after: (end: unknown): void => after(end as () => unknown) }
const url = await openMigratedDatabase(file)
const store = await openPostgresStore({ url, connections: 2, audit: openTestChains(), isDistributed: true })
after(() => store.close())
const client = await openSession(file, url)
await perform(store, 'createProvider', PROVIDER)

test('where Citus distributes the tables, what ends or changes rows of a user locks no shard but theirs', async () => {
  const user = aTornUser()
  await createTornUsers(store, [user])
  await perform(store, 'redeemCode', user.operations['redeem the code'].input as never)
  const seen = new Set<string>()
  for (const [deed, { name, input }] of Object.entries(user.operations)) {
    const { changes } = await recordChanges(name, input)
    assert.deepEqual(changes.filter(isOnAllShards), [], deed)
    for (const change of changes) seen.add(change.split(/\s+where\s/)[0] ?? '')
  }
  // Those that find rows by the user ran.
  for (const part of ['delete from sessions', 'update grants set revoked_at', 'delete from identities'])
    assert.ok(
      [...seen].some((change) => change.startsWith(part)),
      `${part} did not run`,
    )
})

test('a user who has many sessions ends them with one statement', async () => {
  const user = aTornUser()
  await createTornUsers(store, [user])
  const { input } = user.operations['sign out elsewhere']
  await addSessions((input as { readonly userId: string }).userId, 30)
  const { changes, outcome } = await recordChanges('endOtherSessions', input)
  assert.deepEqual(outcome, { ended: 31 })
  assert.equal(changes.filter((change) => change.startsWith('delete from sessions')).length, 1)
})

test('the rows of a user who has more than a thousand are searched on all shards', async () => {
  const user = aTornUser()
  await createTornUsers(store, [user])
  const { input } = user.operations['sign out elsewhere']
  await addSessions((input as { readonly userId: string }).userId, 1100)
  const { changes, outcome } = await recordChanges('endOtherSessions', input)
  assert.deepEqual(outcome, { ended: 1101 })
  assert.ok(changes.some((change) => change.startsWith('delete from sessions') && isOnAllShards(change)))
})

test('BND-06: where Citus distributes the tables, each sign-in counts the sessions of the user, on the shard of the user', async () => {
  const user = aTornUser()
  await createTornUsers(store, [user])
  const { input } = user.operations['sign in']
  const { userId } = (input as SessionStart).session
  await addSessions(userId, 230)
  const { changes } = await recordChanges('startSession', input)
  assert.ok(changes.some((change) => change.startsWith('delete from sessions')))
})

test('the name of a row that was removed is harmless, and is removed when the user is changed', async () => {
  const user = aTornUser()
  await createTornUsers(store, [user])
  const { input } = user.operations['sign out elsewhere']
  const { userId } = input as { readonly userId: UserId }
  const names = () =>
    client.query('select 1 from user_rows where user_id = $1 and row_table = $2', [userId, 'sessions'])
  await client.query(`insert into user_rows (user_id, row_table, row_key) values ($1, 'sessions', 'removed')`, [userId])
  assert.equal((await store.listSessions({ userId, before: undefined, limit: 100 })).length, 2)
  assert.equal((await names()).rowCount, 3)
  assert.deepEqual(await perform(store, 'endOtherSessions', input as never), { ended: 1 })
  assert.equal((await names()).rowCount, 1)
})

test('every row of a user has a name until it is removed', async () => {
  const user = aTornUser()
  await createTornUsers(store, [user])
  for (const operation of Object.values(user.operations)) {
    await store.commit([operation])
    const { rows } = await client.query(UNNAMED, [user.users])
    assert.deepEqual(rows, [], operation.name)
  }
  await client.query(
    'update sessions set expires_at = 0; update authorizations set expires_at = 0; update grants set expires_at = 0',
  )
  await perform(store, 'sweepExpired', aSweep({ authorizationsBefore: at(HOUR), limit: 10_000 }))
  await perform(store, 'sweepGrants', aGrantSlice({ before: at(HOUR), limit: 10_000 }))
  await perform(store, 'deleteProvider', { id: PROVIDER.id, now: at(6) })
  // The identities of imported accounts are at another provider.
  const { rows: left } = await client.query(
    'select * from user_rows where user_id = any($1) and row_key not in (select identity_key from identities)',
    [user.users],
  )
  assert.deepEqual(left, [])
})

test('a store that is moved has no names until "database distribute": then a deletion of the user ends each grant', async (t) => {
  const [from, to] = [await openMigratedDatabase(t), await openTestDatabase(t)]
  const user = aTornUser()
  const plain = await openPostgresStore({ url: from, connections: 2, audit: openTestChains(), isDistributed: false })
  await perform(plain, 'createProvider', PROVIDER)
  await createTornUsers(plain, [user])
  for (const deed of ['redeem the code', 'approve another code', 'open a grant'] as const)
    await plain.commit([user.operations[deed]])
  await plain.close()

  const slices: Slice[] = []
  await withPostgresSnapshot(from, async (snapshot) => {
    for await (const slice of snapshot.slices(tablesOf({ final: true }))) slices.push(slice)
  })
  await loadPostgres(to, { schema: 1, mark: 'moved' }, () => slices.map(keepEverything))
  await endRestore(to)
  const moved = await openSession(t, to)
  for (const table of ['grants', 'authorizations', 'identities', 'sessions', 'users'])
    assert.deepEqual(await rowsOf(moved, table), await rowsOf(await openSession(t, from), table), table)
  assert.deepEqual(await rowsOf(moved, 'user_rows'), [])

  for (const sql of KEYS['users'] ?? []) await moved.query(sql)
  const { rows: unnamed } = await moved.query(UNNAMED, [user.users])
  assert.deepEqual(unnamed, [])
  const byTable = 'select row_table, count(*)::int as count from user_rows group by 1 order by 1'
  const { rows: counts } = await moved.query<{ row_table: string; count: number }>(byTable)
  assert.deepEqual(
    counts.map(({ row_table: table, count }) => `${table} ${count}`),
    ['authorizations 2', 'grants 1', 'identities 2', 'sessions 2'],
  )
  const distributed = await openPostgresStore({ url: to, connections: 2, audit: openTestChains(), isDistributed: true })
  for (const id of user.users) await perform(distributed, 'deleteUser', { id })
  await distributed.close()
  const { rows: grants } = await moved.query(
    'select provider_id is null as is_coded, revoked_at is null as is_live from grants order by 1',
  )
  assert.deepEqual(grants, [
    { is_coded: false, is_live: false },
    { is_coded: true, is_live: false },
  ])
  assert.deepEqual(await rowsOf(moved, 'sessions'), [])
})

/** The rows of a table in any order. */
async function rowsOf(session: pg.Client, table: string): Promise<readonly string[]> {
  const { rows } = await session.query<{ text: string }>(`select row_to_json(one)::text as text from ${table} as one`)
  return rows.map(({ text }) => text).toSorted()
}

/** Rows without a name, and names without a row. */
const UNNAMED = [
  `select user_id, 'sessions', session_id from sessions`,
  `select user_id, 'identities', identity_key from identities`,
  `select user_id, 'authorizations', authorization_id from authorizations where user_id is not null`,
  `select user_id, 'authorizations', grant_id from grants where provider_id is null`,
  `select user_id, 'grants', grant_id from grants where provider_id is not null`,
]
  .join(' union all ')
  .replace(/.+/, '(select * from ($&) as r (user_id, row_table, row_key) where user_id = any($1))')
  .replace(/.+/, '$& except (select user_id, row_table, row_key from user_rows)')

/** Adds sessions that are older than the others. */
async function addSessions(userId: string, count: number): Promise<void> {
  await client.query(
    `with added as (
       insert into sessions (session_id, session_hash, user_id, root_id, methods, seen_at, created_at, expires_at)
       select '00' || $1 || number, $1 || number, $1, '00' || $1 || number, 'pwd', 0, 0, 0 from generate_series(1, $2::int) as number
       returning user_id, session_id)
     insert into user_rows (user_id, row_table, row_key) select user_id, 'sessions', session_id from added`,
    [userId, count],
  )
}

/** Runs an operation and rolls it back. */
async function recordChanges(
  name: string,
  input: unknown,
): Promise<{ readonly changes: readonly string[]; readonly outcome: unknown }> {
  const changes: string[] = []
  const recording = {
    query(config: { readonly text: string }) {
      if (/^(update|delete)/.test(config.text)) changes.push(config.text)
      return client.query(config)
    },
  }
  const query = openQuery(recording as unknown as pg.PoolClient, performance.now() + 10_000, true)
  await client.query('begin')
  try {
    const [outcome] = (await HANDLERS[name]?.run(query, [input])) ?? []
    return { changes, outcome }
  } finally {
    await client.query('rollback')
  }
}

/** Whether the condition does not name the shard. */
function isOnAllShards(change: string): boolean {
  const [, table = ''] = /^(?:update|delete from) (\w+)/.exec(change) ?? []
  const key = SHARD_KEYS[table]
  const [, condition = ''] = change.split(/\s+where\s/)
  return key !== undefined && !new RegExp(`\\b${key} = `).test(condition)
}
