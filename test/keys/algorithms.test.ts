import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { decodeProtectedHeader } from 'jose'
import { SERVER_TOKENS } from '../../src/admin/api/api.ts'
import { createApi, requireApi, updateApi } from '../../src/admin/api/api.ts'
import { keepKeys, listKeys, retireKey, rotateKeys } from '../../src/admin/key/key.ts'
import type { SigningAlgorithm } from '../../src/ports/records/key.ts'
import { INTRODUCTION_MS } from '../../src/protocol/key-rotation.ts'
import type { Resource } from '../../src/protocol/token/resource.ts'
import { isActive } from '../support/token-questions.ts'
import { registerClient, requestToken, type RegisteredClient, type Tokens } from '../../tools/flow.ts'
import { openNodeSettings } from '../support/store/migrated-database.ts'
import { openTestServer, type TestServer } from '../support/server.ts'
import { CachingVerifier } from './caching-verifier.ts'
import { closedFirst } from '../support/closed-first.ts'
import { openStillClocks } from '../support/clocks.ts'
import { anApi } from '../support/records.ts'
import { anApiDeclaration } from '../support/records.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const API = 'https://api.example'
const OTHER_API = 'https://other.example'
const READ = { name: 'read', sentence: 'Read', grantedTo: 'users-and-machines' } as const

/** A node whose clock advances only by hand, one millisecond after its first key was made. */
async function openOne(t: TestContext, env: Record<string, string> = {}): Promise<TestServer> {
  const [clock] = openStillClocks([0])
  const server = await openTestServer(t, { clock, env })
  clock.advance(1)
  return server
}

function declare({ context }: TestServer, resource: string, algorithm: SigningAlgorithm | undefined) {
  return createApi(context, anApiDeclaration(resource, { scopes: [READ], tokens: { ...SERVER_TOKENS, algorithm } }))
}

async function change({ context }: TestServer, resource: string, algorithm: SigningAlgorithm | undefined) {
  const before = await requireApi(context, resource)
  return updateApi(context, before, { tokens: { ...SERVER_TOKENS, algorithm } })
}

async function issue(server: TestServer, client: RegisteredClient, resource: string | undefined) {
  const form = { grant_type: 'client_credentials', ...(resource === undefined ? {} : { resource }) }
  const answer = await requestToken(server, client, form)
  assert.equal(answer.statusCode, 200, answer.body)
  const token = answer.json<Tokens>().access_token
  return { token, alg: decodeProtectedHeader(token).alg, kid: String(decodeProtectedHeader(token).kid) }
}

async function algorithmOf(server: TestServer, client: RegisteredClient, resource: string | undefined) {
  return (await issue(server, client, resource)).alg
}

async function states({ context }: TestServer): Promise<readonly string[]> {
  return (await listKeys(context)).map(({ algorithm, state }) => `${algorithm} ${state}`)
}

test("an API that chooses another algorithm gets it ten minutes later; until then, and for other APIs, the server's key signs", async (t) => {
  const server = await openOne(t)
  const client = await registerClient(server)
  await declare(server, API, 'EdDSA')
  await declare(server, OTHER_API, undefined)
  assert.deepEqual(await states(server), ['ES256 signing', 'EdDSA next'])
  server.clock.advance(INTRODUCTION_MS - 1)
  assert.equal(await algorithmOf(server, client, API), 'ES256')
  server.clock.advance(2001)
  const { token, alg } = await issue(server, client, API)
  assert.equal(alg, 'EdDSA')
  assert.equal(await algorithmOf(server, client, OTHER_API), 'ES256')
  assert.equal(await algorithmOf(server, client, undefined), 'ES256')
  assert.equal(await isActive(server, client, token), true)
  assert.deepEqual(await states(server), ['ES256 signing', 'EdDSA signing'])
})

test("an API that chooses the server's algorithm makes no new key", async (t) => {
  const server = await openOne(t)
  await declare(server, API, 'ES256')
  assert.deepEqual(await keepKeys(server.context), { made: undefined, withdrawn: [] })
  assert.deepEqual(await states(server), ['ES256 signing'])
})

test('when no key of an algorithm was made with the API, the key maintenance makes it, once', async (t) => {
  const closed = closedFirst(t)
  const env = await openNodeSettings(t)
  const first = closed(await openOne(t, env))
  const second = closed(await openTestServer(t, { env, clock: first.clock }))
  const createdAt = first.clock.now()
  const tokens = { ...SERVER_TOKENS, algorithm: 'EdDSA' } as const
  await first.context.store.declareApi(anApi({ resource: API as Resource, tokens, createdAt }))
  const kept = await Promise.all([first, second, first, second].map(({ context }) => keepKeys(context)))
  assert.equal(kept.filter(({ made }) => made !== undefined).length, 1)
  assert.equal(kept.find(({ made }) => made !== undefined)?.made?.activeFrom, createdAt + INTRODUCTION_MS)
  assert.deepEqual(await states(second), ['ES256 signing', 'EdDSA next'])
})

