import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { readConfig } from '../../src/config/config.ts'
import { createAda } from '../support/accounts.ts'
import {
  EMAIL,
  obtainTokens,
  PASSWORD,
  refresh,
  REDIRECT_URI,
  registerClient,
  requestToken,
  VERIFIER,
} from '../../tools/flow.ts'
import { freePort } from '../../tools/process/free-ports.ts'
import { openTestServer, temporaryFolder } from '../support/server.ts'
import { openCollector, type Collector } from './collector.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'
const SERVER = 2

function collectedBy({ url }: Pick<Collector, 'url'>, more: Readonly<Record<string, string>> = {}) {
  return { env: { OTEL_EXPORTER_OTLP_ENDPOINT: url, ...more } }
}

test('each request is a span with its route, its status and its reason, and belongs to its caller’s trace', async (t) => {
  const collector = await openCollector(t)
  const server = await openTestServer(t, collectedBy(collector))
  await server.inject({
    method: 'POST',
    url: '/v2/oauth/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded', traceparent: `00-${TRACE}-${PARENT}-01` },
    payload: 'grant_type=client_credentials&client_id=made-up&client_secret=made-up',
  })
  for (const probe of ['alive', 'ready']) await server.inject({ url: `/health/${probe}` })
  await server.close()
  assert.ok(collector.spans.every(({ name }) => !name.includes('/health/')))
  const span = collector.spans.find(({ name }) => name === 'POST /v2/oauth/token')
  assert.equal(span?.traceId, TRACE)
  assert.equal(span.parentId, PARENT)
  assert.equal(span.kind, SERVER)
  assert.equal(span.status, 0)
  assert.ok(span.nanoseconds > 0n)
  const { 'grantor.request_id': requestId, ...attributes } = span.attributes
  assert.ok(server.log().includes(`"request_id":"${String(requestId)}"`))
  assert.deepEqual(attributes, {
    'http.request.method': 'POST',
    'http.route': '/v2/oauth/token',
    'http.response.status_code': 401,
    'grantor.endpoint': 'token',
    'grantor.outcome': 'request.refused',
    'grantor.reason': 'client_unknown',
  })
  assert.equal(collector.requests[0]?.path, '/v1/traces')
  assert.equal(collector.requests[0]?.headers['content-type'], 'application/x-protobuf')
})

test('an operation of the store is a child span of its request, and its batch links to it', async (t) => {
  const collector = await openCollector(t)
  const server = await openTestServer(t, collectedBy(collector))
  await registerClient(server)
  await server.close()
  const named = (name: string) => collector.spans.find((span) => span.name === name)
  const [request, operation] = [named('POST /v2/oauth/register'), named('store registerClient')]
  assert.ok(request !== undefined && operation !== undefined)
  assert.equal(operation.parentId, request.spanId)
  assert.equal(operation.traceId, request.traceId)
  assert.ok(operation.nanoseconds <= request.nanoseconds)
  const commit = collector.spans.find(({ name, links }) => name === 'store commit' && links.includes(operation.spanId))
  assert.equal(commit?.parentId, '')
  assert.equal(commit.attributes['grantor.batch.operations'], 1)
})

test('concurrent requests have separate traces', async (t) => {
  const collector = await openCollector(t)
  const server = await openTestServer(t, collectedBy(collector))
  await Promise.all(Array.from({ length: 20 }, () => registerClient(server)))
  await server.close()
  const requests = collector.spans.filter(({ name }) => name === 'POST /v2/oauth/register')
  assert.equal(requests.length, 20)
  assert.equal(new Set(requests.map(({ traceId }) => traceId)).size, 20)
  for (const { spanId } of requests) {
    const below = collector.spans.filter(({ parentId }) => parentId === spanId)
    assert.deepEqual(
      below.map(({ name }) => name),
      ['store registerClient'],
    )
  }
})

