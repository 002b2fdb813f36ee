import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { closeOnSignal } from '../../src/cli/serve/close-on-signal.ts'
import { openTestServer, type TestServer } from '../support/server.ts'
import { format, openSocket, parseAnswers, portOf } from '../support/hosts/raw-socket.ts'

const REGISTER = '/v2/oauth/register'
const CLIENTS = 12

interface Answer {
  readonly status: number | undefined
  readonly connection: string | undefined
}

/** Sends one request over the agent's connection. Rejects when it is not answered. */
async function send(server: TestServer, agent: Agent, method: string, path: string): Promise<Answer> {
  const asked = request(server.origin, { agent, method, path, headers: { 'Content-Type': 'application/json' } })
  asked.end(method === 'POST' ? '{}' : undefined)
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  answer.resume()
  await once(answer, 'end')
  return { status: answer.statusCode, connection: answer.headers.connection }
}

/** A process that gets signals, and whose exit code can be awaited. */
function openProcess() {
  const exited = Promise.withResolvers<number>()
  const ending = Object.assign(new EventEmitter(), { exit: exited.resolve })
  return { ending, exited: exited.promise }
}

test('no request of clients with kept-alive connections fails during a stop when they follow the readiness check', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const { ending, exited } = openProcess()
  // Draining ends when all clients have left, however slow this machine is.
  const allClientsLeft = Promise.withResolvers<void>()
  closeOnSignal({ drain: server.drain, close: () => allClientsLeft.promise.then(server.close) }, 0, ending)

  const readiness = { isLost: false }
  const answers: Answer[] = []
  const client = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    while (!readiness.isLost) answers.push(await send(server, agent, 'POST', REGISTER))
    // One more request: it was already on its way when the balancer asked for readiness.
    answers.push(await send(server, agent, 'POST', REGISTER))
    agent.destroy()
  }
  const balancer = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    while (!readiness.isLost) readiness.isLost = (await send(server, agent, 'GET', '/health/ready')).status === 503
    agent.destroy()
  }
  const clients = Promise.all([balancer(), ...Array.from({ length: CLIENTS }, client)])
  while (answers.length < CLIENTS * 5) await new Promise((resolve) => setImmediate(resolve))
  ending.emit('SIGTERM')
  await clients
  allClientsLeft.resolve()
  assert.equal(await exited, 0)
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
  assert.ok(answers.filter(({ connection }) => connection === 'close').length >= CLIENTS)
})

test('while draining only the readiness check fails, and every kind of answer closes its connection', async (t) => {
  const server = await openTestServer(t, { listen: true })
  server.drain()
  const expected: readonly (readonly [method: string, path: string, status: number])[] = [
    ['GET', '/health/ready', 503],
    ['GET', '/health/alive', 200],
    ['POST', REGISTER, 201],
    ['GET', '/v2/oauth/jwks', 200],
    ['GET', '/v2/oauth/authorize', 400],
    ['OPTIONS', REGISTER, 204],
    ['DELETE', REGISTER, 401],
    ['PATCH', REGISTER, 405],
    ['GET', '/nothing', 404],
  ]
  const agent = new Agent({ keepAlive: true })
  for (const [method, path, status] of expected)
    assert.deepEqual(await send(server, agent, method, path), { status, connection: 'close' }, `${method} ${path}`)
  agent.destroy()
})

test('a request on a connection that was idle when draining began is served, and the connection closed', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const socket = openSocket(t, server)
  const received: Buffer[] = []
  socket.on('data', (chunk: Buffer) => received.push(chunk))
  const bytes = format({ method: 'GET', target: '/v2/oauth/jwks', keepAlive: true })
  socket.write(bytes)
  await once(socket, 'data')
  server.drain()
  socket.write(bytes)
  await once(socket, 'close')
  const answers = parseAnswers(Buffer.concat(received).toString())
  assert.deepEqual(
    answers.map(({ status, headers }) => [status, headers['connection']]),
    [
      [200, 'keep-alive'],
      [200, 'close'],
    ],
  )
})

test('a request that arrived on an idle connection before the listeners close is served', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const bytes = format({ method: 'GET', target: '/v2/oauth/jwks', keepAlive: true })
  const sockets = Array.from({ length: 20 }, () => openSocket(t, server))
  const answered = sockets.map(async (socket) => {
    socket.write(bytes)
    await once(socket, 'data')
  })
  await Promise.all(answered)
  const second = sockets.map((socket) => once(socket, 'data'))
  // On the loopback interface a write has arrived when it returns; the server has read none of them yet.
  for (const socket of sockets) socket.write(bytes)
  const closing = server.close()
  for (const [chunk] of await Promise.all(second)) assert.match(String(chunk), /^HTTP\/1\.1 200 /)
  await closing
})

test('idle connections, and connections that never sent a request, do not delay a stop', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const idle = openSocket(t, server)
  idle.write(format({ method: 'GET', target: '/v2/oauth/jwks', keepAlive: true }))
  await once(idle, 'data')
  const silent = connect(portOf(server), '127.0.0.1')
  await once(silent, 'connect')
  const closed = [idle, silent].map((socket) => once(socket.resume(), 'close'))
  await server.close()
  await Promise.all(closed)
})
