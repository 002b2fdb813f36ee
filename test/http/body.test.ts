import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { readBody } from '../../src/http/body.ts'
import { ENDPOINTS } from '../../src/endpoints/index.ts'
import { connectionLimits } from '../../src/http/connection-limits.ts'
import { openConnections } from '../../src/http/connections.ts'
import { openProxies } from '../../src/http/proxies.ts'
import { registerClient } from '../../tools/flow.ts'
import { adminServerOf, bearer } from '../support/admin-server.ts'
import { openTestServer } from '../support/server.ts'
import { assertError } from '../support/error-answer.ts'
import { ask, exchange, openSocket, parseAnswers } from '../support/hosts/raw-socket.ts'

const REGISTER = '/v2/oauth/register'
const LIMIT = 16 * 1024
const HEAD = `POST ${REGISTER} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`

/** A registration of exactly that many bytes. */
function registrationOf(bytes: number): string {
  const [before, after] = ['{"client_name":"A","unknown":"', '"}']
  return before + 'x'.repeat(bytes - before.length - after.length) + after
}

function chunked(body: string, size: number): string {
  const chunks = body.match(new RegExp(`.{1,${size}}`, 'gs')) ?? []
  return `Transfer-Encoding: chunked\r\n\r\n${chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')}0\r\n\r\n`
}

test('a body of exactly the limit is read, and one more byte answers 413, with Content-Length or in chunks', async (t) => {
  const server = await openTestServer(t, { listen: true })
  for (const [bytes, expected] of [
    [LIMIT, 201],
    [LIMIT + 1, 413],
    [LIMIT * 20, 413],
  ] as const) {
    const body = registrationOf(bytes)
    const announced = await exchange(server, `${HEAD}Connection: close\r\nContent-Length: ${bytes}\r\n\r\n${body}`)
    const inChunks = await exchange(server, `${HEAD}Connection: close\r\n${chunked(body, 1000)}`)
    for (const text of [announced, inChunks]) {
      const [answer, ...more] = parseAnswers(text)
      assert.equal(answer?.status, expected, String(bytes))
      assert.deepEqual(more, [])
      if (expected === 413) assert.equal(JSON.parse(answer.body).error, 'invalid_client_metadata')
    }
  }
})

test('after a body that was too large the connection serves the next request', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const large = `${HEAD}Content-Length: ${LIMIT * 4}\r\n\r\n${registrationOf(LIMIT * 4)}`
  const small = `${HEAD}Connection: close\r\nContent-Length: 2\r\n\r\n{}`
  const statuses = parseAnswers(await exchange(server, large + small)).map(({ status }) => status)
  assert.deepEqual(statuses, [413, 201])
})

test('every endpoint with a body accepts its media type with parameters, as Apache HttpClient sends them', async (t) => {
  const server = await openTestServer(t)
  const client = await registerClient(server)
  const credentials = new URLSearchParams({ client_id: client.client_id, client_secret: client.client_secret ?? '' })
  const post = (path: string, type: string, payload: string | Buffer) =>
    server.inject({ method: 'POST', url: path, headers: { 'content-type': type }, payload })
  for (const { method, path, accepts, name } of ENDPOINTS) {
    if (method !== 'POST' || accepts === undefined) continue
    const payload = accepts === 'application/json' ? '{}' : credentials.toString()
    const plain = await post(path, accepts, payload)
    const apache = await post(path, `${accepts}; charset=ISO-8859-1`, payload)
    assert.equal(apache.statusCode, plain.statusCode, name)
    // A feature that is off has no path.
    if (plain.statusCode !== 404)
      assert.equal((await post(path, `text/plain; ${accepts}`, payload)).statusCode, 415, name)
  }
  const form = `grant_type=client_credentials&${credentials}`
  const type = 'application/x-www-form-urlencoded; charset=ISO-8859-1'
  assert.equal((await post('/v2/oauth/token', type, form)).statusCode, 200)
})

test('REG-25: bytes outside ASCII are refused where the Content-Type has a charset that would read them differently', async (t) => {
  const server = await openTestServer(t)
  const admin = await adminServerOf(server).issue('write')
  const send = (url: string, type: string, text: string) => {
    const options = { method: 'POST', url, headers: { 'content-type': type, ...bearer(admin.token).headers } } as const
    const payload = Buffer.from(text)
    return url.startsWith('/admin')
      ? server.injectAdmin({ ...options, payload })
      : server.inject({ ...options, payload })
  }
  const form = 'application/x-www-form-urlencoded'
  const json = 'application/json'
  const cases: readonly (readonly [path: string, type: string, body: string, refused: string])[] = [
    ['/v2/oauth/token', form, 'grant_type=ä', 'form_invalid'],
    [REGISTER, json, '{"client_name":"Grüße"}', 'json_invalid'],
    ['/admin/v1/organizations', json, '{"name":"Grüße"}', 'json_invalid'],
  ]
  for (const [path, type, body, refused] of cases) {
    for (const charset of ['', '; charset="UTF-8"', '; charset=utf8']) {
      assert.doesNotMatch((await send(path, `${type}${charset}`, body)).body, new RegExp(refused), path)
    }
    for (const charset of ['iso-8859-1', 'us-ascii', 'windows-1252'])
      assert.match((await send(path, `${type}; charset=${charset}`, body)).body, new RegExp(refused), path)
  }
})

