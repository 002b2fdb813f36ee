import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type IncomingHttpHeaders } from 'node:http2'
import { connect as connectTcp, type AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { test } from 'node:test'
import express from 'express'
import { walkWithClient } from '../../tools/client-walk.ts'
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

test('LIB-03: Express below a prefix, and a released client', async (t) => {
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

test('LIB-03: a body parser that has read an empty body, and a caller who is gone, keep no request open', async (t) => {
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

test('LIB-04: the host trusts X-Forwarded-For of every caller, and the limits of the server do not', async (t) => {
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
