import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openReader } from '../../tools/postgres/database-reader.ts'
import { freePorts } from '../../tools/process/free-ports.ts'
import { startProgram } from '../../tools/process/program.ts'
import { startPostgres } from '../../tools/postgres/postgres.ts'
import { openServerProcess } from '../../tools/process/server.ts'
import { openFolder } from '../../tools/process/session.ts'
import { summarizeTimes } from '../../tools/statistics.ts'
import { openFindings, printReport } from '../findings.ts'
import {
  flood,
  KINDS,
  observe,
  registerMachine,
  type Counts,
  type Experience,
  type FloodPlan,
  type FloodTarget,
} from './campaign.ts'

/** Registrations from many networks, against one server with the default rates. */
export interface RegistrationsPlan extends FloodPlan {
  /** Seconds that the token endpoint is measured before the flood. */
  readonly quiet: number
  readonly store: 'sqlite' | 'postgres'
  readonly host: 'server' | 'library'
}

/** New clients of the server in one minute: those that come first, and the fair shares. */
const SERVER_RATE = 6000

export async function proveRegistrations(plan: RegistrationsPlan): Promise<void> {
  const { registrations, networks, atOnce, quiet, store, host } = plan
  const findings = openFindings()
  const folder = openFolder()
  const postgres = store === 'postgres' ? await startPostgres({ settings: { fsync: 'on' } }) : undefined
  const created = await postgres?.createDatabase()
  const databaseUrl = created?.url ?? `sqlite:${join(folder, 'grantor.db')}`
  const { target, stop } = await start(host, folder, databaseUrl)
  const machine = await registerMachine(target)

  const before = await observe(target, machine, AbortSignal.timeout(quiet * 1000))
  const reader = await openReader(created?.adminUrl ?? databaseUrl)
  const [rowsBefore, bytesBefore] = await measure()
  const end = new AbortController()
  const observed = observe(target, machine, end.signal)
  const startedAt = performance.now()
  const counts = await flood(target, { registrations, networks, atOnce })
  const seconds = (performance.now() - startedAt) / 1000
  end.abort()
  const during = await observed
  // The count of the last second is written.
  await delay(1500)
  const [rows, bytes] = await measure()
  const counted = await reader.read('select sum(count) from registration_counts')
  await reader.close()
  await stop()
  await postgres?.remove()

  const most = SERVER_RATE * (Math.floor(seconds / 60) + 2)
  if (rows - rowsBefore > most)
    findings.report(`${rows - rowsBefore} rows in ${seconds.toFixed(0)} s; the bound is ${most}.`)
  if (during.refused > 0) findings.report(`${during.refused} registrations of other networks were refused.`)
  if (during.withoutToken > 0) findings.report(`${during.withoutToken} token requests got no token.`)
  if (counted !== rows) findings.report(`${rows} clients are stored, and ${counted} were counted.`)
  printReport(
    `${host}, ${store}`,
    [
      `${registrations} registrations from ${networks} networks in ${seconds.toFixed(1)} s, ${atOnce} at a time`,
      ...KINDS.map((kind) => `  ${kind}: ${describeCounts(counts, kind)}`),
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
}

/** Starts the server, or the example of a host of node:http. */
async function start(
  host: RegistrationsPlan['host'],
  folder: string,
  databaseUrl: string,
): Promise<{ readonly target: FloodTarget; readonly stop: () => Promise<unknown> }> {
  const [port = 0] = await freePorts(1)
  if (host === 'server') {
    const settings = { DATABASE_URL: databaseUrl, GRANTOR_TRUST_PROXY: '127.0.0.1', LOG_LEVEL: 'error' }
    const server = openServerProcess({ port, folder, settings })
    await server.start()
    return { target: { port, path: '' }, stop: server.stop }
  }
  const { stop } = await startProgram({
    command: [process.execPath, 'examples/library/node-http.js'],
    folder: fileURLToPath(new URL('../..', import.meta.url)),
    environment: { PORT: String(port), DATABASE_URL: databaseUrl, TRUST_PROXY: '127.0.0.1' },
    address: `http://localhost:${port}`,
  })
  return { target: { port, path: '/auth' }, stop }
}

function describeCounts(counts: Counts, kind: string): string {
  const own = [...counts]
    .filter(([key]) => key.startsWith(`${kind}: `))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
  return own.map(([key, count]) => `${count} × ${key.slice(kind.length + 2)}`).join(', ')
}

function describe({ tokenMs }: Experience): string {
  const { p50Ms, p99Ms, worstMs } = summarizeTimes(tokenMs)
  return `${tokenMs.length} requests, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, worst ${worstMs.toFixed(0)} ms`
}
