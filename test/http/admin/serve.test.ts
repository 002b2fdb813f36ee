import assert from 'node:assert/strict'
import { request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { MAXIMA } from '../../../src/base/maxima.ts'
import { openTestServer } from '../../support/server.ts'
import { aUser } from '../../support/records.ts'
import { dumpStore, selectAll } from '../../support/store/dump.ts'
import { bearer, openAdminServer, adminServerOf } from '../../support/admin-server.ts'
import { perform } from '../../support/tasks.ts'

const CLIENTS = '/admin/v1/clients'
const CREDENTIALS = '/admin/v1/admin-credentials'

interface Refusal {
  readonly error: string
  readonly error_description: string
  readonly detail: readonly { readonly loc: readonly string[]; readonly type: string; readonly input: unknown }[]
}

/** What a server answers to a target as it is written, byte for byte. */
function statusOf(origin: string, target: string): Promise<number | undefined> {
  const { port } = new URL(origin)
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path: target, method: 'GET', agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
}

test('ADM-01: no route of the administration is on the public port, in any spelling of its path', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const { token } = await adminServerOf(server).issue('write')
  const targets = [
    '/admin',
    '/admin/',
    '//admin',
    '/%61dmin',
    '/x/..;/admin',
    '/admin%2f',
    '/admin/v1/clients',
    '//admin/v1/clients',
    '/%61dmin/v1/clients',
    '/admin%2fv1%2fclients',
    '/v2/oauth/../../admin/v1/clients',
    '/v2/oauth/..;/admin/v1/clients',
    '/v2/oauth/token/..%2f..%2f..%2fadmin/v1/clients',
    '/admin/v1/openapi.json',
    `/admin/v1/clients?access_token=${token}`,
  ]
  for (const target of targets) assert.equal(await statusOf(server.origin, target), 404, target)
})

test('ADM-01: on the administration port each route has one spelling', async (t) => {
  const stage = await openAdminServer(t)
  const { token } = await stage.issue('write')
  const { client_id: id } = await stage.makeClient()
  const ask = async (url: string) => (await stage.server.injectAdmin({ url, ...bearer(token) })).statusCode
  assert.equal(await ask(`${CLIENTS}/${id}`), 200)
  // A parameter may be escaped, as any text in a path (RFC 3986 §2.1).
  assert.equal(await ask(`${CLIENTS}/%67${id.slice(1)}`), 200)
  const others = ['/', '/admin', '/admin/v1', '/admin/v1/', `${CLIENTS}/`, '/admin/v1//clients', '/Admin/v1/clients']
  const escaped = ['/admin/v1/%63lients', '/%61dmin/v1/clients', `${CLIENTS}/${id}%2fverify`, `${CLIENTS}/%zz`]
  const ofEndpoints = ['/v2/oauth/token', '/health/alive', '/.well-known/oauth-authorization-server']
  for (const url of [...others, ...escaped, ...ofEndpoints]) {
    const status = await ask(url)
    assert.ok(status === 404 || (status === 422 && url.includes('%2f')), `${url}: ${status}`)
  }
})

test('ADM-10: no metrics or debugging route is on the public port', async (t) => {
  const server = await openTestServer(t, { listen: true })
  for (const target of ['/metrics', '/debug', '/debug/pprof', '/heapdump', '/json/version', '/v2/oauth/metrics']) {
    assert.equal(await statusOf(server.origin, target), 404, target)
  }
})

