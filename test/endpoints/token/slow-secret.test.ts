import assert from 'node:assert/strict'
import { pbkdf2Sync } from 'node:crypto'
import { test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import type { EpochMs } from '../../../src/base/brand.ts'
import type { AuditEvent } from '../../../src/ports/records/audit.ts'
import type { ClientRecord } from '../../../src/ports/records/client.ts'
import { StoreUnavailable } from '../../../src/ports/store.ts'
import { slowSecretHash } from '../../../src/protocol/client/authentication.ts'
import { chosenClientId } from '../../../src/protocol/client/identifier.ts'
import { unavailable } from '../../../src/protocol/errors.ts'
import type { ClientId } from '../../../src/protocol/ids.ts'
import {
  authorizeUrl,
  EMAIL,
  locationOf,
  PASSWORD,
  PlainBrowser,
  postForm,
  registerClient,
  requestToken,
} from '../../../tools/flow.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { createAda } from '../../support/accounts.ts'
import { assertError, lastLogged } from '../../support/error-answer.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { perform } from '../../support/tasks.ts'
import { eventsOf, listLinks } from '../../store/contract/chains.ts'

const SECRET = 'a-secret:with%2Band+more'
const MACHINE = { grant_type: 'client_credentials' }
const TOKEN = '/v2/oauth/token'
const OVERLAP_MS = 86_400_000

const shared = await openTestServer(WHOLE_FILE)

test('the first good use replaces the hash of another system by a digest, whether Basic was encoded or not', async (t) => {
  for (const [id, authorization] of [
    ['form', undefined],
    ['raw', basic('raw', SECRET)],
    ['encoded', basic('encoded', encodeURIComponent(SECRET))],
  ] as const) {
    await createSlow(shared, id)
    const verified = t.mock.method(shared.context.passwords, 'verify')
    const ask = () =>
      authorization === undefined ? present(shared, id) : postForm(shared, TOKEN, MACHINE, { authorization })
    assert.equal((await ask()).statusCode, 200)
    assert.match((await stored(shared, id)).secretHash ?? '', /^given:/)
    const length = verified.mock.callCount()
    assert.ok(length <= 2, `${id}: ${length} hashes`)
    for (const way of [ask, () => present(shared, id)]) assert.equal((await way()).statusCode, 200)
    assert.equal((await present(shared, id, `${SECRET}x`)).statusCode, 401)
    assert.equal(verified.mock.callCount(), length, 'a digest needs no slow hash')
    verified.mock.restore()
  }
  assert.deepEqual(
    (await upgrades()).map(({ details }) => details),
    Array.from({ length: 3 }, () => ({ format: 'pbkdf2-sha256' })),
  )
})

test('of several good uses at once each succeeds, and one replaces the hash', async () => {
  await createSlow(shared, 'several')
  const answers = await Promise.all([1, 2, 3, 4].map(() => present(shared, 'several')))
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    [200, 200, 200, 200],
  )
  const { id } = await stored(shared, 'several')
  assert.equal((await upgrades()).filter(({ clientId }) => clientId === id).length, 1)
})

test('CID-04: wrong secrets of a client with a slow hash are counted before the work, then answered 429 without it', async (t) => {
  const server = await openTestServer(t, { env: { GRANTOR_CLIENT_FAILURE_RATE: '5' } })
  await createAda(server)
  await createSlow(server, 'web')
  const plain = await registerClient(server)
  const verified = t.mock.method(server.context.passwords, 'verify')
  const attack = Array.from({ length: 20 }, (_, index) =>
    postForm(server, TOKEN, MACHINE, { authorization: basic('web', `wrong%20${index}`) }),
  )
  const [signedIn, ...answers] = await Promise.all([signIn(server, plain), ...attack])
  assert.equal(signedIn.statusCode, 303)
  const statuses = answers.map(({ statusCode }) => statusCode)
  assert.deepEqual(new Set(statuses), new Set([401, 429]))
  assert.ok(statuses.filter((status) => status === 401).length <= 5)
  const tried = verified.mock.calls.map(({ arguments: [text] }) => text).filter((text) => text.startsWith('wrong'))
  assert.ok(tried.length > 0 && tried.length <= 10, `two hashes for each of five requests, not ${tried.length}`)
  const spent = await present(server, 'web', 'wrong')
  assertError(spent, 429, 'temporarily_unavailable')
  assert.ok(Number(spent.headers['retry-after']) >= 1)
  // Other clients of the network are answered, and this one elsewhere.
  assert.equal((await present(server, plain.client_id, plain.client_secret)).statusCode, 200)
  assert.equal((await present(server, 'web', SECRET, '203.0.113.2')).statusCode, 200)
})

