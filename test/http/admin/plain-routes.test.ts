import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alterLast } from '../../support/alter.ts'
import inject from 'light-my-request'
import { createAdminApp, OPENAPI_PATH } from '../../../src/http/admin/app.ts'
import type { PlainRoute } from '../../../src/http/admin/routes.ts'
import { gatherCredentials } from './credentials.ts'
import { bearer, openAdminServer, type AdminServer } from '../../support/admin-server.ts'

const GAUGES: PlainRoute = {
  path: '/gauges',
  access: 'machine',
  answer: () => Promise.resolve({ contentType: 'text/plain; version=0.0.4', body: 'up 1\n' }),
}

/** Asks an administration that listens on `host`. */
function openAsk(stage: AdminServer, host: string) {
  const app = createAdminApp({
    context: stage.server.context,
    host,
    trustedProxies: [],
    plainRoutes: [GAUGES],
    console: undefined,
    pageGapMs: 0,
    log: () => undefined,
  })
  return (headers: Record<string, string>, method: 'GET' | 'HEAD' | 'POST' = 'GET') =>
    inject((message, response) => app.emit('request', message, response), { method, url: GAUGES.path, headers })
}

test('ADM-10: plain routes need no credentials only while the administration listens on loopback', async (t) => {
  const stage = await openAdminServer(t)
  for (const host of ['localhost', '127.0.0.1', '::1']) {
    const answer = await openAsk(stage, host)({ host: 'localhost:3001' })
    assert.deepEqual([answer.statusCode, answer.body], [200, 'up 1\n'], host)
    assert.equal(answer.headers['content-type'], 'text/plain; version=0.0.4')
    assert.equal(answer.headers['cache-control'], 'no-store')
  }
  for (const host of ['0.0.0.0', '::', '10.0.0.5', 'admin.acme.test']) {
    assert.equal((await openAsk(stage, host)({ host: 'localhost:3001' })).statusCode, 401, host)
  }
})

test('ADM-10: a web page cannot read a plain route through its own host name that resolves to this machine', async (t) => {
  const ask = openAsk(await openAdminServer(t), 'localhost')
  for (const host of ['evil.example', 'evil.example:3001', '127.0.0.1.evil.example', 'localhost.evil.example', '@']) {
    assert.equal((await ask({ host })).statusCode, 401, host)
  }
})

test('ADM-10: a request through a proxy on this machine needs credentials at a plain route', async (t) => {
  const ask = openAsk(await openAdminServer(t), 'localhost')
  // As nginx sends it on when nothing is said: the Host header is the address of the upstream.
  const host = '127.0.0.1:3001'
  for (const header of ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']) {
    assert.equal((await ask({ host, [header]: '203.0.113.9' })).statusCode, 401, header)
  }
})

test('ADM-10: credentials that are sent are checked on loopback as well, so that a scraper with a wrong token is noticed', async (t) => {
  const stage = await openAdminServer(t)
  const ask = openAsk(stage, 'localhost')
  const { token, id } = await stage.issue('metrics')
  const host = '127.0.0.1:3001'
  const withToken = (sent: string) => ask({ ...bearer(sent).headers, host })
  assert.equal((await withToken(token)).statusCode, 200)
  for (const wrong of ['x', alterLast(token)]) assert.equal((await withToken(wrong)).statusCode, 401, wrong)
  for (const authorization of ['', 'Bearer', `Basic ${token}`])
    assert.equal((await ask({ authorization, host })).statusCode, 401, authorization)
  await stage.performByName('admin.revoke', { credential_id: id }, (await stage.issue('write')).token)
  assert.equal((await withToken(token)).statusCode, 401)
  assert.equal((await ask({ host })).statusCode, 200)
})

test('ADM-10: on other addresses a plain route needs credentials for the whole server or for the metrics', async (t) => {
  const stage = await openAdminServer(t)
  const ask = openAsk(stage, '0.0.0.0')
  const { token: read } = await stage.issue('read')
  assert.equal((await ask(bearer(read).headers)).statusCode, 200)
  assert.equal((await ask(bearer(read).headers, 'HEAD')).body, '')
  assert.equal((await ask(bearer(read).headers, 'POST')).statusCode, 405)
  const { token: metrics } = await stage.issue('metrics')
  assert.equal((await ask(bearer(metrics).headers)).statusCode, 200)
  assert.equal((await ask(bearer(metrics).headers, 'POST')).statusCode, 405)
  const openapi = { method: 'GET', url: OPENAPI_PATH } as const
  const refused = await stage.server.injectAdmin({ ...openapi, ...bearer(metrics) })
  assert.deepEqual([refused.statusCode, refused.json<{ error: string }>().error], [403, 'insufficient_scope'])
  assert.equal((await stage.server.injectAdmin({ ...openapi, ...bearer(read) })).statusCode, 200)
  const organizationId = await stage.makeOrganization()
  const input = { name: 'Prometheus', access: 'metrics', organization_id: organizationId }
  const created = await stage.performByName('admin.create', input, (await stage.issue('write')).token)
  assert.deepEqual([created.statusCode, /without an organization/.test(created.body)], [422, true])
  const { token: ofOne } = await stage.issue('write', organizationId)
  assert.equal((await ask(bearer(ofOne).headers)).statusCode, 403)
  for (const [holder, headers] of await gatherCredentials(stage)) {
    assert.equal((await ask(headers)).statusCode, 401, holder)
  }
})