test('ADM-07: the actor of a change is the owner of the credentials, whatever the request contains', async (t) => {
  const stage = await openAdminServer(t)
  const { server } = stage
  const mine = await stage.issue('write')
  const other = await stage.issue('write')
  const [first, second] = [await stage.makeClient(), await stage.makeClient()]
  const url = `${CLIENTS}/${first.client_id}/approved-scope`
  const attempts: readonly object[] = [
    { scope: 'pay', actor: other.id },
    { scope: 'pay', administrator: { actor: other.id } },
    { scope: 'pay', client_id: second.client_id },
  ]
  for (const payload of attempts) {
    const answer = await server.injectAdmin({ method: 'PUT', url, payload, ...bearer(mine.token) })
    assert.equal(answer.statusCode, 422, JSON.stringify(payload))
  }
  const headers = { ...bearer(mine.token).headers, 'x-actor': other.id, 'x-user': other.id, from: other.id }
  const done = await server.injectAdmin({ method: 'PUT', url, payload: { scope: 'pay' }, headers })
  assert.equal(done.statusCode, 200)
  assert.equal(done.json<{ approved_scope: string }>().approved_scope, 'pay')
  const recorded = selectAll(server, 'select events from audit_links order by link_id')
    .map(({ events }) => String(events))
    .join('\n')
  assert.ok(recorded.includes(`"actor":"${mine.id}"`), recorded)
  assert.ok(!recorded.includes(`"actor":"${other.id}"`))
})

test('ADM-08: a new server has no administrator and no default credentials', async (t) => {
  const server = await openTestServer(t)
  assert.deepEqual(await server.context.store.listAdminCredentials({ before: undefined, limit: 10 }), [])
  for (const token of ['', 'admin', 'grantor', 'changeme', 'gad_', 'secret']) {
    const answer = await server.injectAdmin({ url: CLIENTS, ...bearer(token) })
    assert.equal(answer.statusCode, 401)
  }
  for (const days of [0, 366, 1.5, -1]) {
    const created = perform(server.context, 'admin.create', { name: 'Somebody', access: 'read', days })
    await assert.rejects(created, /This must be (at least 1\.|at most 365\.|a whole number)/)
  }
})

test('failed attempts are counted by network, and valid credentials work nevertheless', async (t) => {
  const stage = await openAdminServer(t, { GRANTOR_CLIENT_FAILURE_RATE: '3' })
  const { token } = await stage.issue('read')
  const ask = async (held: string) => stage.server.injectAdmin({ url: CLIENTS, ...bearer(held) })
  const statuses: number[] = []
  for (let attempt = 0; attempt < 5; attempt += 1) statuses.push((await ask('gad_wrong')).statusCode)
  assert.deepEqual(statuses, [401, 401, 401, 429, 429])
  const refused = await ask('gad_wrong')
  assert.equal(refused.json<Refusal>().error, 'temporarily_unavailable')
  assert.match(String(refused.headers['retry-after']), /^\d+$/)
  assert.equal((await ask(token)).statusCode, 200)
})

test('RFC 6750 §3.1: a request without a token gets a challenge only, and a wrong token gets invalid_token', async (t) => {
  const { server } = await openAdminServer(t)
  const nothing = await server.injectAdmin({ url: CLIENTS })
  assert.equal(nothing.headers['www-authenticate'], 'Bearer realm="grantor"')
  const wrong = await server.injectAdmin({ url: CLIENTS, ...bearer('gad_wrong') })
  assert.equal(wrong.headers['www-authenticate'], 'Bearer realm="grantor", error="invalid_token"')
})

test('one response has every problem of a request, with stable names, and nothing is changed', async (t) => {
  const stage = await openAdminServer(t)
  const { token } = await stage.issue('write')
  const { server } = stage
  const before = dumpStore(server)['admin_credentials']
  const answer = await server.injectAdmin({
    method: 'POST',
    url: `${CREDENTIALS}?days=3`,
    payload: { access: 'all', days: '1', organization_id: 3, extra: true },
    ...bearer(token),
  })
  assert.equal(answer.statusCode, 422)
  const { error, detail } = answer.json<Refusal>()
  assert.equal(error, 'invalid_request')
  assert.deepEqual(
    detail.map(({ loc, type, input }) => [loc.join('.'), type, input]),
    [
      ['query.days', 'value_error', null],
      ['body.name', 'missing', null],
      ['body.access', 'literal_error', 'all'],
      ['body.organization_id', 'string_type', 3],
      ['body.days', 'value_error', '1'],
      ['body.extra', 'value_error', null],
    ],
  )
  assert.deepEqual(dumpStore(server)['admin_credentials'], before)
})

