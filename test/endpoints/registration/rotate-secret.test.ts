import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { registerClient, requestToken, type RegisteredClient } from '../../../tools/flow.ts'
import { assertError, problemsOf } from '../../support/error-answer.ts'
import { openMigratedDatabase } from '../../support/store/migrated-database.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { assertStoreUnchanged, dumpStore, selectAll } from '../../support/store/dump.ts'
import { closedFirst } from '../../support/closed-first.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { introspect } from '../../support/token-questions.ts'
import { perform } from '../../support/tasks.ts'

const MACHINE = { grant_type: 'client_credentials' }
const DAY = 86_400
/** Decision 0005: a change on one node takes effect on every other node within this time. */
const NEWS_MS = 1000

const server = await openTestServer(WHOLE_FILE)

interface Asking {
  readonly authorization?: string | undefined
  readonly clientId?: string
  readonly payload?: string
}

/** Asks for a new secret. */
function rotate(at: TestServer, client: RegisteredClient, asking: Asking = {}): Promise<LightMyRequestResponse> {
  const authorization =
    'authorization' in asking ? asking.authorization : `Bearer ${String(client['registration_access_token'])}`
  return at.inject({
    method: 'POST',
    url: `/v2/oauth/register/secret?client_id=${asking.clientId ?? client.client_id}`,
    headers: { 'content-type': 'application/json', ...(authorization === undefined ? {} : { authorization }) },
    payload: asking.payload ?? '{}',
  })
}

async function rotated(at: TestServer, client: RegisteredClient, overlap?: number): Promise<RegisteredClient> {
  const payload = overlap === undefined ? '{}' : JSON.stringify({ overlap_seconds: overlap })
  const answer = await rotate(at, client, { payload })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<RegisteredClient>()
}

async function works(at: TestServer, client: RegisteredClient): Promise<boolean> {
  const answer = await requestToken(at, client, MACHINE)
  if (answer.statusCode !== 200) assertError(answer, 401, 'invalid_client')
  return answer.statusCode === 200
}

test('CC-06: a new secret is valid at once, and the previous one remains valid for a day', async (t) => {
  const own = await openTestServer(t)
  const client = await registerClient(own)
  const next = await rotated(own, client)
  assert.notEqual(next.client_secret, client.client_secret)
  assert.deepEqual([await works(own, client), await works(own, next)], [true, true])
  own.clock.advance((DAY - 60) * 1000)
  assert.deepEqual([await works(own, client), await works(own, next)], [true, true])
  own.clock.advance(61_000)
  assert.deepEqual([await works(own, client), await works(own, next)], [false, true])
})

test('CC-06: both secrets are valid by Basic and for introspection, and the responses do not differ', async () => {
  const client = await registerClient(server)
  const next = await rotated(server, client)
  const bodies: unknown[] = []
  for (const { client_id: id, client_secret: secret } of [client, next]) {
    const headers = {
      authorization: `Basic ${btoa(`${id}:${secret}`)}`,
      'content-type': 'application/x-www-form-urlencoded',
    }
    const payload = 'grant_type=client_credentials'
    const basic = await server.inject({ method: 'POST', url: '/v2/oauth/token', headers, payload })
    assert.equal(basic.statusCode, 200)
    const { access_token: token, ...rest } = basic.json()
    const about = await introspect(server, { client_id: id, client_secret: secret ?? '' }, token)
    assert.equal(about.json().active, true)
    bodies.push(rest)
  }
  assert.deepEqual(bodies[0], bodies[1])
})

test('CC-06: with an overlap of 0 the previous secret is invalid as soon as the response is sent', async () => {
  const client = await registerClient(server)
  const next = await rotated(server, client, 0)
  assert.deepEqual([await works(server, client), await works(server, next)], [false, true])
})

test('CC-06: at most two secrets are valid', async () => {
  const client = await registerClient(server)
  const second = await rotated(server, client)
  const third = await rotated(server, client)
  const all = await Promise.all([client, second, third].map((one) => works(server, one)))
  assert.deepEqual(all, [false, true, true])
  await rotated(server, client, 0)
  assert.deepEqual([await works(server, second), await works(server, third)], [false, false])
})

