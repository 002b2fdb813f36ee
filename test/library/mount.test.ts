import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  connect,
  createServer,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
} from 'node:http2'
import { connect as connectTcp, type AddressInfo, type Socket } from 'node:net'
import { json } from 'node:stream/consumers'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import express from 'express'
import { PIPELINE_LIMIT } from '../../src/http/unanswered.ts'
import { walkWithClient } from '../../tools/client-walk.ts'
import { exchange, format, parseAnswers, type RawRequest } from '../support/hosts/raw-socket.ts'
import { openWebHost } from '../support/hosts/web-host.ts'
import { openGrantor, serveHost } from './host.ts'

const REGISTRATION = JSON.stringify({ client_name: 'Notes', grant_types: ['client_credentials'] })
const JSON_HEADERS = { 'content-type': 'application/json' }

test('LIB-01: a released client walks from registration to refresh in a host of node:http, which keeps its other paths', async (t) => {
  const { grantor, issuer, origin, port } = await openGrantor(t)
  await serveHost(t, port, (request, response) =>
    grantor.handler(request, response, () => response.end('The application.')),
  )
  const { accessToken } = await walkWithClient(issuer)
  assert.equal(
    (await fetch(`${issuer}/v2/oauth/userinfo`, { headers: { authorization: `Bearer ${accessToken}` } })).status,
    200,
  )
  for (const path of ['/', '/health/ready', '/account', '/v2/oauth/token', '/auth/other', '/%zz']) {
    assert.equal(await (await fetch(origin + path)).text(), 'The application.', path)
  }
})

test('without a next function, a path that is not of the server gets 404', async (t) => {
  const { grantor, origin, port } = await openGrantor(t)
  await serveHost(t, port, grantor.handler)
  assert.equal((await fetch(`${origin}/other`)).status, 404)
  assert.equal((await fetch(`${origin}/.well-known/oauth-authorization-server/auth`)).status, 200)
})

test('LIB-03: a released client works with Express below a prefix', async (t) => {
  const { grantor, issuer, origin, port } = await openGrantor(t)
  const app = express()
  app.get('/.well-known/*rest', grantor.handler)
  app.use('/auth', grantor.handler)
  app.use((request, response) => void response.send(`The application at ${request.url}`))
  await serveHost(t, port, app)
  await walkWithClient(issuer)
  assert.equal(await (await fetch(`${origin}/auth/other?a=1`)).text(), 'The application at /auth/other?a=1')
})

test('LIB-03: a body parser before the server gets 500 body_consumed, and the log names the reason', async (t) => {
  const { grantor, issuer, port, log } = await openGrantor(t)
  const app = express().use(express.json()).use(grantor.handler)
  await serveHost(t, port, app)
  const answer = await fetch(`${issuer}/v2/oauth/register`, {
    method: 'POST',
    headers: JSON_HEADERS,
    body: REGISTRATION,
  })
  assert.equal(answer.status, 500)
  assert.match(log(), /"reason":"body_consumed"/)
})

test('LIB-03: a body parser that has read an empty body, and a closed connection, leave no request open', async (t) => {
  const reasons: string[] = []
  const isRefused = Promise.withResolvers<void>()
  const { grantor, issuer, port } = await openGrantor(t, {
    log(line) {
      const { reason } = JSON.parse(line) as { readonly reason?: string }
      if (reason !== undefined) reasons.push(reason)
      if (reason === 'parameter_malformed') isRefused.resolve()
    },
  })
  const app = express()
    .use(express.urlencoded())
    .use('/auth/v2/oauth/register', (request, _response, next) => {
      request.once('close', () => next())
    })
    .use(grantor.handler)
  await serveHost(t, port, app)
  const empty = await fetch(`${issuer}/v2/oauth/token`, { method: 'POST', body: new URLSearchParams() })
  assert.equal(empty.status, 500)
  const socket = connectTcp(port, 'localhost')
  const head = `POST /auth/v2/oauth/register HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`
  socket.write(`${head}Content-Length: 9\r\n\r\n{`, () => socket.destroy())
  await isRefused.promise
  assert.deepEqual(reasons, ['body_consumed', 'parameter_malformed'])
})

test('LIB-04: the limits of the server ignore X-Forwarded-For, even if the host trusts it of every caller', async (t) => {
  const { grantor, issuer, port } = await openGrantor(t, { settings: { registrationRate: 1 } })
  const app = express().set('trust proxy', true).use(grantor.handler)
  await serveHost(t, port, app)
  const register = async (address: string): Promise<number> =>
    (
      await fetch(`${issuer}/v2/oauth/register`, {
        method: 'POST',
        headers: { ...JSON_HEADERS, 'x-forwarded-for': address },
        body: REGISTRATION,
      })
    ).status
  assert.deepEqual([await register('203.0.113.1'), await register('203.0.113.2')], [201, 429])
})

