import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { createApi } from '../../src/admin/api/api.ts'
import {
  authorizeUrl,
  EMAIL,
  locationOf,
  obtainCode,
  obtainTokens,
  PASSWORD,
  PlainBrowser,
  postForm,
  redeem,
  refresh,
  registerClient,
  requestToken,
  type RegisteredClient,
  type Tokens,
} from '../../tools/flow.ts'
import { createAda } from '../support/accounts.ts'
import { openMigratedDatabase } from '../support/store/migrated-database.ts'
import { openTestServer, STRICT, temporaryFolder, type TestServer } from '../support/server.ts'
import { assertInvalidGrant } from '../support/token-answers.ts'
import { anApiDeclaration } from '../support/records.ts'
import { perform, performOnUser } from '../support/tasks.ts'

/** Two servers on one PostgreSQL, like two machines behind a load balancer. */

const SECRET = 'b'.repeat(43)
const OTHER_SECRET = 'c'.repeat(43)
/** Decision 0005: other nodes see a node's changes within this time. */
const NEWS_MS = 1000
/** Wrong passwords for an account before unknown browsers are locked out. */
const GUESSES = 10
/** Attempts are counted in windows; no test may cross from one into the next. */
const WINDOW_MS = 15 * 60_000

interface Nodes {
  readonly a: TestServer
  readonly b: TestServer
}

test('registered on one node, signed in on the other, consented on the first, redeemed on the other', async (t) => {
  const { a, b } = await openNodes(t)
  await createAda(a)
  const client = await registerClient(a)
  let node = a
  const browser = new PlainBrowser({ ...a, inject: (request) => node.inject(request) })
  const start = await browser.get(authorizeUrl(client))
  node = b
  const page = await browser.get(locationOf(start))
  const signedIn = await browser.submit(page, { email: EMAIL, password: PASSWORD })
  node = a
  const consent = await browser.get(locationOf(signedIn))
  const allowed = new URL(locationOf(await browser.submit(consent, { decision: 'allow' })))
  const answer = await redeem(b, client, allowed.searchParams.get('code') ?? '')
  assert.equal(answer.statusCode, 200, answer.body)
  const keys = createLocalJWKSet((await a.inject({ method: 'GET', url: '/v2/oauth/jwks' })).json<JSONWebKeySet>())
  await jwtVerify(answer.json<Tokens>().access_token, keys, { issuer: a.origin, audience: a.origin, typ: 'at+jwt' })
})

test('a code that was redeemed on one node is rejected on the other, and its tokens are revoked', async (t) => {
  const { a, b } = await openNodes(t)
  await createAda(a)
  const client = await registerClient(b)
  const code = await obtainCode(a, client)
  const tokens = (await redeem(a, client, code)).json<Tokens>()
  assertInvalidGrant(await redeem(b, client, code))
  assertInvalidGrant(await refresh(a, client, tokens.refresh_token ?? ''))
})

test('a refresh that is repeated on another node gets the same successor', async (t) => {
  const { a, b, client, tokens } = await openFamily(t)
  const first = await refresh(a, client, tokens.refresh_token ?? '')
  const again = await refresh(b, client, tokens.refresh_token ?? '')
  assert.equal(first.statusCode, 200, first.body)
  assert.equal(again.statusCode, 200, again.body)
  assert.equal(again.json<Tokens>().refresh_token, first.json<Tokens>().refresh_token)
})

test('a token that is reused on one node revokes its family on the other', async (t) => {
  const { a, b, client, tokens } = await openFamily(t)
  const second = (await refresh(a, client, tokens.refresh_token ?? '')).json<Tokens>()
  const third = (await refresh(b, client, second.refresh_token ?? '')).json<Tokens>()
  assertInvalidGrant(await refresh(a, client, tokens.refresh_token ?? ''))
  assertInvalidGrant(await refresh(b, client, third.refresh_token ?? ''))
})

test('a token that is revoked on one node is inactive on the other at once', async (t) => {
  const { a, b, client, tokens } = await openFamily(t)
  const secret = { client_id: client.client_id, client_secret: client.client_secret ?? '' }
  const revoked = await postForm(a, '/v2/oauth/revoke', { ...secret, token: tokens.refresh_token ?? '' })
  assert.equal(revoked.statusCode, 200, revoked.body)
  assertInvalidGrant(await refresh(b, client, tokens.refresh_token ?? ''))
})

