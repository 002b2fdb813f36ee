import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { PATH, QUERY } from '../support/arbitrary-texts.ts'
import { sweep, SWEEP_START } from '../../src/server/background/sweep.ts'
import { ENDPOINTS } from '../../src/endpoints/index.ts'
import { createAdminCredential } from '../../src/admin/admin.ts'
import { FAMILIES } from '../../src/metrics/families.ts'
import { createAda } from '../support/accounts.ts'
import { obtainTokens, postForm, postJson, refresh, registerClient, requestToken } from '../../tools/flow.ts'
import { EXPLAINED_BY_LINE, openTestServer, STRICT, type TestServer } from '../support/server.ts'
import { countRows, scrape, seriesOf } from '../support/scraped.ts'

/** Refuses, issues, refreshes and replays, so that every metric has a value. Returns all secrets. */
async function runEverything(server: TestServer): Promise<readonly string[]> {
  await createAda(server)
  const client = await registerClient(server)
  const tokens = await obtainTokens(server, client)
  const first = tokens.refresh_token ?? ''
  const second = (await refresh(server, client, first)).json<{ refresh_token: string }>().refresh_token
  const third = (await refresh(server, client, second)).json<{ refresh_token: string }>().refresh_token
  assert.equal((await refresh(server, client, first)).statusCode, 400)
  await requestToken(server, client, { grant_type: 'client_credentials' })
  await postForm(server, '/v2/oauth/token', { grant_type: 'client_credentials', client_id: client.client_id })
  return [client.client_id, client.client_secret ?? '', tokens.access_token, first, second, third, 'ada@acme.test']
}

test('ADM-10: metrics are served by the administration and not by the public listener', async (t) => {
  const server = await openTestServer(t)
  await scrape(server)
  for (const url of [
    '/metrics',
    '//metrics',
    '/%6detrics',
    '/metrics/',
    '/v2/oauth/metrics',
    '/x/..;/metrics',
    '/debug',
  ])
    assert.equal((await server.inject({ method: 'GET', url })).statusCode, 404, url)
})

test('a scrape has requests and operations by outcome', async (t) => {
  const server = await openTestServer(t, { env: STRICT })
  await runEverything(server)
  await sweep(server.context, SWEEP_START)
  await countRows(server)
  const { value } = await scrape(server)
  const refused = { endpoint: 'token', outcome: 'request.refused' }
  assert.equal(value('grantor_requests_total', { endpoint: 'register', status: '201' }), 1)
  assert.equal(value('grantor_requests_total', { outcome: 'token.issued', reason: 'refresh_token', status: '200' }), 2)
  assert.equal(value('grantor_requests_total', { ...refused, reason: 'refresh_reused', status: '400' }), 1)
  assert.equal(value('grantor_requests_total', { ...refused, reason: 'client_secret_missing', status: '401' }), 1)
  assert.equal(value('grantor_request_seconds_count', { endpoint: 'token' }), 6)
  assert.equal(value('grantor_store_operations_total', { operation: 'registerClient', outcome: 'registered' }), 1)
  assert.equal(value('grantor_store_operations_total', { operation: 'redeemCode', outcome: 'redeemed' }), 1)
  assert.equal(value('grantor_store_operations_total', { operation: 'rotateRefreshToken', outcome: 'rotated' }), 2)
  assert.equal(value('grantor_store_operations_total', { operation: 'rotateRefreshToken', outcome: 'reused' }), 1)
  assert.equal(value('grantor_grants', { state: 'live' }), 0)
  assert.equal(value('grantor_grants', { state: 'over' }), 1)
  assert.equal(value('grantor_clients', { state: 'used' }), 1)
  assert.equal(value('grantor_signing_keys', { algorithm: 'ES256' }), 1)
  assert.equal(value('grantor_store_waiting'), 0)
  assert.equal(value('grantor_up'), 1)
  assert.ok(value('grantor_store_commit_seconds_count', { outcome: 'done' }) > 0)
  assert.equal(value('grantor_store_commit_seconds_count', { outcome: 'failed' }), 0)
})

test('the batch sizes add up to the number of operations', async (t) => {
  const server = await openTestServer(t, { env: STRICT })
  await runEverything(server)
  const { samples, value } = await scrape(server)
  const operations = samples.filter(({ name }) => name === 'grantor_store_operations_total')
  const total = operations.reduce((sum, sample) => sum + sample.value, 0)
  assert.ok(total > 10)
  assert.equal(value('grantor_store_batch_operations_sum'), total)
})

test('swept rows are counted by kind', async (t) => {
  const server = await openTestServer(t)
  await registerClient(server)
  server.clock.advance(25 * 60 * 60 * 1000)
  await sweep(server.context, SWEEP_START)
  const { value } = await scrape(server)
  assert.equal(value('grantor_swept_rows_total', { kind: 'clients' }), 1)
  assert.equal(value('grantor_swept_rows_total', { kind: 'grants' }), 0)
})

test('the age of the signing key and the age of the row counts are reported', async (t) => {
  const server = await openTestServer(t)
  await scrape(server)
  server.clock.advance(3_600_000)
  const age = (await scrape(server)).value('grantor_signing_key_age_seconds', { algorithm: 'ES256' })
  assert.ok(age >= 3600 && age < 3700, String(age))
})

