import { statSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { stopChildren } from '../../tools/process/children.ts'
import { startDatabase } from '../../tools/postgres/database.ts'
import { number, readOptions, STORE, whole } from '../../tools/options.ts'
import { openStoreOf } from '../../tools/runtime.ts'
import { formBody, receive } from '../../tools/send.ts'
import { newSecret } from '../../tools/process/server.ts'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { summarizeTimes } from '../../tools/statistics.ts'
import { fixed, renderTable } from '../../tools/table.ts'
import { FILLED_SETTINGS, fillPostgres, fillSqlite } from '../growth/fill.ts'
import { runCommand, startServer } from '../server.ts'

/**
 * How long a backup of a million clients takes, and how long token requests take meanwhile. The store also has as
 * many families and codes, and each caller requests a token every few milliseconds.
 */

const LIMIT_MS = 30 * 60_000
const PAUSE_MS = 5

interface Span {
  readonly name: string
  readonly seconds: number
  readonly tokenMs: readonly number[]
}

const { store, rows, callers, before } = readOptions({
  store: STORE,
  rows: whole('clients, families and codes', 1_000_000, [1, 1e8]),
  callers: whole('callers that request tokens', 4, [1, 1000]),
  before: number('seconds of requests before the backup', 10, [0.1, 600]),
})
beginSession(LIMIT_MS)
const folder = openFolder()
const database = store === 'postgres' ? await startDatabase(undefined) : undefined
const path = join(folder, 'grantor.db')
const databaseUrl = (await database?.open())?.url ?? `sqlite:${path}`
const secret = { DATABASE_URL: databaseUrl, GRANTOR_SECRET: newSecret() }
await (await openStoreOf(secret)).close()
const fill = { rows, now: Date.now() }
if (database === undefined) fillSqlite(path, fill)
else await fillPostgres(databaseUrl, fill)
const settings = { ...secret, ...FILLED_SETTINGS }
const file = join(folder, 'one.backup')
const server = await startServer({ folder, databaseUrl, settings })
const machine = await registerMachine()

await observe('warm-up', delay(before * 1000))
const spans = [
  await observe('before', delay(before * 1000)),
  await observe('during the backup', runCommand({ folder, settings }, ['backup', '--to', file])),
]
const megabytes = statSync(file).size / 1e6
console.log(
  [
    `${store}, ${rows} clients, families and codes; backup of ${fixed(megabytes, 0)} MB; ${callers} callers\n`,
    renderTable(spans, [
      ['', ({ name }) => name],
      ['seconds', ({ seconds }) => fixed(seconds, 1)],
      ['tokens', ({ tokenMs }) => String(tokenMs.length)],
      ['p50 ms', ({ tokenMs }) => fixed(summarizeTimes(tokenMs).p50Ms, 1)],
      ['p99 ms', ({ tokenMs }) => fixed(summarizeTimes(tokenMs).p99Ms, 1)],
      ['worst ms', ({ tokenMs }) => fixed(summarizeTimes(tokenMs).worstMs, 0)],
    ]),
  ].join('\n'),
)
await stopChildren()
await database?.close()

/** Requests tokens until the work has ended. @throws Error if a request gets none */
async function observe(name: string, work: Promise<unknown>): Promise<Span> {
  const agent = new Agent({ keepAlive: true })
  const tokenMs: number[] = []
  const startedAt = performance.now()
  const end = new AbortController()
  const over = work.finally(() => end.abort())
  async function call(): Promise<void> {
    while (!end.signal.aborted) {
      const sentAt = performance.now()
      const form = formBody({ ...machine, grant_type: 'client_credentials' })
      const { status } = await receive({ port: server.port, path: '/v2/oauth/token', agent, ...form })
      if (status !== 200) throw new Error(`A token request was answered ${status}.`)
      tokenMs.push(performance.now() - sentAt)
      await delay(PAUSE_MS)
    }
  }
  await Promise.all([over, ...Array.from({ length: callers }, call)])
  agent.destroy()
  return { name, seconds: (performance.now() - startedAt) / 1000, tokenMs }
}

async function registerMachine(): Promise<Readonly<Record<string, string>>> {
  const body = JSON.stringify({ grant_types: ['client_credentials'] })
  const headers = { 'content-type': 'application/json' }
  const answer = await receive({ port: server.port, path: '/v2/oauth/register', headers, body })
  const { client_id: id = '', client_secret: key = '' } = JSON.parse(answer.body) as Readonly<Record<string, string>>
  return { client_id: id, client_secret: key }
}