test('a malformed traceparent is ignored, and a new trace begins', async (t) => {
  const collector = await openCollector(t)
  const server = await openTestServer(t, collectedBy(collector))
  const malformed = [
    'nonsense',
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `ff-${TRACE}-${PARENT}-01`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}`,
    '0'.repeat(10_000),
  ]
  for (const traceparent of malformed) {
    await server.inject({ method: 'GET', url: '/version', headers: { traceparent } })
  }
  await server.close()
  const spans = collector.spans.filter(({ name }) => name === 'GET /version')
  assert.equal(spans.length, malformed.length)
  for (const { traceId, parentId } of spans) {
    assert.equal(parentId, '')
    assert.notEqual(traceId, TRACE)
  }
})

test('NET-10: a trace has no parameter, token, secret, address or header of a caller', async (t) => {
  const collector = await openCollector(t)
  const server = await openTestServer(t, collectedBy(collector))
  await createAda(server)
  const client = await registerClient(server, { client_name: 'marked-client-name' })
  const tokens = await obtainTokens(server, client)
  await refresh(server, client, tokens.refresh_token ?? '')
  await requestToken(server, client, { grant_type: 'client_credentials', scope: 'marked-scope' })
  await server.inject({
    method: 'GET',
    url: '/marked-path?marked-query=1',
    headers: { 'user-agent': 'marked-agent', tracestate: 'marked=state', baggage: 'marked=baggage' },
  })
  await server.inject({ method: 'PROPFIND', url: '/v2/oauth/token' })
  await server.close()
  const { access_token: access, refresh_token: second = '' } = tokens
  const { client_id: id, client_secret: secret = '' } = client
  assert.ok(collector.spans.length > 10)
  assert.ok(collector.spans.some(({ name }) => name === '_OTHER'))
  for (const text of [
    id,
    secret,
    access,
    second,
    EMAIL,
    PASSWORD,
    VERIFIER,
    REDIRECT_URI,
    'marked',
    'PROPFIND',
    '127.0.0.1',
  ])
    assert.ok(!collector.text().includes(text), text.slice(0, 20))
})

test('a failure of the server is an error of the span, with its reason', async (t) => {
  const collector = await openCollector(t)
  const server = await openTestServer(t, collectedBy(collector))
  const client = await registerClient(server)
  const database = new DatabaseSync(join(server.folder, 'grantor.db'))
  database.exec('drop table clients')
  database.close()
  const form = { grant_type: 'client_credentials' }
  assert.equal((await requestToken(server, client, form)).statusCode, 500)
  await server.close()
  const span = collector.spans.find(({ name }) => name === 'POST /v2/oauth/token')
  assert.equal(span?.status, 2)
  assert.equal(span.attributes['error.type'], 'bug')
})

test('the operator configures the service name, the headers and the ratio of traces', async (t) => {
  const collector = await openCollector(t)
  const headers = { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20c2VjcmV0, x-tenant=acme' }
  const whole = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/otlp/v1/traces` }
  const more = { ...headers, ...whole, OTEL_SERVICE_NAME: 'sign-in' }
  const server = await openTestServer(t, collectedBy({ url: 'http://127.0.0.1:9' }, more))
  await server.inject({ method: 'GET', url: '/version' })
  await server.close()
  const [request] = collector.requests
  assert.equal(request?.path, '/otlp/v1/traces')
  assert.equal(request.headers['authorization'], 'Basic c2VjcmV0')
  assert.equal(request.headers['x-tenant'], 'acme')
  assert.equal(collector.resource['service.name'], 'sign-in')

  const none = await openCollector(t)
  const quiet = await openTestServer(t, collectedBy(none, { GRANTOR_TRACE_RATIO: '0' }))
  const traceparent = `00-${TRACE}-${PARENT}-01`
  await quiet.inject({ method: 'GET', url: '/version', headers: { traceparent } })
  await quiet.close()
  assert.deepEqual(none.spans, [], 'a caller’s request for a trace does not count')
})

