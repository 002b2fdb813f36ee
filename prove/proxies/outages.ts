import { setTimeout as delay } from 'node:timers/promises'
import { execute, type Postgres } from '../../tools/postgres.ts'
import { formBody } from '../../tools/send.ts'
import type { Answer, Exchange } from './campaign.ts'

/** What callers get through a proxy while the database of all nodes is down, or accepts no writes. */

type Ask = (one: Omit<Exchange, 'isRight'>) => Promise<Answer>

/** HAProxy and Caddy see within this time that no node is ready, or that one is again. */
const SEEN_MS = 3000
const LIMIT_MS = 30_000
const TERMINATE = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`

/** Returns a line for each outage, and reports each answer that differs from what docs/operations/proxies.md says. */
export async function proveOutages(
  ask: Ask,
  { postgres, databaseUrl }: { readonly postgres: Postgres; readonly databaseUrl: string },
  report: (what: string) => void,
): Promise<readonly string[]> {
  const requests = await prepare(ask)
  const name = new URL(databaseUrl).pathname.slice(1)
  const published = ['keys', 'metadata', 'alive'] as const
  const outages = {
    stopped: {
      begin: () => postgres.stop('fast'),
      end: () => postgres.start(),
      served: published,
    },
    'read-only': {
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
  }
  const lines: string[] = []
  for (const [what, { begin, end, served }] of Object.entries(outages)) {
    await begin()
    await delay(SEEN_MS)
    const found: string[] = []
    for (const [kind, one] of Object.entries(requests)) {
      const startedAt = performance.now()
      const answer = await ask(one)
      const isServed = served.some((other) => other === kind)
      const problem = isServed ? problemOfServed(answer) : problemOfRefused(answer)
      if (problem !== undefined) report(`database ${what}: ${kind} had ${problem}`)
      found.push(`${kind} ${answer.status} (${Math.round(performance.now() - startedAt)} ms)`)
    }
    await end()
    await untilServed(ask, requests.registration)
    lines.push(`database ${what}: ${found.join(', ')}`)
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

async function untilServed(ask: Ask, one: Omit<Exchange, 'isRight'>): Promise<void> {
  const deadline = performance.now() + LIMIT_MS
  while ((await ask(one)).status !== 201) {
    if (performance.now() > deadline) throw new Error('The nodes have not recovered.')
    await delay(200)
  }
}
