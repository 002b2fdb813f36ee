import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { openTestServer } from '../support/server.ts'
import { ask, exchange, format, openSocket, parseAnswers, portOf } from '../support/hosts/raw-socket.ts'
import { dumpStore } from '../support/store/dump.ts'

const REGISTER = '/v2/oauth/register'
const TOKEN = '/v2/oauth/token'
const JSON_TYPE = 'Content-Type: application/json'
const FORM_TYPE = 'Content-Type: application/x-www-form-urlencoded'

test('NET-03: callers that send or read slowly do not delay other callers', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const slow = Array.from({ length: 60 }, () => openSocket(t, server))
  await Promise.all(slow.map((socket) => once(socket, 'connect')))
  const starts = [
    '',
    `POST ${REGISTER} HTTP/1.1\r\nHost: x\r\n`,
    `POST ${REGISTER} HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}\r\nContent-Length: 1000\r\n\r\n{"client_name":`,
    `POST ${TOKEN} HTTP/1.1\r\nHost: x\r\n${FORM_TYPE}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\ngrant\r\n`,
  ]
  for (const [index, socket] of slow.entries()) {
    socket.write(starts[index % starts.length] ?? '')
    // Some callers send many requests and never read the answers.
    if (index % 6 === 0)
      socket.pause().write(format({ target: REGISTER, headers: [JSON_TYPE], body: '{}', keepAlive: true }).repeat(50))
  }
  const startedAt = performance.now()
  for (let round = 0; round < 20; round += 1)
    assert.equal((await ask(server, { target: REGISTER, headers: [JSON_TYPE], body: '{}' })).status, 201)
  assert.ok(performance.now() - startedAt < 10_000)
  for (const socket of slow) socket.destroy()
})

test('NET-03: callers that send slowly delay a stop for seconds, not minutes', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const half = format({ target: REGISTER, headers: [JSON_TYPE], body: '{"client_name":"A"}' }).slice(0, -4)
  const sockets = ['', half.slice(0, 20), half].map((text) => {
    const socket = openSocket(t, server)
    if (text !== '') socket.write(text)
    return socket
  })
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  assert.equal((await ask(server, { target: REGISTER, headers: [JSON_TYPE], body: '{}' })).status, 201)
  const startedAt = performance.now()
  await server.close()
  assert.ok(performance.now() - startedAt < 10_000)
})

test('NET-03: the time for a request is limited', async (t) => {
  const server = await openTestServer(t)
  const { requestTimeout, headersTimeout, keepAliveTimeout, timeout } = server.http
  for (const [name, milliseconds] of Object.entries({ requestTimeout, headersTimeout, keepAliveTimeout, timeout }))
    assert.ok(milliseconds > 0 && milliseconds <= 65_000, `${name}: ${milliseconds}`)
  for (const http of [server.http, server.admin])
    assert.equal((http as { connectionsCheckingInterval?: number } | undefined)?.connectionsCheckingInterval, 5000)
})

test('a request that is in progress when the server stops is answered, and its connection is closed', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const request = format({ target: REGISTER, headers: [JSON_TYPE], body: '{}', keepAlive: true })
  const socket = openSocket(t, server)
  socket.write(request.slice(0, 40))
  // An answer on another connection shows that the server has read the first bytes.
  assert.equal((await ask(server, { target: REGISTER, headers: [JSON_TYPE], body: '{}' })).status, 201)
  const closing = server.close()
  const received: Buffer[] = []
  socket.on('data', (chunk: Buffer) => received.push(chunk))
  socket.write(request.slice(40))
  await once(socket, 'close')
  await closing
  const [answer] = parseAnswers(Buffer.concat(received).toString())
  assert.equal(answer?.status, 201)
  assert.equal(answer.headers['connection'], 'close')
})

