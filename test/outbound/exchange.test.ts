import assert from 'node:assert/strict'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'
import { gzipSync } from 'node:zlib'
import type { RequestListener, ServerResponse } from 'node:http'
import { test, type TestContext } from 'node:test'
import { exchange } from '../../src/outbound/exchange.ts'
import { OUTBOUND_LIMITS } from '../../src/outbound/outbound-client.ts'
import { openWebHost, sendJson } from '../support/hosts/web-host.ts'
import { briefly, getDocument, openClient, PATIENT } from './open-client.ts'

const SOON = {
  'client-document': { body: 5 * 1024, deadlineMs: 150 },
  'client-keys': { body: 65_536, deadlineMs: 150 },
  provider: { body: 65_536, deadlineMs: 150 },
  'logout-notice': { body: 0, deadlineMs: 150 },
}

test('the request has no cookies and no credentials, and says which server sends it', async (t) => {
  const host = await openWebHost(t, {}, sendJson({ a: 1 }, { etag: '"1"', 'cache-control': 'max-age=60' }))
  const outcome = await getDocument(openClient(), `http://localhost:${host.port}/client.json?x=1`)
  assert.deepEqual(outcome, { kind: 'fetched', text: '{"a":1}', etag: '"1"', freshSeconds: 60 })
  const [request] = host.requests
  assert.deepEqual([request?.method, request?.url], ['GET', '/client.json?x=1'])
  assert.deepEqual(request?.headers, {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'grantor/test (http://localhost:3000)',
    host: `localhost:${host.port}`,
    connection: 'close',
  })
})

test('RFC 9110 §13.1.2: a copy with an entity tag is renewed without being sent again', async (t) => {
  const host = await openWebHost(t, {}, (request, response) => {
    response.writeHead(request.headers['if-none-match'] === '"1"' ? 304 : 500, { 'cache-control': 'max-age=7' })
    response.end()
  })
  const url = `http://127.0.0.1:${host.port}/client.json`
  const asked = { purpose: 'client-document', url, isRenewal: true, network: '192.0.2.1' } as const
  const outcome = await openClient().get({ ...asked, etag: '"1"' })
  assert.deepEqual(outcome, { kind: 'not-modified', etag: '"1"', freshSeconds: 7 })
})

/** Opens a host that answers in this way, beside a canary to which it could redirect. Returns the outcome of a request. */
async function outcomeOf(t: TestContext, handle: RequestListener, limits = PATIENT): Promise<string> {
  const canary = await openWebHost(t, {}, sendJson({}))
  const host = await openWebHost(t, {}, (request, response) => {
    response.setHeader('location', `http://127.0.0.1:${canary.port}/`)
    handle(request, response)
  })
  const outcome = await getDocument(openClient({ limits }), `http://127.0.0.1:${host.port}/client.json`)
  assert.equal(canary.connections(), 0)
  return briefly(outcome)
}

const JSON_TYPE = { 'content-type': 'application/json' }

test('OUT-04: a redirect is not followed, to whatever place', async (t) => {
  for (const status of [300, 301, 302, 303, 307, 308])
    assert.equal(await outcomeOf(t, send(status, {}, '')), 'unacceptable redirect', String(status))
  assert.equal(await outcomeOf(t, send(304, {}, '')), 'unacceptable redirect', 'for a request without a condition')
})

test('OUT-05: no more than the limit is read, whether the length is declared or not', async (t) => {
  assert.equal(await outcomeOf(t, send(200, JSON_TYPE, 'x'.repeat(5120))), 'fetched')
  assert.equal(await outcomeOf(t, send(200, JSON_TYPE, 'x'.repeat(5121))), 'unacceptable too-large')
  const declared = { ...JSON_TYPE, 'content-length': '6000' }
  assert.equal(await outcomeOf(t, send(200, declared, 'x'.repeat(6000))), 'unacceptable too-large')
  const endless = steadily((response) => void response.write('x'.repeat(1024)))
  assert.equal(await outcomeOf(t, endless), 'unacceptable too-large')
})

test('OUT-06: an answer that is not complete in time is given up, wherever it is slow', async (t) => {
  const slow: Readonly<Record<string, RequestListener>> = {
    'no answer': () => undefined,
    'a body without end': steadily((response) => void response.write('x')),
    'interim responses without end': (_request, response) => keepDoing(response, () => response.writeProcessing()),
    'a header section without end': (_request, response) => {
      response.socket?.write('HTTP/1.1 200 OK\r\nx-slow: ')
      keepDoing(response, () => void response.socket?.write('x'))
    },
  }
  for (const [what, handle] of Object.entries(slow))
    assert.equal(await outcomeOf(t, handle, SOON), 'unreachable timeout', what)
})

test('OUT-07: a compressed answer is refused before it is decompressed', async (t) => {
  const bomb = gzipSync(Buffer.alloc(10_000_000))
  for (const coding of ['gzip', 'br', 'deflate', 'zstd']) {
    const outcome = await outcomeOf(t, send(200, { ...JSON_TYPE, 'content-encoding': coding }, bomb))
    assert.equal(outcome, 'unacceptable content-type', coding)
  }
})

