import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openReader } from '../../tools/database-reader.ts'
import { freePorts } from '../../tools/free-ports.ts'
import { choice, readOptions, whole } from '../../tools/options.ts'
import { startPostgres } from '../../tools/postgres.ts'
import { openServerProcess } from '../../tools/server-process.ts'
import { beginSession, openFolder } from '../../tools/session.ts'
import { summarizeTimes } from '../../tools/statistics.ts'
import { openFindings, printReport } from '../findings.ts'
import { flood, KINDS, observe, registerMachine, type Experience } from './campaign.ts'

/** `npm run prove:flood`. See docs/proofs.md. */

const { registrations, networks, atOnce, quiet, store } = readOptions('prove:flood', {
  registrations: whole('hostile registrations', 100_000, [1, 1e7]),
  networks: whole('networks that they come from', 10_000, [1, 655_360]),
  atOnce: whole('hostile registrations at a time', 32, [1, 1000]),
  quiet: whole('seconds that the token endpoint is measured before the flood', 10, [1, 600]),
  store: choice('the store', ['sqlite', 'postgres']),
})
/** New clients of the server in one minute: those that come first, and the fair shares. */
const SERVER_RATE = 6000

beginSession()
const findings = openFindings()
const folder = openFolder()
const postgres = store === 'postgres' ? await startPostgres({ settings: { fsync: 'on' } }) : undefined
const created = await postgres?.createDatabase()
const databaseUrl = created?.url ?? `sqlite:${join(folder, 'grantor.db')}`
const [port = 0] = await freePorts(1)
const settings = { DATABASE_URL: databaseUrl, GRANTOR_TRUST_PROXY: '127.0.0.1', LOG_LEVEL: 'error' }
const server = openServerProcess({ port, folder, settings })
await server.start()
const machine = await registerMachine(port)

const before = await observe(port, machine, AbortSignal.timeout(quiet * 1000))
const reader = await openReader(created?.adminUrl ?? databaseUrl)
const [rowsBefore, bytesBefore] = await measure()
const end = new AbortController()
const observed = observe(port, machine, end.signal)
const startedAt = performance.now()
const counts = await flood(port, { registrations, networks, atOnce })
const seconds = (performance.now() - startedAt) / 1000
end.abort()
const during = await observed
// The count of the last second is written.
await delay(1500)
const [rows, bytes] = await measure()
const counted = await reader.read('select sum(count) from registration_counts')
await reader.close()
await server.stop()
await postgres?.remove()

const most = SERVER_RATE * (Math.floor(seconds / 60) + 2)
if (rows - rowsBefore > most)
  findings.report(`${rows - rowsBefore} rows in ${seconds.toFixed(0)} s; the bound is ${most}.`)
if (during.refused > 0) findings.report(`${during.refused} registrations of other networks were refused.`)
if (during.withoutToken > 0) findings.report(`${during.withoutToken} token requests got no token.`)
if (counted !== rows) findings.report(`${rows} clients are stored, and ${counted} were counted.`)
printReport(
  store,
  [
    `${registrations} registrations from ${networks} networks in ${seconds.toFixed(1)} s, ${atOnce} at a time`,
    ...KINDS.map((kind) => `  ${kind}: ${describeCounts(kind)}`),
    `rows: ${rows - rowsBefore} clients, at most ${most}; counted for the pool: ${counted}`,
    `bytes: ${((bytes - bytesBefore) / 1e6).toFixed(1)} MB, ${Math.round((bytes - bytesBefore) / Math.max(1, rows - rowsBefore))} for each client with its audit event`,
    `registrations of other networks meanwhile: ${during.registered}, refused: ${during.refused}`,
    `token endpoint before: ${describe(before)}`,
    `token endpoint during: ${describe(during)}`,
  ],
  findings,
)

async function measure(): Promise<readonly [rows: number, bytes: number]> {
  const { database, log } = await reader.readBytes()
  return [await reader.read('select count(*) from clients'), store === 'sqlite' ? database + log : database]
}

function describeCounts(kind: string): string {
  const own = [...counts]
    .filter(([key]) => key.startsWith(`${kind}: `))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
  return own.map(([key, count]) => `${count} × ${key.slice(kind.length + 2)}`).join(', ')
}

function describe({ tokenMs }: Experience): string {
  const { p50Ms, p99Ms, worstMs } = summarizeTimes(tokenMs)
  return `${tokenMs.length} requests, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, worst ${worstMs.toFixed(0)} ms`
}