test('NET-04: too many headers, and headers that are too long, answer 431 as an OAuth error', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const before = dumpStore(server)
  for (const headers of [
    Array.from({ length: 101 }, (_, index) => `X-${index}: 1`),
    Array.from({ length: 2000 }, (_, index) => `X-${index}: 1`),
    [`X: ${'x'.repeat(17_000)}`],
    [`Cookie: ${'a=1; '.repeat(5000)}`],
    [`${'X'.repeat(17_000)}: 1`],
  ]) {
    const answer = await ask(server, { target: REGISTER, headers: [JSON_TYPE, ...headers], body: '{}' })
    assert.equal(answer.status, 431)
    assert.equal(JSON.parse(answer.body).error, 'invalid_request')
    assert.equal(typeof JSON.parse(answer.body).error_description, 'string')
    assert.match(answer.headers['content-type'] ?? '', /^application\/json/)
    assert.equal(answer.headers['cache-control'], 'no-store')
  }
  assert.deepEqual(dumpStore(server), before)
  const fit = Array.from({ length: 90 }, (_, index) => `X-${index}: 1`)
  assert.equal((await ask(server, { target: REGISTER, headers: [JSON_TYPE, ...fit], body: '{}' })).status, 201)
})

test('RFC 9112 §9.6: a caller that is still sending headers gets the answer, not a reset connection', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const socket = openSocket(t, server).pause()
  const closed = once(socket, 'close')
  for (const part of [`GET ${TOKEN} HTTP/1.1\r\nX: ${'x'.repeat(17_000)}`, 'x'.repeat(20_000), 'x'.repeat(20_000)]) {
    socket.write(part)
    // An answer on another connection shows that the server has read what was sent.
    assert.equal((await ask(server, { target: REGISTER, headers: [JSON_TYPE], body: '{}' })).status, 201)
  }
  const received: Buffer[] = []
  socket.on('data', (chunk: Buffer) => received.push(chunk)).resume()
  await closed
  assert.equal(parseAnswers(Buffer.concat(received).toString())[0]?.status, 431)
})

test('NET-04: an address that is too long is refused', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const { status } = await ask(server, { target: `${TOKEN}?${'x'.repeat(20_000)}` })
  assert.ok([414, 431].includes(status), String(status))
})

test('NET-02: bytes that are not HTTP answer 400 as an OAuth error, close the connection, and have no effect', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const before = dumpStore(server)
  const line = `POST ${REGISTER} HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}\r\n`
  for (const request of [
    'garbage\r\n\r\n',
    `FOO ${REGISTER} HTTP/1.1\r\nHost: x\r\n\r\n`,
    `POST ${REGISTER} HTTP/9.9\r\nHost: x\r\n\r\n`,
    `POST ${REGISTER} HTTP/1.1\r\n${JSON_TYPE}\r\nContent-Length: 2\r\n\r\n{}`,
    `${line}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `${line}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
    `${line}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
    `${line}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
    `${line}Content-Length: +2\r\n\r\n{}`,
    `${line}Content-Length: 2\r\nX: a\r b\r\n\r\n{}`,
    `${line}X: a\u0000\r\nContent-Length: 2\r\n\r\n{}`,
    `${line}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
  ]) {
    const [answer, ...more] = parseAnswers(await exchange(server, request))
    assert.equal(answer?.status, 400, JSON.stringify(request))
    assert.deepEqual(more, [], JSON.stringify(request))
  }
  assert.deepEqual(dumpStore(server), before)
})

test('NET-02: two Host headers are refused', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const answer = await ask(server, { target: REGISTER, headers: ['Host: other', JSON_TYPE], body: '{}' })
  assert.equal(answer.status, 400)
})

test('NET-06: another spelling of a path is unknown, or reaches the same endpoint', async (t) => {
  const server = await openTestServer(t, { listen: true, env: { GRANTOR_CLIENT_FAILURE_RATE: '2' } })
  const body = 'grant_type=client_credentials&client_id=x&client_secret=x'
  const post = async (target: string) => (await ask(server, { target, headers: [FORM_TYPE], body })).status
  const unknown = [
    `${TOKEN}/`,
    TOKEN.toUpperCase(),
    '/v2/oauth/Token',
    `/${TOKEN}`,
    '/v2//oauth/token',
    `${TOKEN};x`,
    `${TOKEN}%00`,
    `${TOKEN}%20`,
    `${TOKEN}%2f`,
    '/v2/oauth%2ftoken',
    '/v2/oauth/./token',
    '/v2/x/../oauth/token',
    '/v2/oauth/%2e/token',
    `${TOKEN}.json`,
    `${TOKEN}\\`,
  ]
  for (const target of unknown) assert.equal(await post(target), 404, target)
  for (const target of [`${TOKEN}%`, `${TOKEN}%zz`, '/%ff']) assert.equal(await post(target), 400, target)
  // The same endpoint counts failures in the same place.
  assert.deepEqual(
    [await post('/v2/oauth/%74oken'), await post(`http://other.test${TOKEN}`), await post(TOKEN)],
    [401, 401, 429],
  )
})