test('each algorithm rotates separately: its next key exists a day early, and the old one is withdrawn after its last token', async (t) => {
  const server = await openOne(t)
  const seen: string[] = []
  for (let hours = 0; hours <= 62 * 24; hours += 1) {
    if (hours === 10 * 24) await declare(server, API, 'EdDSA')
    const before = await listKeys(server.context)
    const { made, withdrawn } = await keepKeys(server.context)
    const at = `day ${Math.floor(hours / 24)} hour ${hours % 24}`
    if (made !== undefined) seen.push(`${at}: ${made.algorithm} made`)
    for (const id of withdrawn) seen.push(`${at}: ${before.find((key) => key.id === id)?.algorithm} withdrawn`)
    server.clock.advance(HOUR)
  }
  assert.deepEqual(seen, [
    'day 29 hour 0: ES256 made',
    'day 31 hour 1: ES256 withdrawn',
    // The first EdDSA key signs ten minutes after the tenth day began.
    'day 39 hour 1: EdDSA made',
    'day 41 hour 2: EdDSA withdrawn',
    'day 59 hour 0: ES256 made',
    'day 61 hour 1: ES256 withdrawn',
  ])
})

test('an algorithm that no API uses does not rotate, and its key is withdrawn after its last token', async (t) => {
  const server = await openOne(t)
  const client = await registerClient(server)
  await declare(server, API, 'EdDSA')
  server.clock.advance(HOUR)
  const { token, kid } = await issue(server, client, API)
  await change(server, API, undefined)
  server.clock.advance(2000)
  assert.equal(await algorithmOf(server, client, API), 'ES256')
  assert.deepEqual(await states(server), ['ES256 signing', 'EdDSA verifying'])
  assert.equal(await isActive(server, client, token), true)
  let gone = 0
  for (let hours = 1; gone === 0 && hours <= 40 * 24; hours += 1) {
    server.clock.advance(HOUR)
    const { made, withdrawn } = await keepKeys(server.context)
    assert.notEqual(made?.algorithm, 'EdDSA')
    if (withdrawn.includes(kid as never)) gone = hours
  }
  assert.equal(gone, 31 * 24 + 1)
  await change(server, API, 'EdDSA')
  assert.equal((await states(server)).at(-1), 'EdDSA next')
})

test("a change of the server's algorithm takes effect at the next rotation, and an API may keep the old one", async (t) => {
  const closed = closedFirst(t)
  const before = closed(await openOne(t))
  const { clock, folder } = before
  await declare(before, API, 'ES256')
  const client = await registerClient(before)
  await before.close()
  const server = closed(await openTestServer(t, { folder, clock, env: { GRANTOR_SIGNING_ALGORITHM: 'EdDSA' } }))
  assert.deepEqual((await keepKeys(server.context)).made, undefined)
  assert.equal(await algorithmOf(server, client, undefined), 'ES256')
  clock.advance(29 * DAY)
  const made = [(await keepKeys(server.context)).made, (await keepKeys(server.context)).made]
  assert.deepEqual(new Set(made.map((key) => key?.algorithm)), new Set(['ES256', 'EdDSA']))
  clock.advance(DAY + 2000)
  assert.equal(await algorithmOf(server, client, undefined), 'EdDSA')
  assert.equal(await algorithmOf(server, client, API), 'ES256')
})

test("after a change of the server's algorithm the previous one is used until the next rotation, whatever APIs have chosen", async (t) => {
  const closed = closedFirst(t)
  const shared = await openNodeSettings(t)
  const before = closed(await openOne(t, shared))
  const { clock } = before
  await keepKeys(before.context)
  // The RS256 key is newer than the server's key, and another API chose the server's algorithm.
  await declare(before, API, 'RS256')
  await declare(before, OTHER_API, 'ES256')
  clock.advance(HOUR)
  const client = await registerClient(before)
  const { kid } = await issue(before, client, undefined)
  await before.close()
  const env = { ...shared, GRANTOR_SIGNING_ALGORITHM: 'EdDSA' }
  const nodes = [
    closed(await openTestServer(t, { clock, env })),
    closed(await openTestServer(t, { clock, env })),
  ] as const
  const [server] = nodes
  for (const node of nodes) assert.equal((await issue(node, client, undefined)).kid, kid)
  assert.deepEqual(await states(server), ['ES256 signing', 'RS256 signing'])
  await rotateKeys(server.context, { when: 'now', purpose: 'access', algorithm: undefined })
  for (const node of nodes) assert.equal((await issue(node, client, undefined)).kid, kid)
  clock.advance(12_000)
  for (const node of nodes) {
    assert.equal(await algorithmOf(node, client, undefined), 'EdDSA')
    assert.equal(await algorithmOf(node, client, API), 'RS256')
    assert.equal(await algorithmOf(node, client, OTHER_API), 'ES256')
  }
})