test('OUT-08: headers of more than 16 KiB end the request', async (t) => {
  const outcome = await outcomeOf(t, send(200, { ...JSON_TYPE, 'x-bomb': 'x'.repeat(20_000) }, '{}'))
  assert.equal(outcome, 'unacceptable malformed HPE_HEADER_OVERFLOW')
})

test('an answer is accepted only as JSON by its type, in UTF-8', async (t) => {
  for (const type of [
    'application/json',
    'Application/JSON; charset=utf-8',
    'application/json ;profile="a;b"',
    'application/client-metadata+json',
  ])
    assert.equal(await outcomeOf(t, send(200, { 'content-type': type }, '{}')), 'fetched', type)
  for (const type of [
    '',
    'text/html',
    'text/plain',
    'application/json5',
    'text/html; a=application/json',
    'application/json, text/html',
  ])
    assert.equal(await outcomeOf(t, send(200, { 'content-type': type }, '{}')), 'unacceptable content-type', type)
  const latin1 = Buffer.from([0x22, 0xff, 0x22])
  assert.equal(await outcomeOf(t, send(200, JSON_TYPE, latin1)), 'unacceptable content-type')
})

test('a status says whether the document is withdrawn or the host cannot answer now', async (t) => {
  for (const status of [201, 204, 400, 401, 404, 410])
    assert.equal(await outcomeOf(t, send(status, JSON_TYPE, '')), `unacceptable status ${status}`)
  for (const status of [403, 408, 429, 500, 502, 503])
    assert.equal(await outcomeOf(t, send(status, JSON_TYPE, '')), `unreachable status ${status}`)
})

test('a body that is cut is not used', async (t) => {
  const cut: RequestListener = (_request, response) => {
    response.writeHead(200, { ...JSON_TYPE, 'content-length': '100' })
    response.write('{}', () => response.socket?.destroy())
  }
  assert.match(await outcomeOf(t, cut), /^unreachable connection-closed/)
})

function send(status: number, headers: Readonly<Record<string, string>>, body: string | Buffer): RequestListener {
  return (_request, response) => void response.writeHead(status, headers).end(body)
}

/** Sends the head of an answer, then more of it every few milliseconds. */
function steadily(more: (response: ServerResponse) => void): RequestListener {
  return (_request, response) => {
    response.writeHead(200, JSON_TYPE)
    keepDoing(response, () => more(response))
  }
}

function keepDoing(response: ServerResponse, more: () => void): void {
  const timer = setInterval(more, 5)
  response.on('close', () => clearInterval(timer))
}

/** A server that is not one of HTTP. */
async function openSocketServer(t: TestContext, greet: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => greet(socket.on('error', () => undefined)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  return (server.address() as AddressInfo).port
}

for (const [what, expected, greeting] of [
  ['a greeting of another protocol', 'unacceptable malformed HPE_INVALID_CONSTANT', '220 mail.example ESMTP\r\n'],
  [
    'a change of protocol',
    'unacceptable status 101',
    'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
  ],
  ['a connection that closes at once', 'unreachable connection-closed ECONNRESET', ''],
] as const) {
  test(`${what}: ${expected}`, async (t) => {
    const port = await openSocketServer(t, (socket) => socket.end(greeting))
    assert.equal(briefly(await getDocument(openClient(), `http://127.0.0.1:${port}/client.json`)), expected)
  })
}

for (const [what, then] of [
  ['is reset', (socket: Socket) => void setImmediate(() => socket.resetAndDestroy())],
  ['stays open', () => undefined],
] as const) {
  test(`OUT-05: a change of protocol whose connection ${what} neither ends the process nor keeps the connection`, async (t) => {
    const closed = Promise.withResolvers<void>()
    const port = await openSocketServer(t, (socket) => {
      socket.once('close', () => closed.resolve())
      socket.once('data', () => {
        socket.write('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nhello')
        then(socket)
      })
    })
    await getDocument(openClient(), `http://127.0.0.1:${port}/client.json`)
    await closed.promise
  })
}

test('a host on whose port nothing listens is unreachable', async (t) => {
  const port = await openSocketServer(t, () => undefined)
  const other = connect(port, '127.0.0.1')
  await once(other, 'connect')
  const free = (other.address() as AddressInfo).port
  other.destroy()
  await once(other, 'close')
  const outcome = await getDocument(openClient(), `http://localhost:${free}/client.json`)
  assert.equal(briefly(outcome), 'unreachable connection-failed ECONNREFUSED')
})

test('a host that listens only on the IPv6 loopback address is reached as localhost', async (t) => {
  const host = await openWebHost(t, { address: '::1' }, sendJson({}))
  assert.equal(briefly(await getDocument(openClient(), `http://localhost:${host.port}/client.json`)), 'fetched')
})

test('OUT-02: a peer whose address was not checked gets no request', async (t) => {
  const host = await openWebHost(t, {}, sendJson({}))
  const outcome = await exchange({
    method: 'GET',
    body: undefined,
    accepts: 'success',
    url: new URL(`http://app.test:${host.port}/client.json`),
    addresses: [{ address: '127.0.0.1', family: 4 }],
    isAllowed: (address) => address !== '127.0.0.1',
    headers: {},
    bodyLimit: OUTBOUND_LIMITS['client-document'].body,
    signal: new AbortController().signal,
  })
  assert.deepEqual([outcome, host.requests.length], [{ kind: 'unacceptable', reason: 'address' }, 0])
})