test('CC-06: a client that lost the response can rotate again with its secret, which remains valid as long as promised', async (t) => {
  const own = await openTestServer(t)
  const client = await registerClient(own)
  const lost = await rotated(own, client, 3600)
  const again = (overlap: number, secret: unknown = client.client_secret) =>
    rotate(own, client, { payload: JSON.stringify({ overlap_seconds: overlap, client_secret: secret }) })
  own.clock.advance(60_000)
  const [second, third] = [await again(3600), await again(DAY)].map((answer) => answer.json<RegisteredClient>())
  assert.ok(second && third)
  const all = [client, lost, second, third]
  assert.deepEqual(await Promise.all(all.map((one) => works(own, one))), [true, false, false, true])
  // A rotation that names an invalid secret changes nothing.
  for (const secret of [lost.client_secret, 'gcs_x', '', 7, null]) {
    const refused = await assertStoreUnchanged(own, () => again(60, secret))
    const problems = problemsOf(assertError(refused, 400, 'invalid_client_metadata'))
    assert.deepEqual(problems, ['body.client_secret:value_error'])
    if (typeof secret === 'string' && secret !== '') assert.ok(!refused.body.includes(secret))
  }
  own.clock.advance(3_540_000)
  assert.deepEqual(await Promise.all(all.map((one) => works(own, one))), [false, false, false, true])
  assert.equal((await again(60)).statusCode, 400)
  const next = (await again(60, third.client_secret)).json<RegisteredClient>()
  assert.deepEqual([await works(own, third), await works(own, next)], [true, true])
})

test('CC-06: a repeated rotation can end the named secret earlier than promised', async () => {
  const client = await registerClient(server)
  await rotated(server, client)
  const payload = JSON.stringify({ overlap_seconds: 0, client_secret: client.client_secret })
  const next = (await rotate(server, client, { payload })).json<RegisteredClient>()
  assert.deepEqual([await works(server, client), await works(server, next)], [false, true])
})

test('CC-06: of many simultaneous rotations each returns a secret or changes nothing, and two secrets are valid', async () => {
  const client = await registerClient(server)
  const answers = await Promise.all(Array.from({ length: 5 }, () => rotate(server, client)))
  const given = answers.filter(({ statusCode }) => statusCode === 200)
  for (const answer of answers.filter((one) => !given.includes(one))) {
    assertError(answer, 503, 'temporarily_unavailable')
    assert.equal(answer.headers['retry-after'], '1')
  }
  assert.ok(given.length >= 1)
  const secrets = [client, ...given.map((answer) => answer.json<RegisteredClient>())]
  const working = await Promise.all(secrets.map((one) => works(server, one)))
  assert.equal(working.filter(Boolean).length, 2)
})

test('the response is the client information with the new secret; it must not be cached, and the store has only a hash', async () => {
  const client = await registerClient(server, { scope: 'read', contacts: ['a@b.test'] })
  const answer = await rotate(server, client)
  assert.equal(answer.headers['cache-control'], 'no-store')
  assert.equal(answer.headers['access-control-allow-origin'], '*')
  const { client_secret: secret, ...rest } = answer.json<RegisteredClient>()
  const { client_secret: _, ...registered } = client
  assert.deepEqual(rest, registered)
  assert.match(secret ?? '', /^gcs_[A-Za-z0-9_-]+$/)
  assert.ok(!JSON.stringify(dumpStore(server)).includes(secret?.slice(4) ?? ''))
  assert.ok(!server.log().includes(secret ?? ''))
  assert.match(server.log(), /client\.secret-rotated/)
})

