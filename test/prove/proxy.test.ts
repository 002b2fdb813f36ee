import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { freePorts } from '../../tools/process/free-ports.ts'
import { openProxy } from '../../prove/cluster/proxy.ts'
import { send, type SendResult } from '../../tools/send.ts'

/** A generous time limit for a busy machine. */
const LIMIT_MS = 30_000

interface FakeNode {
  readonly port: number
  isReady: boolean
  requests: string[]
  /** How the node handles a request. */
  act: (request: IncomingMessage, response: ServerResponse) => void
}

test('requests go to ready nodes in turn, and no longer to a node that reports that it is not ready', async (t) => {
  const [one, two] = [await openFake(t), await openFake(t)]
  const ask = await openCluster(t, [one, two])
  for (let count = 0; count < 6; count += 1) assert.equal(statusOf(await ask()), 200)
  assert.deepEqual([one.requests.length, two.requests.length], [3, 3])
  one.isReady = false
  await ask.untilReady(one, false)
  one.requests = []
  for (let count = 0; count < 6; count += 1) assert.equal(statusOf(await ask()), 200)
  assert.deepEqual([one.requests.length, two.requests.length], [0, 9])
})

test('if no node is ready, requests still go to the nodes, and clients get the answers of the nodes', async (t) => {
  const [one, two] = [await openFake(t), await openFake(t)]
  const ask = await openCluster(t, [one, two])
  for (const node of [one, two]) {
    node.isReady = false
    await ask.untilReady(node, false)
    node.act = (_, response) => void response.writeHead(503, { 'retry-after': '1' }).end('busy')
  }
  const answers = [await ask(), await ask()]
  for (const answer of answers) assert.ok(answer.kind === 'response' && answer.status === 503 && answer.body === 'busy')
  assert.deepEqual([one.requests.length, two.requests.length], [1, 1])
})

test('a node that refuses the connection is skipped, and a request to a node that hangs up is not sent again', async (t) => {
  const [one, two] = [await openFake(t), await openFake(t)]
  const ask = await openCluster(t, [one, two])
  two.act = (request) => void request.socket.destroy()
  const results = [await ask(), await ask()]
  assert.deepEqual(new Set(results.map(statusOf)), new Set([200, 502]))
  assert.deepEqual([one.requests.length, two.requests.length], [1, 1])
  const [unusedPort = 0] = await freePorts(1)
  const alone = await openCluster(t, [{ ...one, port: unusedPort }, one], [one])
  for (let count = 0; count < 3; count += 1) assert.equal(statusOf(await alone()), 200)
})

test('method, path, headers and body arrive as they were sent', async (t) => {
  const node = await openFake(t)
  const ask = await openCluster(t, [node])
  node.act = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => void chunks.push(chunk))
    request.on('end', () => {
      response.setHeader('set-cookie', ['a=1', 'b=2'])
      response.end(`${request.method} ${request.headers.host} ${String(request.headers['x-word'])} ${chunks.join('')}`)
    })
  }
  const headers = { host: 'as.example', 'x-word': 'word' }
  const answer = await ask({ method: 'PUT', path: '/a?b=c', headers, body: 'body' })
  assert.ok(answer.kind === 'response')
  assert.equal(answer.body, 'PUT as.example word body')
  assert.deepEqual(answer.headers['set-cookie'], ['a=1', 'b=2'])
  assert.deepEqual(node.requests, ['/a?b=c'])
})

async function openFake(t: TestContext): Promise<FakeNode> {
  const server = createServer((request, response) => {
    if (request.url === '/health/ready') return void response.writeHead(node.isReady ? 200 : 503).end()
    node.requests.push(request.url ?? '')
    node.act(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const node: FakeNode = { port, isReady: true, requests: [], act: (_, response) => void response.end('fine') }
  return node
}

type Ask = ((sending?: Partial<Parameters<typeof send>[0]>) => Promise<SendResult>) & {
  readonly untilReady: (node: FakeNode, isReady: boolean) => Promise<void>
}

/** A proxy in front of the nodes that already knows which nodes are ready. */
async function openCluster(t: TestContext, nodes: readonly FakeNode[], expected = nodes): Promise<Ask> {
  const [port = 0] = await freePorts(1)
  const proxy = await openProxy(
    port,
    nodes.map((node) => node.port),
  )
  t.after(proxy.close)
  const untilReady = async (node: FakeNode, isReady: boolean): Promise<void> => {
    while (proxy.isReady(node.port) !== isReady) await delay(10)
  }
  for (const node of expected) await untilReady(node, true)
  const ask = (sending: Partial<Parameters<typeof send>[0]> = {}): Promise<SendResult> =>
    send({ port, method: 'GET', path: '/', agent: undefined, limitMs: LIMIT_MS, ...sending })
  return Object.assign(ask, { untilReady })
}

function statusOf(result: SendResult): number {
  return result.kind === 'response' ? result.status : 0
}