test('NET-07: TRACE and CONNECT are refused, and nothing of the request is echoed', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const secret = 'Authorization: Basic bWFya2VkLXNlY3JldA=='
  const trace = await ask(server, { method: 'TRACE', target: TOKEN, headers: [secret] })
  assert.equal(trace.status, 405)
  assert.doesNotMatch(JSON.stringify(trace), /bWFya2Vk/)
  for (const target of ['localhost:1', `127.0.0.1:${portOf(server)}`])
    assert.doesNotMatch(
      await exchange(server, `CONNECT ${target} HTTP/1.1\r\nHost: x\r\n${secret}\r\n\r\n`),
      / 200 |bWFya2Vk/,
    )
})

test('NET-09: many pipelined requests on many connections each get their own answer', async (t) => {
  const server = await openTestServer(t, { listen: true, env: { GRANTOR_CLIENT_FAILURE_RATE: '1000000' } })
  const ids = new Set<string>()
  const connections = Array.from({ length: 20 }, async (_, connection) => {
    const markers = Array.from({ length: 24 }, (__, index) => `m-${connection}-${index}-`)
    const requests = markers.map((marker, index) => {
      const keepAlive = index < markers.length - 1
      if (index % 4 === 3)
        return format({ target: TOKEN, headers: [FORM_TYPE], body: `grant_type=${marker}`, keepAlive })
      const uris = index % 4 === 2 ? [`data:${marker}`] : []
      const body = JSON.stringify({ client_name: marker, redirect_uris: uris })
      return format({ target: REGISTER, headers: [JSON_TYPE], body, keepAlive })
    })
    const answers = parseAnswers(await exchange(server, requests.join('')))
    assert.equal(answers.length, markers.length)
    for (const [index, { status, body }] of answers.entries()) {
      assert.equal(status, [201, 201, 400, 422][index % 4], body)
      assert.deepEqual(body.match(/m-\d+-\d+-/g), [markers[index]], body)
      const id = (JSON.parse(body) as { client_id?: string }).client_id
      if (id !== undefined) ids.add(id)
    }
  })
  await Promise.all(connections)
  assert.equal(ids.size, 20 * 12)
})

test('NET-09: a request whose connection is cut in the middle of its body has no effect, and other callers are answered', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const before = dumpStore(server)
  const half = format({ target: REGISTER, headers: [JSON_TYPE], body: '{"client_name":"A"}' }).slice(0, -4)
  for (let round = 0; round < 10; round += 1) {
    const socket = openSocket(t, server)
    await once(socket, 'connect')
    await new Promise<void>((resolve) => socket.write(half, () => resolve()))
    socket.destroy()
  }
  assert.equal((await ask(server, { target: TOKEN, headers: [FORM_TYPE] })).status, 422)
  assert.deepEqual(dumpStore(server), before)
  assert.doesNotMatch(server.log(), /"level":50/)
})