test('NET-10: a scrape has no id, secret, token or name of a user or client', async (t) => {
  const server = await openTestServer(t, { env: STRICT })
  const secrets = await runEverything(server)
  const { text } = await scrape(server)
  for (const secret of secrets) assert.ok(!text.includes(secret), secret.slice(0, 8))
  assert.doesNotMatch(text, /g[a-z]{2}_[A-Za-z0-9_-]{8}/)
})

test('arbitrary requests add no series beyond those of the known refusals', async (t) => {
  const server = await openTestServer(t)
  const client = await registerClient(server)
  const text = fc.string({ maxLength: 40 })
  const paths = ENDPOINTS.map(({ path }) => path)
  const request = fc.record({
    method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'PROPFIND'),
    path: fc.oneof(fc.constantFrom(...paths), PATH),
    query: QUERY,
    body: fc.oneof(
      text,
      fc.json(),
      fc
        .record(
          { grant_type: text, client_id: text, code: text, refresh_token: text, scope: text },
          { requiredKeys: [] },
        )
        .map((form) => new URLSearchParams(form as Record<string, string>).toString()),
    ),
    type: fc.constantFrom('application/json', 'application/x-www-form-urlencoded', 'text/plain'),
  })
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path, query, body, type }) => {
      await server.inject({
        method,
        url: `${path === '' ? '/' : path}?${query}`,
        headers: { 'content-type': type, 'x-fuzz': 'x', authorization: `Bearer ${client.client_id}` },
        payload: body,
      })
    }),
    { numRuns: 200, seed: 1 },
  )
  const { samples } = await scrape(server)
  const requests = samples.filter(({ name }) => name === 'grantor_requests_total')
  const names = new Set([...ENDPOINTS.map(({ name }) => name), 'none', 'admin'])
  for (const { labels } of requests) {
    assert.ok(names.has(labels['endpoint'] ?? ''), JSON.stringify(labels))
    assert.match(labels['outcome'] ?? '', /^[a-z-]+\.[a-z-]+$/)
    assert.match(labels['reason'] ?? '', /^[a-z_]*$/)
    assert.match(labels['status'] ?? '', /^[2345]\d\d$/)
    assert.ok(labels['reason'] === '' || isKnownReason(labels['reason'] ?? ''), JSON.stringify(labels))
  }
})

test('requests with other values add no series', async (t) => {
  const server = await openTestServer(t)
  const client = await registerClient(server)
  const everything = async (salt: string): Promise<void> => {
    await server.inject({ method: 'GET', url: `/${salt}?${salt}=1` })
    await postForm(server, '/v2/oauth/token', { grant_type: salt, client_id: salt })
    await postForm(server, '/v2/oauth/token', {
      grant_type: 'client_credentials',
      client_id: salt,
      client_secret: salt,
    })
    await requestToken(server, client, { grant_type: 'refresh_token', refresh_token: salt })
    await postJson(server, '/v2/oauth/register', { redirect_uris: [`https://${salt}.example/`], client_name: salt })
    await server.inject({ method: 'OPTIONS', url: '/v2/oauth/token', headers: { origin: `https://${salt}.example` } })
  }
  await everything('first')
  await scrape(server)
  const before = seriesOf(await scrape(server))
  for (let round = 0; round < 20; round += 1) await everything(`salt${round}`)
  assert.deepEqual(seriesOf(await scrape(server)), before)
})

test('connections, and bytes that are not HTTP, are counted', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const socket = connect(Number(new URL(server.origin).port), '127.0.0.1')
  await once(socket, 'connect')
  const read = (): Promise<string> => fetch(`${server.adminOrigin}/metrics`).then((answer) => answer.text())
  assert.match(await read(), /^grantor_connections 1$/m)
  socket.write('this is no request\r\n\r\n')
  await once(socket.resume(), 'close')
  // The server's side of the connection may close slightly later.
  let text = await read()
  while (!/^grantor_connections 0$/m.test(text)) text = await read()
  assert.match(text, /^grantor_broken_requests_total 1$/m)
})

test('every metric of the table is in the first scrape and in docs/monitoring.md', async (t) => {
  const server = await openTestServer(t)
  await registerClient(server)
  const input = { name: 'Prometheus', access: 'read', organizationId: undefined, days: 30 } as const
  await createAdminCredential(server.context, input)
  await server.context.store.replaceSetting({ name: 'last-backup', value: String(server.clock.now()) })
  await countRows(server)
  const { families } = await scrape(server)
  assert.deepEqual([...families.keys()], Object.keys(FAMILIES))
  const rows = [...readFileSync('docs/monitoring.md', 'utf8').matchAll(/^- `([a-z0-9_]+)` \((\w+)([^)]*)\)(?=:|$)/gm)]
  const documented = rows.map(([, name, type, labels = '']) => ({
    name,
    type,
    labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label),
  }))
  const byName = (one: { name?: string | undefined }, other: { name?: string | undefined }): number =>
    (one.name ?? '') < (other.name ?? '') ? -1 : 1
  assert.deepEqual(
    documented.toSorted(byName),
    Object.entries(FAMILIES)
      .map(([name, { type, labels }]) => ({ name, type, labels: [...labels] as (string | undefined)[] }))
      .toSorted(byName),
  )
})

/** A reason of docs/reasons.md or of a page, or a detail of an event. */
function isKnownReason(reason: string): boolean {
  return EXPLAINED_BY_LINE.has(reason) || new RegExp(`\`${reason}\``).test(readFileSync('docs/reasons.md', 'utf8'))
}
