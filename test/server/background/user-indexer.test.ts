import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { after } from '../../../src/base/brand.ts'
import { mintUserId } from '../../../src/protocol/ids.ts'
import { openUserIndexer } from '../../../src/server/background/user-indexer.ts'
import { aUser } from '../../support/records.ts'
import { openTestServer } from '../../support/server.ts'
import { selectAll } from '../../support/store/dump.ts'
import { perform } from '../../support/tasks.ts'

const MINUTE_MS = 60_000
/** A server without requests. */
const IDLE = { answered: () => 0, monotonic: () => 0 }

test('the index has all users but those of the last minute, and a node without the lease writes none', async (t) => {
  const server = await openTestServer(t)
  const { context, clock } = server
  const create = (name: string) =>
    context.store.createUser({ ...aUser({ name }), id: mintUserId(clock.now(), randomBytes) })
  for (let user = 0; user < 120; user += 1) await create('Greta Weber')
  clock.advance(2 * MINUTE_MS)
  await create('Young Weber')
  const indexed = (): number => selectAll(server, 'select user_id from user_search').length
  await openUserIndexer(context, () => false, IDLE).round()
  assert.equal(indexed(), 0)
  const differing = { ...context, clockCheck: { ...context.clockCheck, differenceMs: () => MINUTE_MS } }
  await openUserIndexer(differing, () => true, IDLE).round()
  assert.equal(indexed(), 0)
  const indexer = openUserIndexer(context, () => true, IDLE)
  await indexer.round()
  // The first round has the users that the store had before, from the newest down.
  assert.equal(indexed(), 121)
  await create('Latecomer Weber')
  await indexer.round()
  assert.equal(indexed(), 121)
  const found = async (text: string) =>
    (await perform(context, 'user.list', { text, limit: 200 }))['users'] as unknown[]
  // Addresses have random letters, so a short text may be in one of them.
  assert.equal((await found('tecomer web')).length, 1)
  assert.equal((await found('WEBER')).length, 122)
  clock.advance(2 * MINUTE_MS)
  await indexer.round()
  assert.equal(indexed(), 122)
  indexer.end()
  await create('Last')
  clock.advance(after(clock.now(), 2 * MINUTE_MS) - clock.now())
  await indexer.round()
  assert.equal(indexed(), 122)
})

test('a node that serves requests writes less at a time, and waits longer the more they are', async (t) => {
  const { context, clock } = await openTestServer(t)
  clock.advance(2 * MINUTE_MS)
  let nowMs = 0
  let answered = 0
  const load = { answered: () => answered, monotonic: () => nowMs }
  const limits: number[] = []
  let left = 0
  const store = {
    async indexUsers({ limit }: { readonly limit: number }) {
      limits.push(limit)
      nowMs += 5
      left -= 1
      return { reached: { newest: '', oldest: '~' } as const, count: left }
    },
  }
  const { round, end } = openUserIndexer({ ...context, store }, () => true, load)
  left = 3
  await round()
  assert.deepEqual(limits.splice(0), [100, 100, 100])
  nowMs += 1000
  answered += 20
  const startedAt = performance.now()
  left = 2
  await round()
  assert.deepEqual(limits.splice(0), [25, 25])
  // Four lengths of the turn, five milliseconds, for each of seventeen requests in a second.
  const tookMs = performance.now() - startedAt
  assert.ok(tookMs > 300, String(tookMs))
  answered += 1000
  left = 2
  const ending = round()
  setImmediate(end)
  await ending
  assert.deepEqual(limits, [25])
})

test('the answer says what was compared, and words of one or two letters find the beginnings of addresses', async (t) => {
  const { context } = await openTestServer(t)
  await context.store.createUser(aUser({ name: 'Ada', email: 'zoe@acme.test' }))
  const list = (text?: string) => perform(context, 'user.list', { text, limit: 50 })
  const counts = async (text?: string) => {
    const { users, searched, next } = await list(text)
    return [(users as unknown[]).length, searched, next]
  }
  assert.deepEqual(await counts(), [1, null, null])
  assert.deepEqual(await counts('ada'), [1, 'names_and_addresses', null])
  assert.deepEqual(await counts('ZO'), [1, 'beginnings_of_addresses', null])
  assert.deepEqual(await counts('da'), [0, 'beginnings_of_addresses', null])
  assert.deepEqual(await counts('da zoe'), [1, 'names_and_addresses', null])
})