test('CID-04: while the network has no failures left, a right secret waits too, and elsewhere it does not', async (t) => {
  const server = await openTestServer(t, { env: { GRANTOR_CLIENT_FAILURE_RATE: '2' } })
  await createSlow(server, 'web')
  for (const status of [401, 401, 429]) assert.equal((await present(server, 'web', 'wrong')).statusCode, status)
  assert.equal((await present(server, 'web')).statusCode, 429)
  assert.equal((await present(server, 'web', SECRET, '203.0.113.2')).statusCode, 200)
  assert.equal((await present(server, 'web')).statusCode, 200)
})

test('a right secret costs the network no failure, and neither does one that finds the queue of passwords full', async (t) => {
  const server = await openTestServer(t, { env: { GRANTOR_CLIENT_FAILURE_RATE: '1' } })
  await createSlow(server, 'web')
  const full = t.mock.method(server.context.passwords, 'verify', () =>
    Promise.reject(unavailable('password_queue_full', 5)),
  )
  for (let round = 0; round < 3; round += 1) {
    const answer = await present(server, 'web')
    assertError(answer, 503, 'temporarily_unavailable')
    assert.equal(answer.headers['retry-after'], '5')
  }
  full.mock.restore()
  assert.equal((await present(server, 'web')).statusCode, 200)
  assert.equal((await present(server, 'web', 'wrong')).statusCode, 401)
  assert.equal((await present(server, 'web', 'wrong')).statusCode, 429)
})

test('a rotation between verification and replacement wins, and the previous secret stays valid for its overlap', async (t) => {
  await createSlow(shared, 'rotated')
  const { passwords } = shared.context
  const { verify } = passwords
  let rotated = ''
  t.mock.method(passwords, 'verify', async (...asked: Parameters<typeof verify>) => {
    const verified = await verify(...asked)
    rotated ||= String(
      (await perform(shared.context, 'client.rotate-secret', { client_id: 'rotated' }))['client_secret'],
    )
    return verified
  })
  assert.equal((await present(shared, 'rotated')).statusCode, 200)
  const { secretHash, previousSecret } = await stored(shared, 'rotated')
  assert.ok(!secretHash?.includes(':'))
  assert.match(previousSecret?.hash ?? '', /^given:/)
  for (const secret of [rotated, SECRET]) assert.equal((await present(shared, 'rotated', secret)).statusCode, 200)
  shared.clock.advance(OVERLAP_MS + 1)
  assert.equal((await present(shared, 'rotated')).statusCode, 401)
  assert.equal((await present(shared, 'rotated', rotated)).statusCode, 200)
})

test('a secret that a rotation replaced before its first use is valid for its overlap only', async () => {
  for (const id of ['early', 'late']) {
    await createSlow(shared, id)
    await perform(shared.context, 'client.rotate-secret', { client_id: id })
  }
  assert.equal((await present(shared, 'early')).statusCode, 200)
  assert.match((await stored(shared, 'early')).previousSecret?.hash ?? '', /^given:/)
  shared.clock.advance(OVERLAP_MS + 1)
  assert.equal((await present(shared, 'late')).statusCode, 401)
})

test('a replacement that fails is logged, and the client gets its token', async (t) => {
  await createSlow(shared, 'failing')
  t.mock.method(shared.context.store, 'upgradeClientSecret', () =>
    Promise.reject(new StoreUnavailable('The commit takes too long.')),
  )
  assert.equal((await present(shared, 'failing')).statusCode, 200)
  assert.match((await stored(shared, 'failing')).secretHash ?? '', /^slow:/)
  assert.match(shared.log(), /"event":"client.secret-upgrade-failed"[^\n]*"reason":"store_unavailable"/)
})

