import { statSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import {
  postForm,
  redeem,
  refresh,
  registerClient,
  requestToken,
  silentCodes,
  type RegisteredClient,
  type RequestTarget,
  type Tokens,
} from '../../tools/flow.ts'
import { stopChildren } from '../../tools/process/children.ts'
import { startDatabase } from '../../tools/postgres/database.ts'
import { readOptions, whole } from '../../tools/options.ts'
import { openRemoteServer } from '../../tools/remote-server.ts'
import { addUser } from '../../tools/runtime.ts'
import { newSecret } from '../../tools/process/server.ts'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { fixed } from '../../tools/table.ts'
import { FILLED_SETTINGS, fillSqlite } from '../growth/fill.ts'
import { runCommand, startServer } from '../server.ts'

/**
 * How long a move of a million rows from SQLite to PostgreSQL takes. The server runs until `grantor export --final`
 * closes its store, and the time ends when the server of the new place is ready. It fails if a token that was issued
 * before does not work after.
 */

const LIMIT_MS = 60 * 60_000
/** Clients, grants with their families, and redeemed codes. */
const FILLED_TABLES = 3
const AT_ONCE = 8
const ANSWER_LIMIT_MS = 10_000

interface Issued {
  readonly user: RegisteredClient
  readonly machine: RegisteredClient
  readonly families: readonly Tokens[]
  readonly machineTokens: readonly string[]
}

const { rows, tokens } = readOptions({
  rows: whole('rows of the store', 1_000_000, [3, 1e8]),
  tokens: whole('access tokens, and as many families of refresh tokens', 500, [1, 10_000]),
})
beginSession(LIMIT_MS)
const folder = openFolder()
const path = join(folder, 'grantor.db')
const file = join(folder, 'moved')
const GRANTOR_SECRET = newSecret()
const GRANTOR_CLIENT_FAILURE_RATE = '1000000000'
const settings = { DATABASE_URL: `sqlite:${path}`, GRANTOR_SECRET, GRANTOR_CLIENT_FAILURE_RATE, ...FILLED_SETTINGS }
await addUser(settings)
fillSqlite(path, { rows: Math.ceil(rows / FILLED_TABLES), now: Date.now() })

const source = await startServer({ folder, settings })
const agent = new Agent({ keepAlive: true })
const moving = openRemoteServer({ port: source.port, agent, limitMs: ANSWER_LIMIT_MS })
const issued = await issue(moving)
const database = await startDatabase(undefined)
const { url } = await database.open()
const target = { ...settings, DATABASE_URL: url, GRANTOR_ISSUER: `http://127.0.0.1:${source.port}` }

const startedAt = performance.now()
const exportSeconds = await runCommand({ folder, settings }, ['export', '--to', file, '--final'])
const importSeconds = await runCommand({ folder, settings: target }, ['import', 'grantor', file])
const moved = await startServer({ folder, databaseUrl: url, settings: target })
const seconds = (performance.now() - startedAt) / 1000
moving.port = moved.port
const lost = await findLost(moving, issued)
agent.destroy()
console.log(
  [
    `${rows} rows from SQLite to PostgreSQL; a file of ${fixed(statSync(file).size / 1e6, 0)} MB`,
    `export --final ${fixed(exportSeconds, 1)} s, import ${fixed(importSeconds, 1)} s; until the new server is ready ${fixed(seconds, 1)} s`,
    `access tokens issued before: ${issued.machineTokens.length + issued.families.length}, inactive after: ${lost.access}`,
    `refresh tokens issued before: ${issued.families.length}, refused after: ${lost.refresh}`,
  ].join('\n'),
)
await stopChildren()
await database.close()
process.exitCode = lost.access + lost.refresh === 0 ? 0 : 1

async function issue(server: RequestTarget): Promise<Issued> {
  const [user, machine] = [await registerClient(server), await registerClient(server)]
  const machineTokens = await inTurns(Array.from({ length: tokens }), async () => {
    const answer = await requestToken(server, machine, { grant_type: 'client_credentials' })
    return answer.json<Tokens>().access_token
  })
  const families = await inTurns(await silentCodes(server, user, tokens), async (code) =>
    (await redeem(server, user, code)).json<Tokens>(),
  )
  return { user, machine, families, machineTokens }
}

async function findLost(server: RequestTarget, { user, machine, families, machineTokens }: Issued) {
  const isActive = async (client: RegisteredClient, token: string): Promise<boolean> => {
    const { client_id, client_secret = '' } = client
    const answer = await postForm(server, '/v2/oauth/introspect', { token, client_id, client_secret })
    return answer.json<{ readonly active: boolean }>().active
  }
  const active = [
    ...(await inTurns(machineTokens, (token) => isActive(machine, token))),
    ...(await inTurns(families, ({ access_token }) => isActive(user, access_token))),
  ]
  const refreshed = await inTurns(families, ({ refresh_token = '' }) => refresh(server, user, refresh_token))
  return {
    access: active.filter((one) => !one).length,
    refresh: refreshed.filter(({ statusCode }) => statusCode !== 200).length,
  }
}

/** Works on the items, a few at once. */
async function inTurns<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (let start = 0; start < items.length; start += AT_ONCE)
    results.push(...(await Promise.all(items.slice(start, start + AT_ONCE).map(work))))
  return results
}
