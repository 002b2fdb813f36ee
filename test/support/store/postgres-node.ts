import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Response } from 'light-my-request'
import {
  authorizeUrl,
  EMAIL,
  locationOf,
  PASSWORD,
  PlainBrowser,
  postJson,
  redeem,
  refresh,
  REDIRECT_URI,
  registerClient,
  requestToken,
  signInAndAllow,
  type RegisteredClient,
  type Tokens,
} from '../../../tools/flow.ts'
import { createAda } from '../accounts.ts'
import { openTestServer, STRICT, type TestServer } from '../server.ts'
import { withClient } from '../../../tools/postgres/postgres.ts'

type Ask = 'register' | 'redeem' | 'refresh' | 'useClient' | 'authorize' | 'signIn' | 'consent'

/** A node on a PostgreSQL, and one request of each kind. */
export interface AskedNode {
  readonly server: TestServer
  readonly client: RegisteredClient
  /** The newest refresh token of `client`. */
  readonly token: string
  /** Each needs the database, succeeds once if nothing is wrong, and can be repeated until it does. */
  readonly asks: Readonly<Record<Ask, () => Promise<Response>>>
}

/** A response takes 4 s, and that of a page its other work. The limit is far more, for a machine that is busy with other work. */
export const LIMIT_MS = 12_000
const RECOVERY_MS = 20_000
const SECRET = 'a root secret that is long enough for it'

export function openNode(
  test: Pick<TestContext, 'after'>,
  url: string,
  onLog: (line: string) => void = () => undefined,
): Promise<TestServer> {
  return openTestServer(test, { env: { ...STRICT, DATABASE_URL: url, GRANTOR_SECRET: SECRET }, onLog })
}

export async function openAskedNode(test: Pick<TestContext, 'after'>, url: string): Promise<AskedNode> {
  const server = await openNode(test, url)
  await createAda(server)
  const client = await registerClient(server)
  const machine = await registerClient(server)
  // Password hashing takes most of the time here, so one browser signs in once.
  const known = new PlainBrowser(server)
  const first = await signInAndAllow(known, authorizeUrl(client))
  const { refresh_token: token = '' } = (await redeem(server, client, codeIn(first))).json<Tokens>()
  const code = codeIn(new URL(locationOf(await known.get(authorizeUrl(client, { prompt: 'none' })))))
  const question = await known.get(locationOf(await known.get(authorizeUrl(client, { prompt: 'consent' }))))
  const stranger = new PlainBrowser(server)
  const form = await stranger.get(locationOf(await stranger.get(authorizeUrl(client))))
  const asks = {
    register: () => postJson(server, '/v2/oauth/register', { redirect_uris: [REDIRECT_URI] }),
    redeem: () => redeem(server, client, code),
    refresh: () => refresh(server, client, token),
    useClient: () => requestToken(server, machine, { grant_type: 'client_credentials' }),
    authorize: () => new PlainBrowser(server).get(authorizeUrl(client)),
    signIn: () => stranger.submit(form, { email: EMAIL, password: PASSWORD }),
    consent: () => known.submit(question, { decision: 'allow' }),
  }
  return { server, client, token, asks }
}

function codeIn(answer: URL): string {
  return answer.searchParams.get('code') ?? assert.fail(answer.href)
}

/** Sends all requests at once: each gets a 503 in time. */
export async function assertAllUnavailable({ asks }: AskedNode): Promise<void> {
  await Promise.all(Object.entries(asks).map(([name, ask]) => assertUnavailable(name, ask)))
}

/** Returns how long it took, in milliseconds. */
export async function assertUnavailable(name: string, ask: () => Promise<Response>): Promise<number> {
  const start = performance.now()
  const response = await ask()
  const elapsed = performance.now() - start
  assert.equal(response.statusCode, 503, `${name}: ${response.body.slice(0, 300)}`)
  assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/, name)
  if (String(response.headers['content-type']).includes('json'))
    assert.equal(response.json().error, 'temporarily_unavailable', name)
  else assert.match(response.body, /<h1/, name)
  assert.ok(elapsed < LIMIT_MS, `${name} was answered after ${elapsed} ms`)
  return elapsed
}

/** Asserts that each request succeeds without intervention, after at most a while of 503 responses. */
export async function assertAllRecover({ asks }: AskedNode): Promise<void> {
  for (const [name, ask] of Object.entries(asks)) await untilAvailable(name, ask)
}

export async function untilAvailable(name: string, ask: () => Promise<Response>): Promise<Response> {
  const deadline = performance.now() + RECOVERY_MS
  for (;;) {
    const response = await ask()
    if (response.statusCode < 400) return response
    assert.equal(response.statusCode, 503, `${name}: ${response.body.slice(0, 300)}`)
    assert.ok(performance.now() < deadline, `${name} has not recovered`)
  }
}

/** Fails if `act` changes any stored data except counters and the audit. */
export async function assertUnchanged<T>(url: string, act: () => Promise<T>): Promise<T> {
  const before = await dump(url)
  const result = await act()
  assert.deepEqual(await dump(url), before)
  return result
}

async function dump(url: string): Promise<Readonly<Record<string, unknown>>> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public' and tablename not in ('hits', 'audit_links', 'figures')`,
    )
    const tables: [string, readonly string[]][] = []
    for (const { name } of rows) {
      const all = await client.query<{ row: string }>(`select row_to_json(t)::text as row from "${name}" t order by 1`)
      tables.push([name, all.rows.map(({ row }) => row)])
    }
    return Object.fromEntries(tables)
  })
}

/** Returns the first column of the first row. */
export function selectValue(url: string, sql: string, values: readonly unknown[] = []): Promise<unknown> {
  return withClient(
    url,
    async (client) => Object.values((await client.query<object>(sql, [...values])).rows[0] ?? {})[0],
  )
}
