import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { openConnections } from '../../src/http/connections.ts'
import { connectionLimits, type ConnectionLimits } from '../../src/http/connection-limits.ts'
import { openProxies } from '../../src/http/proxies.ts'
import { limitFor } from '../../src/base/shares.ts'
import { PIPELINE_LIMIT } from '../../src/http/unanswered.ts'
import { openTestServer } from '../support/server.ts'
import { ask, format, openSocket, parseAnswers } from '../support/hosts/raw-socket.ts'

const ALIVE = { method: 'GET', target: '/health/alive', keepAlive: true } as const
const PAGE = '/v2/oauth/sign-in?authorization=x'
const WIDE: ConnectionLimits = { connections: 10_000, unanswered: 10_000, foreign: 10_000 }

/** Whose HTTP server has the limits: that of Grantor, or the one of a host. */
const OWNERS = ['Grantor', 'a host'] as const

/** A plain HTTP server that has only Grantor's limits on connections. */
async function openBounded(
  t: TestContext,
  limits: ConnectionLimits,
  answer: (response: ServerResponse) => void,
  owner: (typeof OWNERS)[number] = 'Grantor',
) {
  const connections = openConnections(
    openProxies(['127.0.0.9'], () => undefined),
    limits,
  )
  const isOwn = owner === 'Grantor'
  const server = createServer(isOwn ? { ServerResponse: connections.Response } : {}, (message, response) => {
    if (isOwn || connections.admit(message, response)) answer(response)
  })
  if (isOwn) connections.watch(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, connections, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Whether the server answers a request; false when it closes the connection. */
async function isAnswered(socket: Socket): Promise<boolean> {
  socket.write(format(ALIVE))
  return new Promise((resolve) => {
    socket.once('data', () => resolve(true))
    socket.once('close', () => resolve(false))
  })
}

/** Waits for the close of a socket. `once` of node:events would reject for a reset. */
async function closed(socket: Socket): Promise<void> {
  if (!socket.closed) await new Promise<void>((resolve) => socket.once('close', () => resolve()))
}

/** Resolves when the server has closed `count` connections. A client that does not read would not notice. */
async function closedByServer(server: HttpServer, count: number): Promise<void> {
  let left = count
  await new Promise<void>((resolve) => {
    server.on('connection', (socket: Socket) => socket.once('close', () => (left -= 1) === 0 && resolve()))
  })
}

/** Resolves when `count` more requests have arrived. */
async function requestsOf(server: HttpServer, count: number): Promise<void> {
  let left = count
  await new Promise<void>((resolve) => server.on('request', () => (left -= 1) === 0 && resolve()))
}

test('NET-14: connections that pipeline and never read are closed, and others are answered', async (t) => {
  const server = await openTestServer(t, { listen: true })
  let requests = 0
  server.http.on('request', () => void (requests += 1))
  const kinds = [
    format({ ...ALIVE, target: PAGE }),
    format(ALIVE),
    format({ ...ALIVE, headers: ['Expect: the-unexpected'] }),
    'GET / HTTP/1.1\r\n\r\n',
  ]
  const hungUp = closedByServer(server.http, 200)
  for (let index = 0; index < 200; index += 1) {
    const socket = openSocket(t, server, '127.0.0.2').pause()
    socket.write((kinds[index % kinds.length] ?? '').repeat(700))
  }
  await hungUp
  assert.ok(requests > 1 && requests <= 200 * (PIPELINE_LIMIT + 1), String(requests))
  const dropped = (await server.sample(false)).find(({ name }) => name === 'grantor_dropped_connections_total')
  assert.ok(dropped !== undefined && 'value' in dropped && dropped.value >= 150, JSON.stringify(dropped))
  assert.equal((await ask(server, { ...ALIVE, keepAlive: false })).status, 200)
})

test('NET-09: pipelined requests up to the limit of a connection are all answered, repeatedly', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const socket = openSocket(t, server)
  for (let round = 0; round < 3; round += 1) {
    let received = ''
    socket.write(format(ALIVE).repeat(PIPELINE_LIMIT))
    while (parseAnswers(received).length < PIPELINE_LIMIT) {
      received += String((await once(socket, 'data'))[0] as Buffer)
    }
  }
})

for (const owner of OWNERS) {
  test(`NET-14: an answer that the caller does not read counts as unanswered (the server of ${owner})`, async (t) => {
    const limits = { ...WIDE, unanswered: limitFor(32) }
    const server = await openBounded(t, limits, (response) => response.end(Buffer.alloc(8 * 1024 * 1024)), owner)
    const all = requestsOf(server.server, 32)
    const silent = openSocket(t, server, '127.0.0.2').pause()
    silent.write(format(ALIVE).repeat(32))
    await all
    assert.equal(await isAnswered(openSocket(t, server, '127.0.0.2')), false)
    const gone = closedByServer(server.server, 1)
    assert.equal(await isAnswered(openSocket(t, server)), true)
    server.server.closeAllConnections()
    await gone
    assert.equal(await isAnswered(openSocket(t, server, '127.0.0.2')), true)
  })
}

for (const owner of OWNERS) {
  test(`NET-14: unanswered requests are limited for all connections of a network together (the server of ${owner})`, async (t) => {
    const server = await openBounded(t, { ...WIDE, unanswered: limitFor(40) }, () => undefined, owner)
    const sockets = Array.from({ length: 5 }, () => openSocket(t, server, '127.0.0.2'))
    for (const socket of sockets) {
      const all = requestsOf(server.server, 8)
      socket.write(format(ALIVE).repeat(8))
      await all
    }
    const late = openSocket(t, server, '127.0.0.2')
    late.write(format(ALIVE))
    await closed(late)
    const came = once(server.server, 'request')
    openSocket(t, server).write(format(ALIVE))
    await came
  })
}

for (const owner of OWNERS) {
  test(`NET-14: a request whose connection was closed counts until its processing ends (the server of ${owner})`, async (t) => {
    const waiting: ServerResponse[] = []
    const server = await openBounded(
      t,
      { ...WIDE, unanswered: limitFor(8) },
      (response) => {
        server.connections.beginRequest(response)
        waiting.push(response)
      },
      owner,
    )
    const [all, gone] = [requestsOf(server.server, 8), closedByServer(server.server, 1)]
    const socket = openSocket(t, server, '127.0.0.2')
    socket.write(format(ALIVE).repeat(8))
    await all
    socket.destroy()
    await gone
    assert.equal(await isAnswered(openSocket(t, server, '127.0.0.2')), false)
    for (const response of waiting) server.connections.endRequest(response)
    const came = once(server.server, 'request')
    openSocket(t, server, '127.0.0.2').write(format(ALIVE))
    await came
  })
}

test('NET-17: one network has a share of the connections, others can still connect, and a closed connection makes room', async (t) => {
  const server = await openBounded(t, { ...WIDE, connections: limitFor(40) }, (response) => response.end('{}'))
  const greedy = await Promise.all(
    Array.from({ length: 60 }, async () => {
      const socket = openSocket(t, server, '127.0.0.2')
      return { socket, isIn: await isAnswered(socket) }
    }),
  )
  const within = greedy.filter(({ isIn }) => isIn)
  assert.equal(within.length, 40)
  assert.equal(await isAnswered(openSocket(t, server)), true)
  const gone = Promise.all(within.map(async ({ socket }) => closed(socket)))
  server.server.closeAllConnections()
  await gone
  assert.equal(await isAnswered(openSocket(t, server, '127.0.0.2')), true)
})

test('NET-17: the connections of a trusted proxy have no share, but the total limit applies to them', async (t) => {
  const server = await openBounded(t, { ...WIDE, connections: limitFor(40) }, (response) => response.end('{}'))
  const answers: boolean[] = []
  for (let index = 0; index < 60; index += 1) answers.push(await isAnswered(openSocket(t, server, '127.0.0.9')))
  assert.equal(answers.filter((isIn) => isIn).length, limitFor(40))
})

test('NET-14: the administration closes connections that pipeline, too', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const admin = { origin: server.adminOrigin }
  assert.ok(server.admin)
  const hungUp = closedByServer(server.admin, 1)
  openSocket(t, admin, '127.0.0.2')
    .pause()
    .write(format({ ...ALIVE, target: '/admin/v1/clients' }).repeat(700))
  await hungUp
  assert.equal((await ask(admin, { method: 'GET', target: '/metrics' })).status, 200)
})

