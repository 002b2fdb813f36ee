import { randomBytes } from 'node:crypto'
import type { EpochMs } from '../../../src/base/brand.ts'
import { after } from '../../../src/base/brand.ts'
import { mintClientId, mintUserId, type ClientId, type UserId } from '../../../src/protocol/ids.ts'
import { DEFAULT_RULES } from '../../../src/protocol/client/policy.ts'
import type { Resource } from '../../../src/protocol/token/resource.ts'
import type { Scope } from '../../../src/protocol/token/scope.ts'
import { EMAIL, obtainTokens, registerClient } from '../../../tools/flow.ts'
import { aClient, anApi, aUser } from '../records.ts'
import type { TestServer } from '../server.ts'
import { perform } from '../tasks.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const CLIENTS: readonly (readonly [
  name: string | undefined,
  uri: string,
  ageMs: number,
  usedMs: number | undefined,
  isVerified: boolean,
])[] = [
  ['Claude', 'https://claude.ai/api/mcp/auth_callback', 3 * MINUTE_MS, 2 * MINUTE_MS, true],
  ['Cursor', 'http://127.0.0.1/callback', 50 * MINUTE_MS, 20 * MINUTE_MS, false],
  [undefined, 'https://evil.example/cb', 2 * HOUR_MS, undefined, false],
  ['Visual Studio Code', 'http://127.0.0.1:33418/', 5 * HOUR_MS, HOUR_MS, true],
  ['Build Board', 'https://board.acme.test/callback', 2 * DAY_MS, 40 * MINUTE_MS, true],
  ['Grafana', 'https://grafana.acme.test/login/generic_oauth', 9 * DAY_MS, 3 * HOUR_MS, true],
  ['Zed', 'zed://oauth/callback', 12 * DAY_MS, 2 * DAY_MS, false],
  [
    'Payroll <b>test</b> with a name that is rather longer than a column',
    'https://payroll.acme.test/cb',
    40 * DAY_MS,
    30 * DAY_MS,
    false,
  ],
]
const PEOPLE = ['Grace Hopper', 'Alan Turing', 'Edsger Dijkstra', 'Barbara Liskov', 'Ken Thompson', 'Margaret Hamilton']

/** Fills a server as that of a small company is, for pictures and for the states of screens. Returns ids for addresses. */
export async function fillConsole(
  server: TestServer,
): Promise<{ readonly client: ClientId; readonly user: UserId; readonly grant: string }> {
  const { context } = server
  const { store, clock } = context
  const now = clock()
  await store.declareApi(
    anApi({
      resource: 'https://builds.acme.test/mcp' as Resource,
      name: 'Builds',
      scopes: [
        { name: 'projects:read', sentence: 'Read your projects', grantedTo: 'users' },
        { name: 'builds:start', sentence: 'Start builds in your name', grantedTo: 'users' },
        { name: 'payments:write', sentence: 'Pay for builds', grantedTo: 'approved-clients' },
      ],
    }),
  )
  const users: UserId[] = []
  for (const [index, name] of PEOPLE.entries()) {
    const createdAt = after(now, -(index + 1) * 9 * DAY_MS)
    const id = mintUserId(createdAt, randomBytes)
    const email = `${name.toLowerCase().replace(' ', '.')}@acme.test`
    const disabledAt = index === 4 ? after(now, -DAY_MS) : undefined
    const firstSignedInAt = index === 2 ? undefined : after(createdAt, HOUR_MS)
    await store.createUser(
      aUser({
        id,
        email,
        name,
        createdAt,
        notBefore: createdAt,
        emailVerifiedAt: firstSignedInAt,
        firstSignedInAt,
        lastSignedInAt: firstSignedInAt && after(createdAt, DAY_MS),
        disabledAt,
      }),
    )
    users.push(id)
  }
  const clients: ClientId[] = []
  for (const [name, uri, ageMs, usedMs, isVerified] of CLIENTS) {
    const madeAt: EpochMs = after(now, -ageMs)
    const base = aClient({ id: mintClientId(madeAt, randomBytes) }, madeAt)
    const { client_name: _, contacts: __, ...nameless } = base.metadata
    const metadata = {
      ...nameless,
      redirect_uris: [uri],
      scope: 'projects:read builds:start' as Scope,
      ...(name !== undefined && { client_name: name }),
    }
    const usedAt = usedMs === undefined ? undefined : after(now, -ageMs + 1000)
    const lastUsedAt = usedMs === undefined ? undefined : after(now, -usedMs)
    await store.registerClient({
      ...base,
      rules: DEFAULT_RULES,
      metadata,
      usedAt,
      lastUsedAt,
      verifiedAt: isVerified ? madeAt : undefined,
      approvedScope: '' as Scope,
    })
    if (usedAt !== undefined) await store.useClient({ id: base.id, now: usedAt })
    await store.noteUses(lastUsedAt === undefined ? [] : [{ id: base.id, at: lastUsedAt }])
    if (isVerified) await perform(context, 'client.verify', { client_id: base.id })
    clients.push(base.id)
  }
  const own = await registerClient(server, {
    client_name: 'Cursor',
    redirect_uris: ['https://app.example/callback', 'http://127.0.0.1/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    scope: 'projects:read builds:start payments:write',
  })
  await obtainTokens(server, own, { scope: 'projects:read builds:start', resource: 'https://builds.acme.test/mcp' })
  const ada = await store.findUserByEmail(EMAIL)
  const grants = await store.listGrants({ before: undefined, limit: 1 })
  return { client: own.client_id as ClientId, user: ada?.id ?? users[0] ?? ('' as UserId), grant: grants[0]?.id ?? '' }
}