test("an operator can rotate an API's algorithm and withdraw its stolen key; an unused algorithm is refused", async (t) => {
  const server = await openOne(t)
  const client = await registerClient(server)
  await declare(server, API, 'EdDSA')
  server.clock.advance(HOUR)
  const { token, kid } = await issue(server, client, API)
  await assert.rejects(
    rotateKeys(server.context, { when: 'now', purpose: 'access', algorithm: 'RS256' }),
    /No tokens are signed with RS256/,
  )
  await assert.rejects(retireKey(server.context, kid), /grantor key rotate --now --algorithm EdDSA/)
  const next = await rotateKeys(server.context, { when: 'now', purpose: 'access', algorithm: 'EdDSA' })
  server.clock.advance(31_000)
  assert.equal((await issue(server, client, API)).kid, next.id)
  assert.equal(await algorithmOf(server, client, undefined), 'ES256')
  assert.equal(await retireKey(server.context, kid), kid)
  server.clock.advance(2000)
  assert.equal(await isActive(server, client, token), false)
})

test('the first key of an algorithm can be withdrawn before it signs, and another key replaces it', async (t) => {
  const server = await openOne(t)
  await declare(server, API, 'EdDSA')
  const [, waiting] = await listKeys(server.context)
  assert.equal(await retireKey(server.context, waiting?.id ?? ''), waiting?.id)
  const { made } = await keepKeys(server.context)
  assert.equal(made?.algorithm, 'EdDSA')
  assert.notEqual(made?.id, waiting?.id)
})

test('MET-05: a verifier that fetched the keys from a node without the first key of an algorithm never misses that key', async (t) => {
  const closed = closedFirst(t)
  const [clock, clockAhead] = openStillClocks([0, 1900])
  const env = await openNodeSettings(t)
  const first = closed(await openTestServer(t, { clock, env }))
  const second = closed(await openTestServer(t, { clock: clockAhead, env }))
  const client = await registerClient(first)
  const { token } = await issue(second, client, undefined)
  await declare(first, API, 'EdDSA')
  // The other node reads the keys once a second.
  clock.advance(999)
  const verifier = new CachingVerifier([second], clock.now)
  await verifier.verify(token)
  const seen = new Set<unknown>()
  // Up to the last millisecond before the verifier fetches the keys again.
  for (const step of [300_000, 290_000, 8000, 1999]) {
    clock.advance(step)
    for (const node of [first, second]) {
      const issued = await issue(node, client, API)
      seen.add(issued.alg)
      await verifier.verify(issued.token)
    }
  }
  clock.advance(15_000)
  assert.equal(await algorithmOf(first, client, API), 'EdDSA')
  assert.deepEqual(seen, new Set(['ES256']))
})

/** The shortest rotation, and a token lifetime as long. */
const SETTINGS = { GRANTOR_KEY_ROTATION: '86400', GRANTOR_ACCESS_TOKEN_LIFETIME: '86400' }
/** Milliseconds between the checks: around the times at which keys start to sign, and the rest of the day. */
const STEPS = [2500, 298_500, 310_000, DAY - 1_309_000, 696_000, 1000, 1000]

test('MET-05: APIs with three algorithms, introduced one after the other, verify every unexpired token through ten rotations', async (t) => {
  const closed = closedFirst(t)
  const [clock, clockAhead] = openStillClocks([0, 1900])
  const env = { ...SETTINGS, ...(await openNodeSettings(t)) }
  const first = closed(await openTestServer(t, { clock, env }))
  const second = closed(await openTestServer(t, { clock: clockAhead, env }))
  const nodes = [first, second]
  const client = await registerClient(first)
  const verifiers = [nodes, nodes.toReversed()].map((order) => new CachingVerifier(order, clock.now))
  const signers = new Set<string>()
  const algorithms = new Set<unknown>()
  let live: { readonly token: string; readonly until: number }[] = []
  const resources: (string | undefined)[] = [undefined]
  for (let step = 0; step < 11 * STEPS.length; step += 1) {
    if (step === STEPS.length) await declare(first, API, 'EdDSA')
    if (step === 2 * STEPS.length) await declare(second, OTHER_API, 'RS256')
    const asked = nodes.flatMap((node) => resources.map((resource) => issue(node, client, resource)))
    const [issued] = await Promise.all([Promise.all(asked), ...nodes.map(({ context }) => keepKeys(context))])
    for (const { kid, alg } of issued) {
      signers.add(kid)
      algorithms.add(alg)
    }
    const until = clock.now() + DAY
    live = [
      ...live.filter((one) => one.until > clockAhead.now() + 3000),
      ...issued.map(({ token }) => ({ token, until })),
    ]
    const sample = [...live.slice(0, 3).map(({ token }) => token), ...issued.map(({ token }) => token)]
    for (const verifier of verifiers) for (const token of sample) await verifier.verify(token)
    const answers = sample.flatMap((token) => nodes.map((node) => isActive(node, client, token)))
    assert.deepEqual(new Set(await Promise.all(answers)), new Set([true]))
    clock.advance(STEPS[step % STEPS.length] ?? 0)
    if (step === STEPS.length) resources.push(API)
    if (step === 2 * STEPS.length) resources.push(OTHER_API)
  }
  assert.deepEqual(algorithms, new Set(['ES256', 'EdDSA', 'RS256']))
  assert.ok(signers.size >= 25, String(signers.size))
})
