import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { decodeProtectedHeader } from 'jose'
import { AdminError } from '../../src/admin/admin-error.ts'
import { keepKeys, listKeys, retireKey, rotateKeys } from '../../src/admin/key/key.ts'
import { isActive } from '../support/token-questions.ts'
import { registerClient, requestToken, type RegisteredClient, type Tokens } from '../../tools/flow.ts'
import { closedFirst } from '../support/closed-first.ts'
import { openNodeSettings } from '../support/store/migrated-database.ts'
import { openStillClocks } from '../support/clocks.ts'
import { openSteppingClocks, openTestServer, type TestServer } from '../support/server.ts'

const DAY = 24 * 60 * 60 * 1000

async function issue(server: TestServer, client: RegisteredClient): Promise<{ token: string; kid: unknown }> {
  const { access_token: token } = (
    await requestToken(server, client, { grant_type: 'client_credentials' })
  ).json<Tokens>()
  return { token, kid: decodeProtectedHeader(token).kid }
}

/** The ids of the published keys for access tokens. */
async function publishedBy(server: TestServer): Promise<readonly unknown[]> {
  const answer = await server.inject({ method: 'GET', url: '/v2/oauth/jwks' })
  const kids = answer.json<{ keys: readonly { kid: string }[] }>().keys.map(({ kid }) => kid)
  const forIdTokens = (await listKeys(server.context)).filter(({ purpose }) => purpose === 'id').map(({ id }) => id)
  return kids.filter((kid) => !forIdTokens.some((id) => id === kid))
}

/** A node whose clock does not advance, a moment after its first key. */
async function openOne(t: TestContext, env: Record<string, string> = {}): Promise<TestServer> {
  const [clock] = openStillClocks([0])
  const server = await openTestServer(t, { clock, env })
  clock.advance(1)
  return server
}

/** Two nodes on one database, with one clock. */
async function openTwo(t: TestContext): Promise<readonly [TestServer, TestServer]> {
  const closed = closedFirst(t)
  const env = await openNodeSettings(t)
  const first = closed(await openOne(t, env))
  return [first, closed(await openTestServer(t, { env, clock: first.clock }))]
}

async function states({ context }: TestServer): Promise<readonly string[]> {
  return (await listKeys(context)).map(({ state }) => state)
}

test('every 30 days another key signs; it is created a day earlier, and its predecessor is withdrawn a day and an hour later', async (t) => {
  const { context, clock } = await openOne(t)
  const seen: string[] = []
  for (let hours = 0; hours <= 62 * 24; hours += 1) {
    const { made, withdrawn } = await keepKeys(context)
    if (made !== undefined) seen.push(`day ${hours / 24} made`)
    if (withdrawn.length > 0) seen.push(`day ${Math.floor(hours / 24)} hour ${hours % 24} withdrew ${withdrawn.length}`)
    clock.advance(DAY / 24)
  }
  assert.deepEqual(seen, ['day 29 made', 'day 31 hour 1 withdrew 1', 'day 59 made', 'day 61 hour 1 withdrew 1'])
})

test('with a rotation of 0 no key is created, and replaced keys are still withdrawn', async (t) => {
  const { context, clock } = await openOne(t, { GRANTOR_KEY_ROTATION: '0' })
  clock.advance(400 * DAY)
  assert.deepEqual(await keepKeys(context), { made: undefined, withdrawn: [] })
  const next = await rotateKeys(context, { when: 'published', purpose: 'access', algorithm: undefined })
  clock.advance(DAY + DAY + DAY)
  assert.equal((await keepKeys(context)).withdrawn.length, 1)
  assert.deepEqual(
    (await listKeys(context)).map(({ id }) => id),
    [next.id],
  )
})

test('nodes that rotate at the same time create one key', async (t) => {
  const [first, second] = await openTwo(t)
  first.clock.advance(29 * DAY + 1000)
  const kept = await Promise.all([first, second, first, second].map(({ context }) => keepKeys(context)))
  assert.equal(kept.filter(({ made }) => made !== undefined).length, 1)
  assert.deepEqual(await states(first), ['signing', 'next'])
})

test('of concurrent rotations one creates a key, and the others report a conflict', async (t) => {
  const [first, second] = await openTwo(t)
  const bothRead = Promise.withResolvers<void>()
  let reads = 0
  /** Each rotation has read the keys before one of them adds a key, however long a connection takes. */
  const meeting = ({ context }: TestServer): TestServer['context'] => {
    const store = {
      ...context.store,
      listKeys: async () => {
        const keys = await context.store.listKeys()
        reads += 1
        if (reads === 2) bothRead.resolve()
        await bothRead.promise
        return keys
      },
    }
    return { ...context, store }
  }
  const outcomes = await Promise.allSettled(
    [first, second].map((server) =>
      rotateKeys(meeting(server), { when: 'now', purpose: 'access', algorithm: undefined }),
    ),
  )
  const refused = outcomes.filter((one) => one.status === 'rejected').map(({ reason }) => reason as unknown)
  assert.equal(refused.length, 1)
  assert.ok(refused[0] instanceof AdminError)
  assert.match(refused[0].message, /at the same time/)
})