test('a user who is disabled on one node is rejected on the other within a second', async (t) => {
  const { a, b, client, tokens } = await openFamily(t)
  // Now the other node has cached the user.
  const second = (await refresh(b, client, tokens.refresh_token ?? '')).json<Tokens>()
  await performOnUser(a.context, 'user.disable', EMAIL)
  await delay(NEWS_MS)
  assertInvalidGrant(await refresh(b, client, second.refresh_token ?? ''))
})

test('a client that is disabled on one node is rejected on the other within a second, and works again once enabled', async (t) => {
  const { a, b, client, tokens } = await openFamily(t)
  // Now the other node has cached the client.
  const second = (await refresh(b, client, tokens.refresh_token ?? '')).json<Tokens>()
  await perform(a.context, 'client.disable', { client_id: client.client_id })
  await delay(NEWS_MS)
  const refused = await refresh(b, client, second.refresh_token ?? '')
  assert.equal(refused.json<{ readonly error: string }>().error, 'invalid_client')
  await perform(a.context, 'client.enable', { client_id: client.client_id })
  await delay(NEWS_MS)
  assert.equal((await refresh(b, client, second.refresh_token ?? '')).statusCode, 200)
})

test('an API that is declared on one node is known on the other within a second', async (t) => {
  const { a, b } = await openNodes(t)
  const client = await registerClient(a)
  const [first, resource] = ['https://first.example/', 'https://second.example/']
  const scopes = [{ name: 'status:read', sentence: 'Read the status', grantedTo: 'users-and-machines' }] as const
  const form = { grant_type: 'client_credentials', resource }
  await createApi(a.context, anApiDeclaration(first, { scopes }))
  assert.equal((await requestToken(b, client, form)).json<{ readonly error: string }>().error, 'invalid_target')
  await createApi(a.context, anApiDeclaration(resource, { scopes }))
  a.clock.advance(NEWS_MS)
  const answer = await requestToken(b, client, form)
  assert.equal(answer.statusCode, 200, answer.body)
})

test('wrong passwords are counted over all nodes', async (t) => {
  const { a, b } = await openNodes(t)
  await createAda(a)
  const client = await registerClient(a)
  a.clock.advance(WINDOW_MS - (a.clock.now() % WINDOW_MS))
  for (let guess = 0; guess < GUESSES; guess += 1) {
    const answer = await signIn(guess % 2 === 0 ? a : b, client, `wrong ${guess}`)
    assert.equal(answer.statusCode, 401)
  }
  for (const node of [a, b]) assert.equal((await signIn(node, client, PASSWORD)).statusCode, 429)
})

test('a node with another GRANTOR_SECRET does not start, and says why', async (t) => {
  const env = { DATABASE_URL: await openMigratedDatabase(t), GRANTOR_SECRET: SECRET }
  const folder = temporaryFolder(t)
  await openTestServer(t, { env, folder })
  await assert.rejects(openTestServer(t, { env: { ...env, GRANTOR_SECRET: OTHER_SECRET }, folder }), {
    message:
      'This database was made under another root secret than the one in GRANTOR_SECRET. Put the right one there.',
  })
})

async function openNodes(t: TestContext): Promise<Nodes> {
  const env = { ...STRICT, DATABASE_URL: await openMigratedDatabase(t), GRANTOR_SECRET: SECRET }
  const a = await openTestServer(t, { env })
  const b = await openTestServer(t, { env, clock: a.clock })
  return { a, b }
}

/** Tokens that the first node issued to a client of the second. */
async function openFamily(t: TestContext): Promise<Nodes & { client: RegisteredClient; tokens: Tokens }> {
  const nodes = await openNodes(t)
  await createAda(nodes.a)
  const client = await registerClient(nodes.b)
  return { ...nodes, client, tokens: await obtainTokens(nodes.a, client) }
}

async function signIn(node: TestServer, client: RegisteredClient, password: string): Promise<LightMyRequestResponse> {
  const browser = new PlainBrowser(node)
  const page = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
  return browser.submit(page, { email: EMAIL, password })
}