test('a body that arrives byte by byte is read as one body', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const socket = openSocket(t, server)
  const received: Buffer[] = []
  socket.on('data', (piece: Buffer) => received.push(piece)).setNoDelay(true)
  const body = '{"client_name":"Grüße"}'
  const bytes = Buffer.from(`${HEAD}Connection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  for (const byte of bytes) {
    await new Promise<void>((resolve) => socket.write(Buffer.of(byte), () => resolve()))
  }
  await once(socket, 'close')
  const [answer] = parseAnswers(Buffer.concat(received).toString())
  assert.equal(answer?.status, 201)
  assert.match(answer.body, /Grüße|Gr\\u00fc/)
})

test('a body is whole, however much of it has arrived before it is read', async (t) => {
  const { Message } = openConnections(
    openProxies([], () => undefined),
    connectionLimits('public'),
  )
  const http = createServer({ IncomingMessage: Message }, async (message, response) => {
    if (message.url === '/later') while (message.readableLength < 3) await setImmediate()
    if (message.url === '/complete') while (!message.complete) await setImmediate()
    response.end(await readBody(message, () => assert.fail('The body is small.')))
  })
  t.after(() => http.close())
  await once(http.listen(0, '127.0.0.1'), 'listening')
  const server = { origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}` }
  for (const path of ['/', '/later', '/complete']) {
    const socket = openSocket(t, server)
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 6\r\n\r\nabc`)
    if (path === '/') await once(http, 'request')
    socket.write('def')
    const received: Buffer[] = []
    for await (const piece of socket) received.push(piece as Buffer)
    assert.equal(parseAnswers(Buffer.concat(received).toString())[0]?.body, 'abcdef', path)
  }
})

test('NET-18: a body of many small chunks is read as one body', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const body = registrationOf(2000)
  const [answer] = parseAnswers(await exchange(server, `${HEAD}Connection: close\r\n${chunked(body, 4)}`))
  assert.equal(answer?.status, 201)
})

test('RFC 9112 §6.3: a POST without a length has no body, and is answered', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const [answer] = parseAnswers(await exchange(server, `${HEAD}Connection: close\r\n\r\n`))
  assert.equal(answer?.status, 422)
})

test('RFC 9110 §15.5.16: a compressed body answers 415, which names the accepted encoding', async (t) => {
  const server = await openTestServer(t)
  const headers = { 'content-type': 'application/json' }
  for (const encoding of ['gzip', 'br', 'zstd', 'deflate, gzip', 'GZIP', 'x']) {
    const payload = gzipSync('{}')
    const compressed = { ...headers, 'content-encoding': encoding }
    const answer = await server.inject({ method: 'POST', url: REGISTER, headers: compressed, payload })
    assertError(answer, 415, 'invalid_client_metadata')
    assert.equal(answer.headers['accept-encoding'], 'identity')
    const { detail } = answer.json<{ detail: readonly { loc: readonly string[] }[] }>()
    assert.deepEqual(
      detail.map(({ loc }) => loc.join('.')),
      ['header.content-encoding'],
    )
  }
  for (const encoding of ['identity', 'Identity']) {
    const plain = { ...headers, 'content-encoding': encoding }
    assert.equal(
      (await server.inject({ method: 'POST', url: REGISTER, headers: plain, payload: '{}' })).statusCode,
      201,
    )
  }
  const form = { 'content-type': 'application/x-www-form-urlencoded', 'content-encoding': 'gzip' }
  for (const url of ['/v2/oauth/token', '/v2/oauth/sign-in']) {
    const answer = await server.inject({ method: 'POST', url, headers: form, payload: gzipSync('a=b') })
    assert.deepEqual([answer.statusCode, answer.headers['accept-encoding']], [415, 'identity'], url)
  }
})

test('RFC 9110 §10.1.1: a client that expects 100-continue gets it', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const text = await exchange(server, `${HEAD}Connection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}`)
  assert.match(text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /)
})

test('a body at an endpoint that takes none is discarded', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const target = '/.well-known/oauth-authorization-server'
  assert.equal((await ask(server, { method: 'GET', target, body: 'x'.repeat(100_000) })).status, 200)
})
