import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { SERVER_TOKENS } from '../../src/admin/api/api.ts'
import { MAXIMA } from '../../src/base/maxima.ts'
import type { Resource } from '../../src/protocol/token/resource.ts'
import { number, readOptions, whole } from '../../tools/options.ts'
import { readTreeUsage } from '../../tools/process/usage.ts'
import { newSecret } from '../../tools/process/server.ts'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { openStoreOf } from '../../tools/runtime.ts'
import { formBody, receive, type OutgoingRequest } from '../../tools/send.ts'
import { median } from '../../tools/statistics.ts'
import { fixed, renderTable } from '../../tools/table.ts'
import { startServer } from '../server.ts'

/**
 * What requests cost with the most APIs and scopes: a token, and 100 scopes that no API has. It ends with an error if the second costs more than
 * `--gate` times the first.
 */

const LIMIT_MS = 15 * 60_000
/** A node knows the APIs of another process after a second. */
const KNOWN_MS = 3000

const { apis, scopes, requests, rounds, gate } = readOptions({
  apis: whole('APIs', MAXIMA.apis.most, [1, MAXIMA.apis.most]),
  scopes: whole('scopes of each API', MAXIMA.scopesOfApi.most, [1, MAXIMA.scopesOfApi.most]),
  requests: whole('requests of each kind in a round', 500, [1, 1e6]),
  rounds: whole('rounds', 5, [1, 100]),
  gate: number('the highest ratio of the median times', 2, [0.1, 1000]),
})
beginSession(LIMIT_MS)
const folder = openFolder()
const settings = { DATABASE_URL: `sqlite:${folder}/grantor.db`, GRANTOR_SECRET: newSecret() }
await declare()
const server = await startServer({ folder, databaseUrl: settings.DATABASE_URL, settings })
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const machine = await registerMachine()
await delay(KNOWN_MS)

const unknown = Array.from({ length: 100 }, (_, index) => `unknown:${index}`).join(' ')
const KINDS: readonly Kind[] = [
  { name: 'a token', sent: token({ scope: nameOf(apis - 1, 0) }), status: 200 },
  { name: '100 unknown scopes', sent: token({ scope: unknown }), status: 400 },
  { name: 'metadata of the server', sent: { path: '/.well-known/oauth-authorization-server' }, status: 200 },
]

interface Kind {
  readonly name: string
  readonly sent: Pick<OutgoingRequest, 'path' | 'headers' | 'body'>
  readonly status: number
}

interface Measured {
  readonly name: string
  readonly bytes: number
  /** The median time of a request, and processor time for each, by round. */
  readonly ms: readonly number[]
  readonly cpuMs: readonly number[]
}

const measured = KINDS.map((kind) => ({ ...kind, bytes: 0, ms: [] as number[], cpuMs: [] as number[] }))
for (const kind of measured) await measure(kind)
for (let round = 0; round < rounds; round += 1)
  for (const kind of measured) {
    const { bytes, ms, cpuMs } = await measure(kind)
    kind.bytes = bytes
    kind.ms.push(ms)
    kind.cpuMs.push(cpuMs)
  }
await server.stop()

const [usual, hostile] = measured.map(({ ms }) => median(ms)) as [number, number]
console.log(`${apis} APIs with ${scopes} scopes each; ${rounds} rounds of ${requests} requests, one after the other\n`)
console.log(
  renderTable<Measured>(measured, [
    ['request', ({ name }) => name],
    ['ms, median', ({ ms }) => fixed(median(ms), 3)],
    ['processor ms', ({ cpuMs }) => fixed(median(cpuMs), 3)],
    ['bytes', ({ bytes }) => String(bytes)],
  ]),
)
const ratio = hostile / usual
console.log(`\n100 unknown scopes cost ${fixed(ratio, 2)} times as much as a token (at most ${gate}).`)
if (ratio > gate) process.exitCode = 1

async function measure({ sent, status }: Kind) {
  const times: number[] = []
  const cpuBefore = readTreeUsage(server.pid)?.cpuMs ?? Number.NaN
  let bytes = 0
  for (let count = 0; count < requests; count += 1) {
    const startedAt = performance.now()
    const answer = await receive({ port: server.port, agent, ...sent })
    times.push(performance.now() - startedAt)
    if (answer.status !== status) throw new Error(`${sent.path} was answered ${answer.status}: ${answer.body}`)
    bytes = answer.body.length
  }
  const cpuMs = ((readTreeUsage(server.pid)?.cpuMs ?? Number.NaN) - cpuBefore) / requests
  return { ms: median(times), cpuMs, bytes }
}

function nameOf(api: number, scope: number): string {
  return `api-${api}:scope-${scope}:read`
}

/** Declares the APIs in the store, where `grantor api create` would read all of them for each. */
async function declare(): Promise<void> {
  const { context, close } = await openStoreOf(settings)
  const createdAt = context.clock()
  for (let api = 0; api < apis; api += 1) {
    const names = Array.from({ length: scopes }, (_, scope) => nameOf(api, scope))
    await context.store.declareApi({
      resource: `https://api-${api}.example` as Resource,
      name: undefined,
      scopes: names.map((name) => ({ name, sentence: 'Read what is yours', grantedTo: 'users-and-machines' })),
      tokens: SERVER_TOKENS,
      groups: undefined,
      exchange: [],
      createdAt,
    })
  }
  await close()
}

async function registerMachine(): Promise<Readonly<Record<string, string>>> {
  const body = JSON.stringify({ grant_types: ['client_credentials'] })
  const headers = { 'content-type': 'application/json' }
  const answer = await receive({ port: server.port, path: '/v2/oauth/register', headers, body })
  const { client_id, client_secret } = JSON.parse(answer.body) as Record<'client_id' | 'client_secret', string>
  return { client_id, client_secret }
}

function token(form: Readonly<Record<string, string>>): Pick<OutgoingRequest, 'path' | 'headers' | 'body'> {
  return { path: '/v2/oauth/token', ...formBody({ grant_type: 'client_credentials', ...machine, ...form }) }
}
