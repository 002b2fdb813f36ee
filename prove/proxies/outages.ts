import { setTimeout as delay } from 'node:timers/promises'
import { execute, type Postgres } from '../../tools/postgres/postgres.ts'
import { formBody } from '../../tools/send.ts'
import type { ServerProcess } from '../../tools/process/server.ts'
import type { Answer, ProxiedRequest } from './exchange.ts'

/** What callers get through a proxy while the database of all nodes is down or accepts no writes, and while no node runs. */

type Ask = (one: ProxiedRequest) => Promise<Answer>
type Protocol = 'HTTP/1.1' | 'HTTP/2'

interface Behind {
  readonly postgres: Postgres
  readonly databaseUrl: string
  readonly nodes: readonly ServerProcess[]
}

/** HAProxy and Caddy see within this time that no node is ready, or that one is again. */
const SEEN_MS = 3000
const LIMIT_MS = 30_000
const TERMINATE = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`

/** Returns a line for each outage, and reports each answer that differs from what docs/operations/proxies.md says. */
export async function proveOutages(
  asks: Readonly<Record<'HTTP/1.1', Ask>> & Readonly<Partial<Record<Protocol, Ask>>>,
  { postgres, databaseUrl, nodes }: Behind,
  report: (what: string) => void,
): Promise<readonly string[]> {
  const requests = await prepare(asks['HTTP/1.1'])
  const name = new URL(databaseUrl).pathname.slice(1)
  const published = ['keys', 'metadata', 'alive'] as const
  const outages = {
    'database stopped': {
      begin: () => postgres.stop('fast'),
      end: () => postgres.start(),
      served: published,
    },
    'database read-only': {
      begin: () => execute(databaseUrl, `alter database ${name} set default_transaction_read_only = on`, TERMINATE),
      end: () =>
        execute(
          databaseUrl,
          'set default_transaction_read_only = off',
          `alter database ${name} reset default_transaction_read_only`,
          TERMINATE,
        ),
      served: [...published, 'introspection'] as const,
    },
    'all nodes stopped': {
      begin: () => forEach(nodes, (node) => node.stop()),
      end: () => forEach(nodes, (node) => node.start()),
      served: [],
    },
  }
  const lines: string[] = []
  for (const [what, { begin, end, served }] of Object.entries(outages)) {
    await begin()
    await delay(SEEN_MS)
    for (const [protocol, ask] of Object.entries(asks)) {
      const found: string[] = []
      for (const [kind, one] of Object.entries(requests)) {
        const startedAt = performance.now()
        const answer = await ask(one).catch(noAnswer)
        const isServed = served.some((other) => other === kind)
        const problem = isServed ? problemOfServed(answer) : problemOfRefused(answer)
        if (problem !== undefined) report(`${what}, ${protocol}: ${kind} had ${problem}`)
        found.push(`${kind} ${answer.status} (${Math.round(performance.now() - startedAt)} ms)`)
      }
      lines.push(`${what}, ${protocol}: ${found.join(', ')}`)
    }
    await end()
    await untilServed(asks['HTTP/1.1'], requests.registration)
  }
  return lines
}

async function prepare(ask: Ask) {
  const registration = {
    method: 'POST',
    path: '/v2/oauth/register',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ grant_types: ['client_credentials'], token_endpoint_auth_method: 'client_secret_post' }),
  } as const
  const { body } = await ask(registration)
  const { client_id, client_secret } = JSON.parse(body) as { client_id: string; client_secret: string }
  const credentials = { client_id, client_secret }
  const token = {
    method: 'POST',
    path: '/v2/oauth/token',
    ...formBody({ grant_type: 'client_credentials', ...credentials }),
  }
  const { access_token } = JSON.parse((await ask({ ...token, method: 'POST' })).body) as { access_token: string }
  const question = formBody({ token: access_token, ...credentials })
  return {
    keys: { method: 'GET', path: '/v2/oauth/jwks' },
    metadata: { method: 'GET', path: '/.well-known/oauth-authorization-server' },
    alive: { method: 'GET', path: '/health/alive' },
    introspection: { method: 'POST', path: '/v2/oauth/introspect', ...question },
    registration,
    readiness: { method: 'GET', path: '/health/ready' },
  } as const
}

function noAnswer(cause: Error): Answer {
  return { status: 0, headers: {}, body: cause.message }
}

async function forEach(nodes: readonly ServerProcess[], act: (node: ServerProcess) => Promise<unknown>): Promise<void> {
  for (const node of nodes) await act(node)
}

function problemOfServed({ status, body }: Answer): string | undefined {
  return status === 200 && body.startsWith('{') ? undefined : `${status} ${body.slice(0, 200)}`
}

/** As a node answers while the database fails, also when the proxy answers itself. */
function problemOfRefused({ status, headers, body }: Answer): string | undefined {
  const isRight =
    status === 503 &&
    /^[1-9]\d*$/.test(headers['retry-after'] ?? '') &&
    headers['content-type'] === 'application/json' &&
    (JSON.parse(body) as { readonly error?: unknown }).error === 'temporarily_unavailable'
  return isRight ? undefined : `${status} ${JSON.stringify(headers)} ${body.slice(0, 200)}`
}

async function untilServed(ask: Ask, one: ProxiedRequest): Promise<void> {
  const deadline = performance.now() + LIMIT_MS
  while ((await ask(one)).status !== 201) {
    if (performance.now() > deadline) throw new Error('The nodes have not recovered.')
    await delay(200)
  }
}