for (const listener of ['public', 'administration'] as const) {
  test(`NET-18: a body of thousands of chunks closes its connection, for any request (${listener})`, async (t) => {
    const server = await openTestServer(t, { listen: true })
    const to = listener === 'public' ? server : { origin: server.adminOrigin }
    for (const start of ['POST /v2/oauth/token', 'GET /nothing-here', 'GET /health/alive', 'POST /admin/v1/clients']) {
      const socket = openSocket(t, to).resume()
      const type = 'Content-Type: application/x-www-form-urlencoded'
      socket.write(`${start} HTTP/1.1\r\nHost: x\r\n${type}\r\nTransfer-Encoding: chunked\r\n\r\n`)
      socket.write('1\r\na\r\n'.repeat(3000))
      await closed(socket)
    }
  })
}

test('NET-18: after its refusal an endless body is read only up to a limit', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const socket = openSocket(t, server).resume()
  socket.write('POST /v2/oauth/register HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n')
  socket.write(Buffer.alloc(4 * 1024 * 1024))
  await closed(socket)
})

test('AG-10: a caller is known by the address of its connection, unless that may be of what forwards TCP or HTTP', () => {
  const proxies = openProxies(['127.0.0.9'], () => undefined)
  const [forOthers, forThisMachine] = [true, false].map((isForOthers) => openConnections(proxies, WIDE, isForOthers))
  type Case = readonly [
    address: string,
    encrypted: boolean,
    forwarded: string | undefined,
    known: boolean,
    here: boolean,
  ]
  const cases: readonly Case[] = [
    ['203.0.113.7', true, undefined, true, true],
    ['203.0.113.7', true, '198.51.100.1', false, false],
    ['::1', false, undefined, false, true],
    // What passes TLS through to a host that ends it.
    ['127.0.0.1', true, undefined, false, true],
    ['::ffff:127.0.0.1', true, undefined, false, true],
    ['127.0.0.9', false, '198.51.100.1', true, true],
    ['127.0.0.9', false, undefined, false, false],
  ]
  for (const [remoteAddress, encrypted, forwarded, known, here] of cases) {
    const socket = { remoteAddress, encrypted } as unknown as Socket
    const message = { socket, headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded } }
    assert.equal(forOthers?.knowsCaller(message as IncomingMessage), known, remoteAddress)
    assert.equal(forThisMachine?.knowsCaller(message as IncomingMessage), here, remoteAddress)
  }
})

test('NET-17: where the process may open few files, both listeners together leave some for the database', () => {
  const table = [
    [64, 14, 2],
    [1024, 854, 122],
    [20_000, 10_000, 1000],
    [Infinity, 10_000, 1000],
  ] as const
  for (const [files, most, admin] of table) {
    assert.equal(connectionLimits('public', files).connections, most)
    assert.equal(connectionLimits('admin', files).connections, admin)
  }
})