test('a body that is not a JSON object is rejected, and no part of it is returned', async (t) => {
  const stage = await openAdminServer(t)
  const { token } = await stage.issue('write')
  const json = { 'content-type': 'application/json' }
  const cases: readonly (readonly [Record<string, string>, string | Buffer, number, string])[] = [
    [json, '{"password":"correct horse"', 422, 'json_invalid'],
    [json, '["correct horse"]', 422, 'object_type'],
    [json, '"correct horse"', 422, 'object_type'],
    [json, 'null', 422, 'object_type'],
    [json, Buffer.from([0x7b, 0xff, 0x7d]), 422, 'json_invalid'],
    [json, '{"__proto__":{"access":"write"}}', 422, 'value_error'],
    [json, `{"name":"${'x'.repeat(MAXIMA.adminBody.most)}"}`, 413, 'too_large'],
    [{ 'content-type': 'text/plain' }, '{"name":"correct horse"}', 415, 'media_type'],
    [{ 'content-type': 'application/x-www-form-urlencoded' }, 'name=correct+horse', 415, 'media_type'],
    [{ 'content-type': 'application/json; charset=utf-16' }, '{}', 415, 'media_type'],
  ]
  for (const [headers, payload, status, type] of cases) {
    const answer = await stage.server.injectAdmin({
      method: 'POST',
      url: CREDENTIALS,
      headers: { ...headers, ...bearer(token).headers },
      payload,
    })
    assert.equal(answer.statusCode, status, `${String(payload).slice(0, 40)}: ${answer.body}`)
    assert.equal(answer.json<Refusal>().detail[0]?.type, type)
    assert.ok(!answer.body.includes('correct horse'))
  }
})

test('a content type that is sent twice is invalid', async (t) => {
  const stage = adminServerOf(await openTestServer(t, { listen: true }))
  const { token } = await stage.issue('write')
  const { hostname, port } = new URL(stage.server.adminOrigin)
  const json = ['Content-Type', 'application/json']
  for (const [second, status] of [
    [[], 201],
    [['content-type', 'text/plain'], 415],
    [json, 415],
  ] as const) {
    const headers = ['Host', `${hostname}:${port}`, 'Authorization', `Bearer ${token}`, ...json, ...second]
    const target = { hostname, port, path: CREDENTIALS, method: 'POST', agent: false, headers }
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    request(target, resolve).on('error', reject).end('{"name":"one","access":"read"}')
    const answer = await promise
    assert.deepEqual([answer.statusCode, second], [status, second], await text(answer))
  }
})

test('an unknown method is answered with the methods of the path, and without a CORS header', async (t) => {
  const stage = await openAdminServer(t)
  const { token } = await stage.issue('write')
  for (const method of ['PUT', 'DELETE', 'OPTIONS', 'PATCH'] as const) {
    const headers = { ...bearer(token).headers, origin: 'https://evil.example', 'access-control-request-method': 'GET' }
    const answer = await stage.server.injectAdmin({ method, url: CREDENTIALS, headers })
    assert.equal(answer.statusCode, 405)
    assert.equal(answer.headers['allow'], 'GET, HEAD, POST')
    assert.deepEqual(
      Object.keys(answer.headers).filter((name) => name.startsWith('access-control')),
      [],
    )
  }
  const head = await stage.server.injectAdmin({ method: 'HEAD', url: CREDENTIALS, ...bearer(token) })
  assert.deepEqual([head.statusCode, head.body], [200, ''])
})