test('mistakes in the trace settings are reported without the values of headers', () => {
  const environment = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'ftp://collector',
    OTEL_EXPORTER_OTLP_HEADERS: 'a-secret-without-a-name',
    GRANTOR_TRACE_RATIO: '2',
  }
  assert.throws(
    () => readConfig(environment),
    ({ mistakes, message }: { mistakes: readonly string[]; message: string }) =>
      mistakes.length === 4 && !message.includes('a-secret'),
  )
  for (const value of ['a=%C3', 'a=%0d', 'a=b\r\nx: c', '=b', 'a=%'])
    assert.throws(() => readConfig({ OTEL_EXPORTER_OTLP_HEADERS: value }), /name=value pairs/, value)
})

for (const [what, open] of [
  ['is not there', async () => `http://127.0.0.1:${await freePort()}`],
  ['refuses', async (t: TestContext) => (await openCollector(t, 400)).url],
] as const) {
  test(`a collector that ${what} does not affect requests, and is reported once`, async (t) => {
    const reported = Promise.withResolvers<void>()
    const server = await openTestServer(t, {
      ...collectedBy({ url: await open(t) }),
      onLog(line) {
        if (line.includes('"traces.export-failed"')) reported.resolve()
      },
    })
    const askMany = async (): Promise<void> => {
      const asking = Array.from({ length: 600 }, () => server.inject({ method: 'GET', url: '/version' }))
      for (const { statusCode } of await Promise.all(asking)) assert.equal(statusCode, 200)
    }
    // As many as are sent without waiting for more; then as many as are kept at most.
    await askMany()
    await reported.promise
    for (let round = 0; round < 4; round += 1) await askMany()
    const before = performance.now()
    await server.close()
    assert.ok(performance.now() - before < 2000, 'the end does not wait for the collector')
    assert.equal(server.log().split('"traces.export-failed"').length, 2)
  })
}

test('OpenTelemetry is loaded only for a collector', async (t) => {
  const program = `
    import { registerHooks } from 'node:module'
    const packages = new Set()
    registerHooks({
      resolve(specifier, context, next) {
        const found = next(specifier, context)
        if (found.url.includes('opentelemetry')) packages.add(specifier)
        return found
      },
    })
    const { openServer } = await import('./src/server/server.ts')
    const { readConfig } = await import('./src/config/config.ts')
    const server = await openServer(readConfig())
    await server.close()
    console.log(packages.size)`
  const { PATH = '' } = process.env
  const loaded = (more: Readonly<Record<string, string>>): number => {
    const DATABASE_URL = `sqlite:${join(temporaryFolder(t), 'grantor.db')}`
    const env = { PATH, DATABASE_URL, LOG_LEVEL: 'silent', ...more }
    return Number(execFileSync(process.execPath, ['--input-type=module', '-e', program], { env }))
  }
  assert.equal(loaded({}), 0)
  assert.ok(loaded({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }) > 0)
})

test('a collector without the packages of OpenTelemetry stops the start, and the message says what to install', (t) => {
  const program = `
    import { registerHooks } from 'node:module'
    registerHooks({
      resolve(specifier, context, next) {
        return next(specifier.startsWith('@opentelemetry/') ? '@opentelemetry/absent' : specifier, context)
      },
    })
    const { runCommandLine } = await import('./src/cli/program.ts')
    const { openTerminal } = await import('./src/cli/lib/terminal.ts')
    process.exit(await runCommandLine(['serve'], openTerminal(process, {}, 'grantor')))`
  const { PATH = '' } = process.env
  const DATABASE_URL = `sqlite:${join(temporaryFolder(t), 'grantor.db')}`
  const start = (more: Readonly<Record<string, string>>) =>
    spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      env: { PATH, DATABASE_URL, ...more },
      encoding: 'utf8',
    })
  const { status, stderr } = start({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' })
  assert.equal(status, 1)
  assert.match(
    stderr,
    /^grantor: A collector of traces is configured, .* npm install @opentelemetry\/api@\d+\.\d+\.\d+ /,
  )
  assert.match(stderr, / @opentelemetry\/sdk-trace@\d/)
})
