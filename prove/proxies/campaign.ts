import { Agent } from 'node:https'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { mkdirSync } from 'node:fs'
import { generate } from 'selfsigned'
import { freePorts } from '../../tools/process/free-ports.ts'
import type { Postgres } from '../../tools/postgres/postgres.ts'
import { formBody } from '../../tools/send.ts'
import { newSecret, openServerProcess, type ServerProcess } from '../../tools/process/server.ts'
import { openFolder } from '../../tools/process/session.ts'
import type { Findings } from '../findings.ts'
import { exchange, exchangeOverHttp2, ResetOfIdle, type ProxiedRequest } from './exchange.ts'
import { proveOutages } from './outages.ts'
import { startProxy, type ProxyName, type ProxyPlace, type RunningProxy } from './proxy-programs.ts'

/** Restarts nodes behind a proxy while clients continue to send requests. No request may fail. */

export interface ProxyResult {
  readonly version: string
  readonly requests: number
  readonly failed: number
  /** Requests that the client sent again, once, because an idle connection was reset (RFC 9112 §9.3.1). */
  readonly repeated: number
  readonly restarts: number
  /** What the proxy answered while the database failed. */
  readonly outages: readonly string[]
}

interface Counts {
  requests: number
  failed: number
  repeated: number
}

/** One request of the load. */
interface Exchange extends ProxiedRequest {
  readonly isRight: (status: number, body: string) => boolean
}

const CLIENTS = 8
const SETTLE_MS = 300
/** Caddy sees that a node is ready with its next check, 500 ms later at the latest. */
const SEEN_MS = 1500

export async function proveProxy(
  name: ProxyName,
  postgres: Postgres,
  { requests, restarts: wanted }: { readonly requests: number; readonly restarts: number },
  findings: Findings,
): Promise<ProxyResult> {
  const folder = join(openFolder(), name)
  mkdirSync(folder)
  const { url: databaseUrl } = await postgres.createDatabase()
  const [port = 0, first = 0, second = 0] = await freePorts(3)
  const settings = {
    DATABASE_URL: databaseUrl,
    GRANTOR_ISSUER: `https://localhost:${port}`,
    GRANTOR_TRUST_PROXY: '127.0.0.1',
    GRANTOR_SECRET: newSecret(),
    GRANTOR_REGISTRATION_RATE: '1000000',
    LOG_LEVEL: 'error',
    NODE_COMPILE_CACHE: join(folder, 'compile-cache'),
  }
  const nodes = [first, second].map((nodePort) => openServerProcess({ port: nodePort, folder, settings }))
  const { certificate, key } = await issueCertificate()
  for (const node of nodes) await node.start()
  const proxy = await startProxy(name, { folder, port, nodePorts: [first, second], certificate, key })
  const agents = {
    kept: new Agent({ keepAlive: true, maxSockets: CLIENTS, ca: certificate }),
    // A client whose idle connection was reset sends the request again on a new one.
    fresh: new Agent({ ca: certificate }),
  }
  const counts: Counts = { requests: 0, failed: 0, repeated: 0 }
  let restarts = 0
  let outages: readonly string[] = []
  try {
    await delay(SEEN_MS)
    const work = await prepareRequests(agents.fresh, port)
    const isDone = (): boolean => counts.requests >= requests && restarts >= wanted
    const load = Array.from({ length: CLIENTS }, (_, index) =>
      sendAll(agents, port, work, index, counts, isDone, (what) => findings.report(`${name}: ${what}`)),
    )
    while (!isDone()) {
      for (const node of nodes) await restart(proxy, node)
      restarts += nodes.length
      findings.progress(`${name}: ${restarts} restarts, ${counts.requests} requests, ${counts.failed} failed`)
    }
    await Promise.all(load)
    const asks = {
      'HTTP/1.1': (one: ProxiedRequest) => exchange(agents.fresh, port, one),
      ...(proxy.hasHttp2 ? { 'HTTP/2': (one: ProxiedRequest) => exchangeOverHttp2(certificate, port, one) } : {}),
    }
    const report = (what: string): void => findings.report(`${name}: ${what}`)
    outages = await proveOutages(asks, { postgres, databaseUrl, nodes }, report)
  } finally {
    agents.kept.destroy()
    await proxy.stop()
    for (const node of nodes) await node.stop()
  }
  return { version: proxy.version, ...counts, restarts, outages }
}

/** A certificate of localhost that signs itself, and its key. PEM. */
export async function issueCertificate(): Promise<Pick<ProxyPlace, 'certificate' | 'key'>> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  })
  return { certificate: cert, key }
}

async function restart(proxy: RunningProxy, node: ServerProcess): Promise<void> {
  await proxy.takeOut(node.port)
  await node.stop()
  await node.start()
  await proxy.putBack(node.port)
  await delay(SEEN_MS + SETTLE_MS)
}

/** A token of a machine, and the metadata. @throws Error when the client cannot register */
async function prepareRequests(agent: Agent, port: number): Promise<readonly Exchange[]> {
  const registration = {
    method: 'POST',
    path: '/v2/oauth/register',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ grant_types: ['client_credentials'], token_endpoint_auth_method: 'client_secret_post' }),
  } as const
  const { status, body } = await exchange(agent, port, registration)
  if (status !== 201) throw new Error(`The registration had ${status}: ${body}`)
  const { client_id, client_secret } = JSON.parse(body) as { client_id: string; client_secret: string }
  const token = formBody({ grant_type: 'client_credentials', client_id, client_secret })
  return [
    {
      method: 'POST',
      path: '/v2/oauth/token',
      ...token,
      isRight: (code, text) => code === 200 && text.includes('"access_token"'),
    },
    {
      method: 'GET',
      path: '/.well-known/oauth-authorization-server',
      isRight: (code, text) => code === 200 && text.includes(`"issuer":"https://localhost:${port}"`),
    },
  ]
}

async function sendAll(
  agents: { readonly kept: Agent; readonly fresh: Agent },
  port: number,
  work: readonly Exchange[],
  start: number,
  counts: Counts,
  isDone: () => boolean,
  report: (what: string) => void,
): Promise<void> {
  for (let index = start; !isDone(); index += 1) {
    const one = work[index % work.length]
    if (one === undefined) return
    counts.requests += 1
    try {
      const answer = await exchange(agents.kept, port, one).catch((cause: unknown) => {
        if (!(cause instanceof ResetOfIdle)) throw cause
        counts.repeated += 1
        return exchange(agents.fresh, port, one)
      })
      if (one.isRight(answer.status, answer.body)) continue
      counts.failed += 1
      report(`${one.path} had ${answer.status} ${answer.body.slice(0, 200)}`)
    } catch (cause) {
      counts.failed += 1
      report(`${one.path} failed: ${(cause as Error).message}`)
    }
  }
}
