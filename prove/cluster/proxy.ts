import { once } from 'node:events'
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { hasStatus, send } from '../../tools/send.ts'

/** A load balancer like those of operators: no sticky sessions, keep-alive connections to the nodes, readiness probes. */
export interface Proxy {
  readonly isReady: (nodePort: number) => boolean
  readonly close: () => Promise<void>
}

const PROBE = { everyMs: 100, limitMs: 5000 } as const
const READINESS_PATH = '/health/ready'

interface Node {
  readonly port: number
  readonly agent: Agent
  isReady: boolean
}

/**
 * Sends each request to the next ready node. If no node is ready, it sends requests to all nodes in turn, so that clients get the
 * nodes' own errors. A node that refuses the connection is skipped, because the request was not sent. Apart from that, no request
 * is sent twice and none is dropped.
 */
export async function openProxy(port: number, nodePorts: readonly number[]): Promise<Proxy> {
  const nodes: readonly Node[] = nodePorts.map((nodePort) => ({
    port: nodePort,
    agent: new Agent({ keepAlive: true }),
    isReady: false,
  }))
  let turn = 0

  function inTurn(): readonly Node[] {
    const ready = nodes.filter(({ isReady }) => isReady)
    const candidates = ready.length === 0 ? nodes : ready
    turn += 1
    return candidates
      .map((_, index) => candidates[(turn + index) % candidates.length])
      .filter((node) => node !== undefined)
  }

  const ending = new AbortController()
  const probes = nodes.map((node) => probe(node, ending.signal))
  const server = createServer({ keepAliveTimeout: 65_000 }, (incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => forward(inTurn(), incoming, Buffer.concat(chunks), outgoing))
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    isReady: (nodePort) => nodes.some((node) => node.port === nodePort && node.isReady),
    async close() {
      ending.abort()
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      for (const { agent } of nodes) agent.destroy()
      await Promise.all([closed, ...probes])
    },
  }
}

async function probe(node: Node, ending: AbortSignal): Promise<void> {
  while (!ending.aborted) {
    const { port } = node
    node.isReady = hasStatus(await send({ port, path: READINESS_PATH, limitMs: PROBE.limitMs }), 200)
    await delay(PROBE.everyMs)
  }
}

function forward(nodes: readonly Node[], incoming: IncomingMessage, body: Buffer, outgoing: ServerResponse): void {
  const [node, ...others] = nodes
  if (node === undefined) return refuse(outgoing, 'No node takes a connection.')
  const { method = 'GET', url: path = '/', headers } = incoming
  const { connection: _, ...end2end } = headers
  const sent = request({ host: '127.0.0.1', port: node.port, agent: node.agent, method, path, headers: end2end })
  outgoing.once('close', () => sent.destroy())
  sent.on('response', (response) => {
    const { connection: __, 'keep-alive': ___, ...kept } = response.headers
    outgoing.writeHead(response.statusCode ?? 502, kept)
    response.on('error', () => outgoing.destroy())
    response.pipe(outgoing)
  })
  sent.on('error', (cause: NodeJS.ErrnoException) => {
    if (outgoing.headersSent || outgoing.destroyed) return void outgoing.destroy()
    if (cause.code === 'ECONNREFUSED') return forward(others, incoming, body, outgoing)
    refuse(outgoing, `The node on port ${node.port} hung up: ${cause.message}`)
  })
  sent.end(body)
}

function refuse(outgoing: ServerResponse, reason: string): void {
  outgoing.writeHead(502, { 'content-type': 'text/plain' }).end(reason)
}
