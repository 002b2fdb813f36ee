import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type pg from 'pg'
import type { SessionStart } from '../../../src/ports/account-operations.ts'
import { distributedHandlers } from '../../../src/store/postgres/distributed-keys.ts'
import { distributedUserHandlers } from '../../../src/store/postgres/distributed-users.ts'
import { SHARD_KEYS } from '../../../src/store/postgres/distribution.ts'
import { openQuery, type Query } from '../../../src/store/postgres/query.ts'
import { sharedHandlers } from '../../../src/store/postgres/steps.ts'
import { openPostgresStore } from '../../../src/store/postgres/store.ts'
import { openMigratedDatabase } from '../../support/migrated-database.ts'
import { openSession } from '../../support/postgres.ts'
import { openTestChains } from '../contract/chains.ts'
import { perform } from '../contract/harness.ts'
import { aTornUser, createTornUsers, PROVIDER } from './torn-user.ts'

type Run = (query: Query, inputs: readonly unknown[]) => Promise<readonly unknown[]>
const HANDLERS = { ...distributedHandlers, ...distributedUserHandlers } as unknown as Readonly<
  Record<string, { readonly run: Run } | undefined>
>

/** Those of base64url, each for six bits. */
const CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

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
  const { userId } = input as { readonly userId: string }
  await client.query(
    `insert into sessions (session_id, session_hash, user_id, root_id, methods, seen_at, created_at, expires_at)
     select $1 || number, $1 || number, $1, $1 || number, 'pwd', 0, 0, 0 from generate_series(1, 30) as number`,
    [userId],
  )
  const { changes, outcome } = await recordChanges('endOtherSessions', input)
  assert.deepEqual(outcome, { ended: 31 })
  assert.equal(changes.filter((change) => change.startsWith('delete from sessions')).length, 1)
})

test('BND-06: where Citus distributes the tables, one sign-in in 16 counts the sessions of the user; elsewhere each does', async () => {
  const user = aTornUser()
  await createTornUsers(store, [user])
  const start = user.operations['sign in'].input as SessionStart
  await client.query(
    `insert into sessions (session_id, session_hash, user_id, root_id, methods, seen_at, created_at, expires_at)
     select '00' || $1 || number, $1 || number, $1, '00' || $1 || number, 'pwd', 0, 0, 0 from generate_series(1, 230) as number`,
    [start.session.userId],
  )
  const endsOldest = async (end: string, handlers?: typeof HANDLERS): Promise<boolean> => {
    const id = start.session.id.slice(0, -2) + end
    const input = { ...start, session: { ...start.session, id } }
    const { changes } = await recordChanges('startSession', input, handlers)
    return changes.some((change) => change.startsWith('delete from sessions'))
  }
  const counting = []
  for (const character of CHARACTERS) if (await endsOldest(`${character}A`)) counting.push(character)
  assert.deepEqual(counting, ['A', 'Q', 'g', 'w'])
  assert.equal(await endsOldest('BA', sharedHandlers as unknown as typeof HANDLERS), true)
})

/** Runs an operation and rolls it back. */
async function recordChanges(
  name: string,
  input: unknown,
  handlers = HANDLERS,
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
    const [outcome] = (await handlers[name]?.run(query, [input])) ?? []
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