test('CID-04: a secret that can be guessed is used but not replaced, so that its guesses stay counted before the work', async (t) => {
  const server = await openTestServer(t, { env: { GRANTOR_CLIENT_FAILURE_RATE: '2' } })
  for (const secret of ['secret', 'abababababababab', 'with a space in the text'])
    await createSlow(server, secret, secret)
  for (const secret of ['secret', 'abababababababab', 'with a space in the text']) {
    assert.equal((await present(server, secret, secret)).statusCode, 200)
    assert.match((await stored(server, secret)).secretHash ?? '', /^slow:/)
  }
  assert.match(server.log(), /"event":"client.secret-upgrade-failed"[^\n]*"reason":"guessable"/)
  for (const guess of ['guess1', 'guess2']) assert.equal((await present(server, 'secret', guess)).statusCode, 401)
  assert.equal((await present(server, 'secret', 'secret')).statusCode, 429)
})

test('a disabled client is refused, and its hash stays', async () => {
  await createSlow(shared, 'disabled')
  await perform(shared.context, 'client.disable', { client_id: 'disabled' })
  assertError(await present(shared, 'disabled'), 401, 'invalid_client')
  assert.equal(lastLogged(shared)['reason'], 'client_disabled')
  assert.match((await stored(shared, 'disabled')).secretHash ?? '', /^slow:/)
})

test('client.set-secret finds the secret unchanged, sets another, and client.show reveals no hash', async () => {
  await createSlow(shared, 'set')
  const set = async (client_secret: string) =>
    (await perform(shared.context, 'client.set-secret', { client_id: 'set', client_secret }))['outcome']
  const before = await stored(shared, 'set')
  assert.equal(await set(SECRET), 'unchanged')
  assert.deepEqual(await stored(shared, 'set'), before)
  const shown = await perform(shared.context, 'client.show', { client_id: 'set' })
  assert.doesNotMatch(JSON.stringify(shown), /slow:|pbkdf2/)
  assert.equal(await set('another-secret-of-Hydra'), 'set')
  for (const secret of ['another-secret-of-Hydra', SECRET])
    assert.equal((await present(shared, 'set', secret)).statusCode, 200)
})

test('no request of a client without such a hash, right or wrong, verifies one', async (t) => {
  const plain = await registerClient(shared)
  const verified = t.mock.method(shared.context.passwords, 'verify')
  assert.equal((await present(shared, plain.client_id, plain.client_secret)).statusCode, 200)
  assert.equal((await present(shared, plain.client_id, 'slow:$pbkdf2')).statusCode, 401)
  assert.equal(verified.mock.callCount(), 0)
})

/** Stores a client as an import of Hydra's table does. */
async function createSlow({ context }: TestServer, name: string, secret = SECRET): Promise<void> {
  const client_id = name.replaceAll(' ', '-')
  await perform(context, 'client.create', { client_id, client_name: name, grant_types: ['client_credentials'] })
  const made = await stored({ context }, name)
  await context.store.deleteClient(made.id)
  const salt = Buffer.from('0123456789abcdef')
  const base64 = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')
  const hash = pbkdf2Sync(secret, salt, 1000, 32, 'sha256')
  const secretHash = slowSecretHash(`$pbkdf2-sha256$i=1000,l=32$${base64(salt)}$${base64(hash)}`)
  assert.equal(await context.store.createClient({ ...made, secretHash }), 'created')
}

async function stored({ context }: Pick<TestServer, 'context'>, name: string): Promise<ClientRecord> {
  const client = await context.store.findClient(chosenClientId(name.replaceAll(' ', '-')) as ClientId)
  assert.ok(client)
  return client
}

/** A request of a client in the form. */
function present(
  server: TestServer,
  name: string,
  secret = SECRET,
  remoteAddress = '127.0.0.1',
): Promise<LightMyRequestResponse> {
  const client = { client_id: name.replaceAll(' ', '-'), client_secret: secret }
  return requestToken({ inject: (options) => server.inject({ ...options, remoteAddress }) }, client, MACHINE)
}

async function upgrades(): Promise<readonly AuditEvent[]> {
  const events = eventsOf(await listLinks(shared.context.store, 0 as EpochMs))
  return events.filter(({ event }) => event === 'client.secret-upgraded')
}

function basic(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
}

async function signIn(server: TestServer, client: { readonly client_id: string }): Promise<LightMyRequestResponse> {
  const browser = new PlainBrowser(server)
  const page = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
  return browser.submit(page, { email: EMAIL, password: PASSWORD })
}
