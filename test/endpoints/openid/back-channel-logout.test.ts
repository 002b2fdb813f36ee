import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from 'jose'
import {
  EMAIL,
  obtainTokens,
  PlainBrowser,
  postForm,
  refresh,
  registerClient,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { signOut } from '../../../tools/sign-out.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { openNotifiedHost } from '../../support/hosts/notified-host.ts'
import { idTokenOf, login, makeClient, openLogin, userinfo } from './login.ts'
import { notifying, openNotified, openNotifier } from './notified.ts'
import { perform, performOnUser } from '../../support/tasks.ts'

/** OpenID Connect Back-Channel Logout 1.0. */

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const { server, host, notifiedClient, endedSession, delivered, stored, waiting } = await openNotified(WHOLE_FILE)

test('LO-12: oidcc-backchannel-rp-initiated-logout: a sign-out from one application notifies both, and no MCP client', async () => {
  const board = await notifiedClient({ uri: host.uri('/board') })
  const wiki = await notifiedClient({ uri: host.uri('/wiki'), id_token_signed_response_alg: 'ES256' })
  const mcp = await registerClient(server)
  const browser = new PlainBrowser(server)
  const first = idTokenOf(await login(server, board, {}, browser))
  const second = idTokenOf(await login(server, wiki, {}, browser))
  const hint = (await login(server, board, { prompt: 'consent' }, browser)).id_token ?? ''
  const own = await obtainTokens(server, mcp)
  assert.deepEqual(await delivered(), [])
  await browser.get(`/v2/oauth/end-session?id_token_hint=${hint}`)
  const notices = (await delivered()).toSorted((one, other) => (one.path < other.path ? -1 : 1))
  assert.deepEqual(
    notices.map(({ path, type }) => [path, type]),
    [
      ['/board', 'application/x-www-form-urlencoded'],
      ['/wiki', 'application/x-www-form-urlencoded'],
    ],
  )
  for (const [index, [client, id, alg]] of (
    [
      [board, first, 'RS256'],
      [wiki, second, 'ES256'],
    ] as const
  ).entries()) {
    const { payload, protectedHeader } = await verified(notices[index]?.token ?? '', client, alg)
    assert.equal(protectedHeader.alg, alg)
    const { iat = 0, exp = 0, jti, ...claims } = payload
    const { client_id: aud } = client
    assert.deepEqual(claims, { iss: server.origin, aud, sub: id.sub, sid: id['sid'], events: { [EVENT]: {} } })
    assert.ok(exp - iat > 0 && exp - iat <= 120 && typeof jti === 'string')
  }
  assert.deepEqual(await delivered(), [], 'once')
  assert.equal((await refresh(server, mcp, own.refresh_token ?? '')).statusCode, 200)
})

test('LO-12: an administrator disables the user: the applications of all browsers are notified', async () => {
  const client = await notifiedClient()
  const { sub } = idTokenOf(await login(server, client, { prompt: 'consent' }))
  const { sid } = idTokenOf(await login(server, client, { prompt: 'consent' }))
  await performOnUser(server.context, 'user.disable', EMAIL)
  const notices = await delivered()
  assert.equal(notices.length, 2)
  const tokens = await Promise.all(notices.map(({ token }) => verified(token, client)))
  assert.ok(tokens.every(({ payload }) => payload.sub === sub))
  assert.ok(tokens.some(({ payload }) => payload['sid'] === sid))
  await server.context.store.enableUser({ id: sub as never, now: server.context.clock() })
  server.clock.advance(1000)
})

test('LO-11: a notice that the client answers with 200 or 204 is delivered, whatever else it answers', async () => {
  const answers: Readonly<Record<string, RequestListener>> = {
    200: (_request, response) => void response.end('not JSON'),
    204: (_request, response) => void response.writeHead(204).end(),
    'a large body': (_request, response) => void response.end('x'.repeat(1_000_000)),
    'a body without end': (_request, response) => void response.write('x'),
  }
  for (const [name, answer] of Object.entries(answers)) {
    host.answer(answer)
    await endedSession()
    assert.equal((await delivered()).length, 1, name)
    assert.deepEqual(waiting(), [], name)
  }
})

test('LO-11: other answers are repeated after longer and longer pauses, with a new token, and given up in the end', async () => {
  const answers: Readonly<Record<string, RequestListener>> = {
    400: (_request, response) => void response.writeHead(400).end(),
    500: (_request, response) => void response.writeHead(500).end(),
    redirect: (_request, response) => void response.writeHead(302, { location: host.uri('/elsewhere') }).end(),
    'no answer': (request) => void request.socket.destroy(),
  }
  for (const [name, answer] of Object.entries(answers)) {
    host.answer(answer)
    const client = await endedSession()
    const tokens = (await delivered()).map(({ token }) => token)
    for (const seconds of [10, 60, 300, 1800, 7200, 21_600, 43_200]) {
      server.clock.advance((seconds - 5) * 1000)
      assert.deepEqual(await delivered(), [], `${name}: not before ${seconds} s`)
      // A host that did not answer is left alone for half a minute.
      server.clock.advance(30_000)
      tokens.push(...(await delivered()).map(({ token }) => token))
    }
    assert.equal(new Set(tokens).size, 8, name)
    assert.deepEqual(waiting(), [], name)
    const last =
      server
        .log()
        .split('\n')
        .findLast((line) => line.includes('logout.undelivered')) ?? ''
    assert.ok(last.includes(client.client_id), last)
    server.clock.advance(30_000)
  }
  host.answer((_request, response) => void response.end())
})

test('LO-11: an application that never answers delays neither the sign-out nor the notices to others', async (t) => {
  const silent = await openNotifiedHost(t)
  const reached = new Promise<void>((resolve) => {
    silent.answer(() => resolve())
  })
  const silentClients = await Promise.all([1, 2, 3].map((number) => notifiedClient({ uri: silent.uri(`/${number}`) })))
  const board = await notifiedClient()
  const browser = new PlainBrowser(server)
  for (const client of [...silentClients, board]) await login(server, client, { prompt: 'consent' }, browser)
  await signOut(browser)
  const notifier = openNotifier(server)
  const before = host.notices.length
  await notifier.round()
  await reached
  while (waiting().some(({ client_id: id }) => id === board.client_id)) await nextTurn()
  assert.equal(host.notices.length, before + 1)
  assert.ok(silent.notices.length <= 2, 'two at a time to one host')
  await notifier.close()
  // What was under way when the node stopped does not count as an attempt.
  assert.deepEqual(
    waiting().map(({ attempts }) => attempts),
    [0, 0, 0],
  )
  silent.answer((_request, response) => void response.end())
  await notifying(openNotifier(server))
  assert.deepEqual(waiting(), [])
})

test('LO-12: two nodes do not send one notice at the same time', async () => {
  await endedSession()
  const [one, other] = [openNotifier(server), openNotifier(server)]
  const before = host.notices.length
  await Promise.all([notifying(one), notifying(other)])
  assert.equal(host.notices.length, before + 1)
})

test('LO-11: a notice goes to public addresses only', async (t) => {
  const inside = await openLogin(t, {
    network: { resolve: async () => [{ address: '10.0.0.1', family: 4 }], isPublicAddress: () => false },
  })
  const metadata = { backchannel_logout_uri: 'https://intranet.example/logout' }
  const client = await makeClient(inside, {}, metadata)
  const browser = new PlainBrowser(inside)
  await login(inside, client, {}, browser)
  await signOut(browser)
  await notifying(openNotifier(inside))
  assert.match(inside.log(), /"event":"logout\.postponed"[^\n]*"reason":"address"/)
})

test('LO-18: a client that is disabled or whose address the operator removed is not notified', async () => {
  const changes: readonly ((id: string) => Promise<unknown>)[] = [
    (id) => perform(server.context, 'client.disable', { client_id: id }),
    (id) => perform(server.context, 'client.update', { client_id: id, backchannel_logout_uri: '' }),
  ]
  for (const change of changes) {
    const client = await notifiedClient()
    const browser = new PlainBrowser(server)
    await login(server, client, { prompt: 'consent' }, browser)
    await change(client.client_id)
    await signOut(browser)
    assert.equal(waiting().length, 1)
    assert.deepEqual(await delivered(), [])
    assert.deepEqual(waiting(), [])
  }
})

test('LO-19: a logout token is no ID token and no access token', async () => {
  const client = await endedSession()
  const token = (await delivered())[0]?.token ?? ''
  assert.equal(decodeProtectedHeader(token).typ, 'logout+jwt')
  const page = await new PlainBrowser(server).get(`/v2/oauth/end-session?id_token_hint=${token}`)
  assert.match(page.body, /Sign out|not signed in/i)
  assert.equal((await userinfo(server, token)).statusCode, 401)
  const introspected = await postForm(server, '/v2/oauth/introspect', { token, ...client })
  assert.equal(introspected.json<{ active: boolean }>().active, false)
})

test('LO-20: a client without an address, or without openid, stores nothing to be notified', async () => {
  const browser = new PlainBrowser(server)
  const plain = await makeClient(server)
  await login(server, plain, {}, browser)
  const notified = await notifiedClient()
  await obtainTokens(server, notified)
  assert.deepEqual(stored(), [])
  await login(server, notified, { prompt: 'consent' }, browser)
  assert.equal(stored().length, 1)
})

async function verified(token: string, client: RegisteredClient, algorithm = 'RS256') {
  const jwks = (await server.inject({ url: '/v2/oauth/jwks' })).json<JSONWebKeySet>()
  return jwtVerify(token, createLocalJWKSet(jwks), {
    issuer: server.origin,
    audience: client.client_id,
    typ: 'logout+jwt',
    algorithms: [algorithm],
    currentDate: new Date(server.clock.now()),
  })
}