test('the overlap is a number of seconds up to 30 days; any other value changes nothing', async () => {
  const client = await registerClient(server)
  for (const overlap of [-1, 30 * DAY + 1, 0.5, '60', null, [], true, 1e300]) {
    const payload = JSON.stringify({ overlap_seconds: overlap })
    const answer = await assertStoreUnchanged(server, () => rotate(server, client, { payload }))
    const problems = problemsOf(assertError(answer, 400, 'invalid_client_metadata'))
    assert.deepEqual(problems, ['body.overlap_seconds:value_error'], payload)
  }
  for (const payload of ['[]', '7', 'null', '{', '"x"']) {
    const answer = await assertStoreUnchanged(server, () => rotate(server, client, { payload }))
    assert.equal(problemsOf(assertError(answer, 422, 'invalid_client_metadata')).length, 1, payload)
  }
  for (const payload of ['', '{}', '{"overlap_seconds":2592000}', '{"unknown":1}'])
    assert.equal((await rotate(server, client, { payload })).statusCode, 200, payload)
})

test('REG-23: only the registration access token of the client can rotate its secret', async () => {
  const [client, other] = [await registerClient(server), await registerClient(server)]
  const shared = await registerClient(server, { token_endpoint_auth_method: 'none' })
  const disabled = await registerClient(server)
  await perform(server.context, 'client.disable', { client_id: disabled.client_id })
  const attempts: readonly (readonly [RegisteredClient, Asking])[] = [
    [client, { authorization: undefined }],
    [client, { authorization: `Bearer ${String(other['registration_access_token'])}` }],
    [client, { authorization: `Bearer ${client.client_secret}` }],
    [client, { clientId: other.client_id }],
    [client, { clientId: shared.client_id }],
    [client, { clientId: '' }],
    [disabled, {}],
  ]
  for (const [whose, asking] of attempts) {
    const answer = await assertStoreUnchanged(server, () => rotate(server, whose, asking))
    assertError(answer, 401, 'invalid_token')
    assert.match(String(answer.headers['www-authenticate']), /^Bearer/)
  }
})

test('RFC 7592 §2.2: an update may contain the current secret or a previous one that is still valid', async (t) => {
  const own = await openTestServer(t)
  const client = await registerClient(own)
  const next = await rotated(own, client, 3600)
  const change = (secret: string | undefined) =>
    own.inject({
      method: 'PUT',
      url: `/v2/oauth/register?client_id=${client.client_id}`,
      headers: {
        authorization: `Bearer ${String(client['registration_access_token'])}`,
        'content-type': 'application/json',
      },
      payload: JSON.stringify({ client_id: client.client_id, client_secret: secret, client_name: 'Example' }),
    })
  for (const secret of [client.client_secret, next.client_secret]) assert.equal((await change(secret)).statusCode, 200)
  own.clock.advance(3_601_000)
  assert.equal((await change(next.client_secret)).statusCode, 200)
  const refused = await change(client.client_secret)
  assert.deepEqual(problemsOf(assertError(refused, 400, 'invalid_client_metadata')), ['body.client_secret:value_error'])
})

test('a rotation and the end of its overlap survive a restart', async (t) => {
  const before = await openTestServer(t)
  const client = await registerClient(before)
  const next = await rotated(before, client, 3600)
  const after = await before.reopen()
  assert.deepEqual([await works(after, client), await works(after, next)], [true, true])
  assert.equal(selectAll(after, 'select * from clients where previous_secret_hash is not null').length, 1)
  after.clock.advance(3_601_000)
  assert.equal(await works(after, client), false)
})

test('CC-06: another node accepts the new secret and rejects an ended one within a second', async (t) => {
  const closed = closedFirst(t)
  const env = { DATABASE_URL: await openMigratedDatabase(t), GRANTOR_SECRET: 's'.repeat(40) }
  const a = closed(await openTestServer(t, { env }))
  const b = closed(await openTestServer(t, { env, clock: a.clock }))
  const client = await registerClient(a)
  assert.equal(await works(b, client), true)
  const next = await rotated(a, client, 0)
  assert.deepEqual([await works(a, client), await works(a, next)], [false, true])
  // Wall time, because the caches of a node expire by it.
  await delay(NEWS_MS)
  assert.deepEqual([await works(b, client), await works(b, next)], [false, true])
})
