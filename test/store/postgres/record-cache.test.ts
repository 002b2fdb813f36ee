import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { UserRecord } from '../../../src/ports/records/user.ts'
import type { Operation } from '../../../src/ports/operations/index.ts'
import { openRecordCache } from '../../../src/store/postgres/record-cache.ts'
import { aUser, NOW } from '../../support/records.ts'
import { createAda } from '../../support/accounts.ts'
import { EMAIL, obtainTokens, refresh, registerClient, requestToken, type Tokens } from '../../../tools/flow.ts'
import { openMigratedDatabase } from '../../support/store/migrated-database.ts'
import { openNode } from '../../support/store/postgres-node.ts'
import { performOnUser } from '../../support/tasks.ts'

const user = aUser()
const changed = aUser({ id: user.id, name: 'Changed' })
const change: Operation = { name: 'disableUser', input: { id: user.id, now: NOW } }
const finds = (record: UserRecord | undefined) => async () => record
const fails = () => assert.fail('The store was asked.')

/** A read that completes when the test says so. */
function heldQuestion() {
  const { promise, resolve } = Promise.withResolvers<UserRecord | undefined>()
  return { find: () => promise, answer: resolve }
}

test('a record is cached for 900 ms, counted from before it was read', async () => {
  let now = 0
  const cache = openRecordCache(() => now)
  const { find, answer } = heldQuestion()
  const asked = cache.read(user.id, find)
  now = 500
  answer(user)
  assert.equal(await asked, user)
  now = 899
  assert.equal(await cache.read(user.id, fails), user)
  now = 900
  assert.equal(await cache.read(user.id, finds(changed)), changed)
})

test('a record that this node changes is dropped at once', async () => {
  const cache = openRecordCache(() => 0)
  await cache.read(user.id, finds(user))
  cache.forget(change)
  assert.equal(await cache.read(user.id, finds(changed)), changed)
})

test('a record whose read started before a change is not cached after it', async () => {
  const cache = openRecordCache(() => 0)
  const { find, answer } = heldQuestion()
  const asked = cache.read(user.id, find)
  cache.forget(change)
  answer(user)
  assert.equal(await asked, user)
  assert.equal(await cache.read(user.id, finds(changed)), changed)
})

test('an old result that arrives after a new one does not replace it', async () => {
  const cache = openRecordCache(() => 0)
  const { find, answer } = heldQuestion()
  const asked = cache.read(user.id, find)
  cache.forget(change)
  assert.equal(await cache.read(user.id, finds(changed)), changed)
  answer(user)
  await asked
  assert.equal(await cache.read(user.id, fails), changed)
})

test('a change of one record does not prevent another one from being cached', async () => {
  const cache = openRecordCache(() => 0)
  const { find, answer } = heldQuestion()
  const asked = cache.read(user.id, find)
  cache.forget({ name: 'disableUser', input: { id: aUser().id, now: NOW } })
  answer(user)
  await asked
  assert.equal(await cache.read(user.id, fails), user)
})

test('a record that was not found, or could not be read, is read again', async () => {
  const cache = openRecordCache(() => 0)
  assert.equal(await cache.read(user.id, finds(undefined)), undefined)
  await assert.rejects(cache.read(user.id, () => Promise.reject(new Error('a test'))))
  assert.equal(await cache.read(user.id, finds(user)), user)
})

describe('two nodes', { concurrency: true }, () => {
  test('a user whom another node disables is rejected here within a second, and there at once', async (t) => {
    const url = await openMigratedDatabase(t)
    const [here, there] = [await openNode(t, url), await openNode(t, url)]
    await createAda(here)
    const client = await registerClient(here)
    const { refresh_token: first = '' } = await obtainTokens(here, client)
    const { refresh_token: token = '' } = (await refresh(here, client, first)).json<Tokens>()
    await performOnUser(there.context, 'user.disable', EMAIL)
    assert.equal((await refresh(there, client, token)).json().error, 'invalid_grant')
    await delay(1000)
    assert.equal((await refresh(here, client, token)).json().error, 'invalid_grant')
  })

  test('a client that another node deletes is rejected here within a second, and there at once', async (t) => {
    const url = await openMigratedDatabase(t)
    const [here, there] = [await openNode(t, url), await openNode(t, url)]
    const client = await registerClient(here)
    const ask = (node: typeof here) => requestToken(node, client, { grant_type: 'client_credentials' })
    for (const node of [here, there]) assert.equal((await ask(node)).statusCode, 200)
    assert.equal(await there.context.store.deleteClient(client.client_id as never), 'deleted')
    assert.equal((await ask(there)).json().error, 'invalid_client')
    await delay(1000)
    assert.equal((await ask(here)).json().error, 'invalid_client')
  })
})