test('LIB-03: requests of HTTP/2 are served', async (t) => {
  const { grantor, issuer } = await openGrantor(t)
  const server = createServer((request, response) => grantor.handler(request as never, response as never))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  t.after(() => {
    session.destroy()
    server.close()
  })
  const path = new URL(`${issuer}/v2/oauth/register`).pathname
  const stream = session.request({ ':method': 'POST', ':path': path, ...JSON_HEADERS })
  stream.end(REGISTRATION)
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders & { readonly ':status': number }]
  assert.equal(headers[':status'], 201)
  assert.match(((await json(stream)) as { client_id: string }).client_id, /^gci_/)
})

/** Requests that Grantor answers at once, after a turn, with a refusal, by asking the host, and after reading a body. */
const FLOODS: readonly RawRequest[] = [
  { method: 'GET', target: '/auth/v2/oauth/sign-in?authorization=x' },
  { method: 'GET', target: '/auth/v2/oauth/jwks' },
  { method: 'GET', target: '/auth/v2/oauth/host-sign-in?interaction=x' },
  { method: 'PUT', target: '/auth/v2/oauth/token' },
  { target: '/auth/v2/oauth/token', body: 'a=b', headers: ['Content-Type: application/x-www-form-urlencoded'] },
]

for (const [scheme, sockets] of [
  ['http', 200],
  ['https', 40],
] as const) {
  test(`NET-14: in a host of node:${scheme}, connections that pipeline and never read are closed, and others are answered`, async (t) => {
    const people = { current: () => undefined, signInAddress: () => '/login' }
    const { grantor } = await openGrantor(t, { people })
    const handled = new Map<Socket, number>()
    const { promise: allClosed, resolve } = Promise.withResolvers<void>()
    let open = sockets
    const host = await openWebHost(t, scheme === 'https' ? { tlsName: 'localhost' } : {}, (request, response) => {
      const { socket } = request
      if (!handled.has(socket)) socket.once('close', () => (open -= 1) === 0 && resolve())
      handled.set(socket, (handled.get(socket) ?? 0) + 1)
      grantor.handler(request, response)
    })
    for (let index = 0; index < sockets; index += 1) {
      const options = { port: host.port, host: '127.0.0.1', localAddress: '127.0.0.2', rejectUnauthorized: false }
      const socket = scheme === 'https' ? connectTls(options) : connectTcp(options)
      socket.on('error', () => socket.destroy()).pause()
      t.after(() => socket.destroy())
      const flood = FLOODS[index % FLOODS.length] ?? { target: '/' }
      socket.write(format({ ...flood, keepAlive: true }).repeat(700))
    }
    await allClosed
    for (const count of handled.values()) assert.ok(count <= PIPELINE_LIMIT + 1, String(count))
    assert.equal((await fetch(`${scheme}://localhost:${host.port}/auth/v2/oauth/jwks`)).status, 200)
  })
}

test('NET-14: requests for other paths of a host do not count, and do not change what counts for two instances', async (t) => {
  const [one, two] = [await openGrantor(t), await openGrantor(t, { path: '/other' })]
  const host = await openWebHost(t, {}, (request, response) =>
    one.grantor.handler(request, response, () =>
      two.grantor.handler(request, response, () => response.end('The application.')),
    ),
  )
  const requests = [
    ...Array.from({ length: PIPELINE_LIMIT }, () => ['/auth/v2/oauth/jwks', '/other/v2/oauth/jwks']).flat(),
    ...Array.from({ length: 300 }, () => '/'),
  ].map((target) => format({ method: 'GET', target, keepAlive: true }))
  const origin = { origin: `http://127.0.0.1:${host.port}` }
  const answers = parseAnswers(await exchange(origin, requests.join('') + format({ method: 'GET', target: '/' })))
  assert.deepEqual(
    answers.map(({ status }) => status),
    Array.from({ length: 2 * PIPELINE_LIMIT + 301 }, () => 200),
  )
})

test('NET-14: above the limit of a network a request of HTTP/2 is refused, and the host answers other networks', async (t) => {
  const { grantor } = await openGrantor(t)
  const server = createServer((request, response) => grantor.handler(request as never, response as never))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const open = (localAddress: string): ClientHttp2Session => {
    const authority = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const session = connect(authority, {
      createConnection: ({ port }) => connectTcp({ port: Number(port), localAddress }),
    })
    t.after(() => session.destroy())
    return session
  }
  const begin = (session: ClientHttp2Session): ClientHttp2Stream =>
    session.request({ ':method': 'POST', ':path': '/auth/v2/oauth/register', ...JSON_HEADERS })
  const statusOf = async (stream: ClientHttp2Stream): Promise<unknown> =>
    ((await once(stream.resume().end('{'), 'response')) as [IncomingHttpHeaders])[0][':status' as never]
  const hostile = open('127.0.0.2')
  const held = Array.from({ length: 2000 }, () => begin(hostile))
  await assert.rejects(statusOf(begin(hostile)), /REFUSED_STREAM/)
  assert.equal(await statusOf(begin(open('127.0.0.1'))), 422)
  await Promise.all(held.map(statusOf))
  // The server may close the streams later than the client.
  while ((await statusOf(begin(hostile)).catch(() => undefined)) === undefined) await nextTurn()
})
