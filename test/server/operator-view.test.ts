import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { decodeJwt } from 'jose'
import type { AuditEvent } from '../../src/ports/records/audit.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import { eventsOf, listLinks } from '../store/contract/chains.ts'
import { declareApi, knowApis } from '../support/apis.ts'
import { introspect } from '../support/token-questions.ts'
import { scrape } from '../support/scraped.ts'
import {
  authorizeUrl,
  EMAIL,
  locationOf,
  obtainCode,
  obtainTokens,
  PASSWORD,
  PlainBrowser,
  redeem,
  refresh,
  registerClient,
} from '../../tools/flow.ts'
import { createAda } from '../support/accounts.ts'
import { openTestServer, type TestServer } from '../support/server.ts'

const API = 'https://api.example'

async function open(t: TestContext) {
  const server = await openTestServer(t)
  await createAda(server)
  const [user] = await server.context.store.listUsers({ before: undefined, limit: 1 })
  assert.ok(user)
  const api = await declareApi(server, API)
  knowApis(server)
  return { server, user, api, client: await registerClient(server, { scope: 'read' }) }
}

function linesOf(server: TestServer, event: string): readonly Readonly<Record<string, unknown>>[] {
  const lines = server.log().trim().split('\n')
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter((line) => line['event'] === event)
}

/** The audit events of a name. Events are written in the background, so this waits until all reported events are stored. */
async function auditEvents({ context: { store } }: TestServer, name: string): Promise<readonly AuditEvent[]> {
  await store.insertSettingOnce({ name: 'a-write-of-a-test', value: '' })
  return eventsOf(await listLinks(store, 0 as EpochMs)).filter(({ event }) => event === name)
}

test('UI-13: the operator sees that an account is disabled, while the user sees the same page as for a wrong password', async (t) => {
  const { server, client, user } = await open(t)
  const attempt = async (password: string) => {
    const browser = new PlainBrowser(server)
    const page = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
    return browser.submit(page, { email: EMAIL, password })
  }
  const wrong = await attempt('not the pass phrase')
  await server.context.store.disableUser({ id: user.id, now: server.clock.now() })
  const disabled = await attempt(PASSWORD)
  const hidden = /name="(authorization|csrf)" value="[^"]*"| data-passkey="[^"]*"|\?authorization=[^&"]*/g
  assert.equal(disabled.statusCode, wrong.statusCode)
  assert.equal(disabled.body.replaceAll(hidden, ''), wrong.body.replaceAll(hidden, ''))
  const reasons = ['wrong-credentials', 'disabled']
  for (const event of ['sign-in.refused', 'sign-in.failed']) {
    assert.deepEqual(
      linesOf(server, event).map(({ reason }) => reason),
      reasons,
      event,
    )
  }
  const recorded = await auditEvents(server, 'sign-in.failed')
  assert.deepEqual(
    recorded.map(({ details }) => details?.['reason']),
    reasons,
  )
  const { value } = await scrape(server)
  for (const reason of reasons) {
    assert.equal(value('grantor_requests_total', { outcome: 'sign-in.refused', reason, status: '401' }), 1)
  }
})

test('INT-06: log, metrics and audit report that an API introspected a token whose access was revoked', async (t) => {
  const { server, client, user, api } = await open(t)
  const { access_token: access } = await obtainTokens(server, client, { scope: 'read', resource: API })
  await introspect(server, api, access)
  await introspect(server, api, 'no token')
  await server.context.store.revokeUserTokens({ id: user.id, now: server.clock.now() })
  await introspect(server, api, access)
  await introspect(server, client, access)
  assert.deepEqual(
    linesOf(server, 'introspect.answered').map((line) => [line['api'], line['client'], line['active'], line['reason']]),
    [
      [API, undefined, true, undefined],
      [API, undefined, false, 'unknown'],
      [API, undefined, false, 'user'],
      [undefined, client.client_id, false, 'user'],
    ],
  )
  assert.deepEqual(
    linesOf(server, 'introspect.answered').map((line) => line['user']),
    [user.id, undefined, user.id, user.id],
  )
  const asked = linesOf(server, 'introspect.answered')[2]?.['request_id']
  assert.deepEqual(
    linesOf(server, 'introspection.inactive').map((line) => [line['user'], line['request_id']]),
    [[user.id, asked]],
  )
  const { value } = await scrape(server)
  assert.equal(value('grantor_introspections_total', { api: API, active: 'true' }), 1)
  assert.equal(value('grantor_introspections_total', { api: API, active: 'false' }), 2)
  assert.equal(value('grantor_introspections_total', { api: '', active: 'false' }), 1)
  const recorded = await auditEvents(server, 'introspection.inactive')
  assert.deepEqual(recorded, [
    {
      event: 'introspection.inactive',
      clientId: client.client_id,
      userId: user.id,
      requestId: asked,
      details: { resource: API, reason: 'user' },
    },
  ])
})

test('Style 37: the log line of a refused code or refresh token names the user', async (t) => {
  const { server, client, user } = await open(t)
  const tokens = await obtainTokens(server, client, { scope: 'read', resource: API })
  const other = await registerClient(server, { scope: 'read', client_name: 'Another' })
  const code = await obtainCode(server, other, { scope: 'read', resource: API })
  // A code of the same millisecond is burned, and then unknown.
  server.clock.advance(1)
  await server.context.store.disableUser({ id: user.id, now: server.clock.now() })
  await refresh(server, client, tokens.refresh_token ?? '')
  await redeem(server, other, code)
  assert.deepEqual(
    linesOf(server, 'request.refused').map((line) => [line['client'], line['user'], line['reason']]),
    [
      [client.client_id, user.id, 'user_not_live'],
      [other.client_id, user.id, 'user_not_live'],
    ],
  )
})

test('Style 37: the log line of an issued token names its client, user, grant, scope and APIs, and nothing of the token', async (t) => {
  const { server, client, user } = await open(t)
  const { access_token: access } = await obtainTokens(server, client, { scope: 'read', resource: API })
  const [line = {}] = linesOf(server, 'token.issued')
  assert.partialDeepStrictEqual(line, {
    client: client.client_id,
    user: user.id,
    grant: decodeJwt(access)['grant_id'],
    scope: 'read',
    resources: [API],
    reason: 'authorization_code',
  })
  assert.ok(!JSON.stringify(line).includes(String(decodeJwt(access).jti)))
})

test('the log has no line for a health check that finds no fault, unless its level is debug', async (t) => {
  for (const level of ['info', 'debug']) {
    const server = await openTestServer(t, { env: { LOG_LEVEL: level } })
    for (const name of ['ready', 'alive']) {
      await server.inject({ method: 'GET', url: `/health/${name}` })
      assert.equal(server.log().includes(`"${name}.answered"`), level === 'debug')
    }
  }
})