test('a clock that is behind the time of the last key creates no next one, and the error names both times', async (t) => {
  const { context, clock } = await openOne(t)
  clock.advance(DAY)
  const rotate = () => rotateKeys(context, { when: 'now', purpose: 'access', algorithm: undefined })
  const { createdAt } = await rotate()
  const behind = (createdAt - DAY / 24) as typeof createdAt
  await assert.rejects(
    rotateKeys({ ...context, clock: () => behind }, { when: 'now', purpose: 'access', algorithm: undefined }),
    (cause) =>
      cause instanceof AdminError &&
      cause.message.includes(`created at ${new Date(createdAt).toISOString()}`) &&
      cause.message.includes(`is at ${new Date(behind).toISOString()}`),
  )
})

test('STO-13: a node whose clock differs neither creates nor withdraws a key', async (t) => {
  const [clock] = openSteppingClocks(['node'])
  const { context } = await openTestServer(t, { clock })
  const { id: first } = (await listKeys(context))[0] as { readonly id: string }
  for (const stepMs of [2500, 40 * DAY, -2500, -40 * DAY]) {
    clock.step(stepMs)
    assert.deepEqual(await keepKeys(context), { made: undefined, withdrawn: [] })
    clock.step(-stepMs)
  }
  clock.advance(30 * DAY)
  const { made } = await keepKeys(context)
  assert.notEqual(made, undefined)
  clock.advance(DAY)
  await context.clockCheck.compare()
  clock.step(26 * 60 * 60 * 1000)
  clock.advance(20_000)
  await context.clockCheck.compare()
  clock.advance(20_000)
  await context.clockCheck.compare()
  assert.equal(context.clockCheck.differenceMs(), 0, 'The node follows a clock that runs steadily.')
  assert.deepEqual((await keepKeys(context)).withdrawn, [], 'But it withdraws nothing that this clock alone makes old.')
  clock.advance(9 * 60 * 60 * 1000)
  assert.deepEqual((await keepKeys(context)).withdrawn, [first])
})

test('after a disclosure the next key signs within ten seconds on every node, and the disclosed key can be withdrawn', async (t) => {
  const [first, second] = await openTwo(t)
  const client = await registerClient(first)
  const before = await issue(first, client)
  const stolen = String(before.kid)
  await assert.rejects(retireKey(first.context, stolen), /rotate --now/)
  const { id } = await rotateKeys(first.context, { when: 'now', purpose: 'access', algorithm: undefined })
  assert.deepEqual([(await issue(first, client)).kid, (await issue(second, client)).kid], [stolen, stolen])
  first.clock.advance(3000)
  for (const node of [first, second]) assert.deepEqual(await publishedBy(node), [stolen, id])
  first.clock.advance(7000)
  assert.deepEqual([(await issue(first, client)).kid, (await issue(second, client)).kid], [id, id])
  await assert.rejects(retireKey(second.context, stolen), /Try again in 20 seconds/)
  assert.equal(await isActive(second, client, before.token), true)
  first.clock.advance(20_000)
  assert.equal(await retireKey(second.context, stolen), stolen)
  first.clock.advance(2000)
  for (const node of [first, second]) {
    assert.deepEqual(await publishedBy(node), [id])
    assert.equal(await isActive(node, client, before.token), false)
    assert.equal(await isActive(node, client, (await issue(node, client)).token), true)
  }
})

test('a key that does not sign yet can be withdrawn until shortly before it signs', async (t) => {
  const { context, clock } = await openOne(t)
  const { id } = await rotateKeys(context, { when: 'published', purpose: 'access', algorithm: undefined })
  await assert.rejects(
    rotateKeys(context, { when: 'published', purpose: 'access', algorithm: undefined }),
    new RegExp(`${id} is already published`),
  )
  clock.advance(DAY - 5000)
  await assert.rejects(retireKey(context, id), /Try again/)
  clock.advance(-DAY / 2)
  await retireKey(context, id)
  assert.equal((await listKeys(context)).length, 1)
})

test('there are at most 20 keys', async (t) => {
  const { context, clock } = await openOne(t)
  for (let made = 1; made < 20; made += 1) {
    clock.advance(1)
    await rotateKeys(context, { when: 'now', purpose: 'access', algorithm: undefined })
  }
  await assert.rejects(
    rotateKeys(context, { when: 'now', purpose: 'access', algorithm: undefined }),
    /20 keys.*grantor key retire/,
  )
  assert.deepEqual(await keepKeys(context), { made: undefined, withdrawn: [] })
})

test('keys of several algorithms sign one after the other, and all their tokens are accepted', async (t) => {
  const closed = closedFirst(t)
  let server = closed(await openOne(t))
  const client = await registerClient(server)
  const tokens = [(await issue(server, client)).token]
  const { clock, folder } = server
  for (const algorithm of ['EdDSA', 'RS256']) {
    await server.close()
    server = closed(await openTestServer(t, { folder, clock, env: { GRANTOR_SIGNING_ALGORITHM: algorithm } }))
    await rotateKeys(server.context, { when: 'now', purpose: 'access', algorithm: undefined })
    clock.advance(11_000)
    const { token } = await issue(server, client)
    assert.equal(decodeProtectedHeader(token).alg, algorithm)
    tokens.push(token)
  }
  for (const token of tokens) assert.equal(await isActive(server, client, token), true)
})
