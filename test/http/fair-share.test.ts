import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { openGate } from '../../src/http/gate.ts'
import { openProxies } from '../../src/http/proxies.ts'
import type { ClientRecord } from '../../src/ports/records/client.ts'
import { registerClient, REDIRECT_URI, type RegisteredClient } from '../../tools/flow.ts'
import { openTestServer, type TestServer } from '../support/server.ts'
import { ask, format, openSocket } from '../support/hosts/raw-socket.ts'

const HOSTILE = '127.0.0.2'
const FORM_TYPE = 'Content-Type: application/x-www-form-urlencoded'
const JSON_TYPE = 'Content-Type: application/json'
const CONNECTIONS = 700

function tokenRequest(id: string, secret: string, keepAlive: boolean) {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: id,
    client_secret: secret,
  }).toString()
  return { target: '/v2/oauth/token', headers: [FORM_TYPE], body, keepAlive }
}

/** Another network requests tokens, one after the other. */
async function askForTokens(server: TestServer, client: RegisteredClient, count: number): Promise<readonly number[]> {
  const statuses: number[] = []
  for (let index = 0; index < count; index += 1) {
    statuses.push((await ask(server, tokenRequest(client.client_id, client.client_secret ?? '', false))).status)
  }
  return statuses
}

async function firstStatus(socket: Socket): Promise<number> {
  const [bytes] = await new Promise<[Buffer]>((resolve) => socket.once('data', (chunk: Buffer) => resolve([chunk])))
  return Number(bytes.toString('latin1', 9, 12))
}

test('NET-17: a network with 700 connections and wrong credentials does not cause refusals for another network', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const client = await registerClient(server)
  const garbage = format(tokenRequest('nobody', 'nothing', true))
  const refused = new Map<string, number>()
  const flood = Array.from({ length: CONNECTIONS }, () => {
    const socket = openSocket(t, server, HOSTILE)
    socket.on('data', (chunk: Buffer) => {
      const status = chunk.toString('latin1', 9, 12)
      refused.set(status, (refused.get(status) ?? 0) + 1)
      socket.write(garbage)
    })
    socket.write(garbage)
    return socket
  })
  await firstStatus(flood.at(-1) as Socket)
  const statuses = [...(await askForTokens(server, client, 20))]
  for (const target of ['/health/alive', '/health/ready']) {
    statuses.push((await ask(server, { method: 'GET', target })).status)
  }
  for (const socket of flood) socket.destroy()
  assert.deepEqual(new Set(statuses), new Set([200]))
  assert.ok((refused.get('429') ?? 0) > 0, JSON.stringify([...refused]))
})

test('NET-17: bodies of one network that arrive slowly, and then all at once, do not cause refusals for another network', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const client = await registerClient(server)
  const whole = format({
    target: '/v2/oauth/register',
    headers: [JSON_TYPE],
    body: '{"redirect_uris":1}',
    keepAlive: true,
  })
  const slow = Array.from({ length: CONNECTIONS }, () => openSocket(t, server, HOSTILE))
  await Promise.all(slow.map(async (socket) => new Promise((resolve) => socket.write(whole.slice(0, -1), resolve))))
  assert.deepEqual(new Set(await askForTokens(server, client, 5)), new Set([200]))
  const answers = slow.map(firstStatus)
  for (const socket of slow) socket.write(whole.slice(-1))
  assert.deepEqual(new Set(await askForTokens(server, client, 5)), new Set([200]))
  for (const status of await Promise.all(answers)) assert.ok(status === 422 || status === 503, String(status))
})

const OPEN = { proxies: openProxies([], () => undefined), hasStoreGoneBack: () => false }

test('NET-17: unfinished bodies of a network have a share, and a complete body makes room', () => {
  const gate = openGate({ issuer: 'http://localhost', ...OPEN })
  for (let count = 0; count < 2000; count += 1) gate.beginBody(HOSTILE)
  assert.throws(() => gate.beginBody(HOSTILE), { reason: 'overloaded', status: 503 })
  gate.beginBody('127.0.0.3')
  gate.endBody('127.0.0.3')
  gate.endBody(HOSTILE)
  gate.beginBody(HOSTILE)
})

test('NET-17: requests of high priority are answered while the network has no room for other requests', () => {
  const gate = openGate({ issuer: 'http://localhost', ...OPEN })
  const message = { socket: {}, headers: {} } as unknown as IncomingMessage
  for (let count = 0; count < 500; count += 1) gate.enter(HOSTILE, {})
  assert.throws(() => gate.enter(HOSTILE, {}), { reason: 'overloaded' })
  assert.throws(() => gate.check(message, HOSTILE, {}), { reason: 'overloaded' })
  gate.check(message, HOSTILE, { priority: 'high' })
  for (let count = 500; count < 2000; count += 1) gate.enter(HOSTILE, { priority: 'high' })
  assert.throws(() => gate.enter(HOSTILE, { priority: 'high' }), { reason: 'overloaded' })
  gate.enter('127.0.0.3', { priority: 'high' })
  for (let count = 0; count < 2000; count += 1) gate.leave(HOSTILE)
  gate.enter(HOSTILE, {})
})

test('NET-17: the requests of a caller behind a trusted proxy are counted by its forwarded address', async (t) => {
  const server = await openTestServer(t, { env: { GRANTOR_TRUST_PROXY: '127.0.0.1' } })
  const { store } = server.context
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const registerClientNow = store.registerClient.bind(store)
  t.mock.method(store, 'registerClient', async (record: ClientRecord) => {
    await released
    return registerClientNow(record)
  })
  const register = async (address: string): Promise<number> => {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': address }
    const payload = JSON.stringify({ redirect_uris: [REDIRECT_URI] })
    return (await server.inject({ method: 'POST', url: '/v2/oauth/register', headers, payload })).statusCode
  }
  const greedy = Array.from({ length: 520 }, async () => register('203.0.113.1:4711'))
  const others = Array.from({ length: 20 }, async (_, index) => register(`203.0.113.${index + 2}`))
  const statuses = Promise.all(greedy)
  await Promise.race(greedy)
  release()
  assert.deepEqual(new Set(await Promise.all(others)), new Set([201]))
  assert.equal((await statuses).filter((status) => status === 503).length, 20)
})