test('NET-01: for an https issuer a request over plain HTTP from another machine is rejected with any credentials', async (t) => {
  const env = {
    GRANTOR_ISSUER: 'https://login.acme.test',
    GRANTOR_ADMIN_HOST: '0.0.0.0',
    GRANTOR_TRUST_PROXY: '10.1.0.0/16',
  }
  const { server, ...stage } = adminServerOf(await openTestServer(t, { env }))
  const { token } = await stage.issue('read')
  const ask = async (remoteAddress: string, forwarded: Record<string, string> = {}) => {
    const headers = { ...bearer(token).headers, ...forwarded }
    return (await server.injectAdmin({ url: CLIENTS, headers, remoteAddress })).statusCode
  }
  assert.equal(await ask('203.0.113.9'), 400)
  assert.equal(await ask('203.0.113.9', { 'x-forwarded-proto': 'https' }), 400)
  assert.equal(await ask('10.1.2.3', { 'x-forwarded-proto': 'http' }), 400)
  assert.equal(await ask('10.1.2.3', { 'x-forwarded-proto': 'https' }), 200)
  assert.equal(await ask('127.0.0.1'), 200)
})

test('the log has a line for each request, with the task, the administrator and the reason, and no token', async (t) => {
  const stage = await openAdminServer(t)
  const { token, id } = await stage.issue('read')
  await stage.performByName('client.list', {}, token)
  await stage.performByName('key.rotate', {}, token)
  const lines = stage.server
    .log()
    .split('\n')
    .filter((line) => line.includes('"task":'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  assert.deepEqual(
    lines.map(({ event, task, administrator, reason, status }) => [event, task, administrator, reason, status]),
    [
      ['admin.answered', 'client.list', id, undefined, 200],
      ['admin.refused', 'key.rotate', id, 'admin_may_only_read', 403],
    ],
  )
  assert.ok(!stage.server.log().includes(token))
})

test('CON-11: a page whose browser has gone while the page waited is not made', async (t) => {
  const asked = 12
  const outcomes: string[] = []
  const allLogged = Promise.withResolvers<void>()
  const server = await openTestServer(t, {
    listen: true,
    pageGapMs: 20,
    onLog: (line) => {
      const { event, reason = event } = JSON.parse(line) as { readonly event: string; readonly reason?: string }
      if (event.startsWith('admin.') && outcomes.push(reason) === asked) allLogged.resolve()
    },
  })
  const { host, port } = new URL(server.adminOrigin)
  for (let count = 0; count < asked; count += 1) {
    const socket = connect(Number(port), 'localhost')
    socket.write(`GET /console HTTP/1.1\r\nHost: ${host}\r\n\r\n`, () => socket.destroy())
  }
  await allLogged.promise
  assert.ok(outcomes.includes('overloaded'), outcomes.join())
})

test('ADM-12: lists that are read at the same time leave the process to clients between them', async (t) => {
  const stage = await openAdminServer(t)
  const { server } = stage
  const { token } = await stage.issue('read')
  for (let user = 0; user < 300; user += 1) await server.context.store.createUser(aUser())
  const list = {
    method: 'GET',
    url: '/admin/v1/users?limit=300',
    headers: { authorization: `Bearer ${token}` },
  } as const
  const client = { method: 'GET', url: '/.well-known/oauth-authorization-server' } as const
  for (const warm of [server.injectAdmin(list), server.inject(client)]) await warm
  const ended: string[] = []
  const answer = async (what: string, answered: Promise<{ readonly statusCode: number }>): Promise<void> => {
    const { statusCode } = await answered
    ended.push(`${what} ${statusCode}`)
  }
  const lists = Array.from({ length: 20 }, () => answer('list', server.injectAdmin(list)))
  // All of them have been read, and began or wait.
  for (let turn = 0; turn < 3; turn += 1) await nextTurn()
  await answer('client', server.inject(client))
  assert.ok(ended.length <= 10, ended.join())
  await Promise.all(lists)
  assert.deepEqual([...new Set(ended)].toSorted(), ['client 200', 'list 200'])
})
