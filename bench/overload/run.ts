import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { chooseCores, stopChildren } from '../../tools/process/children.ts'
import { startDatabase } from '../../tools/postgres/database.ts'
import { freePorts } from '../../tools/process/free-ports.ts'
import { readMachine, today } from '../../tools/machine.ts'
import { readOptions } from '../../tools/options.ts'
import { readTreeUsage, watchMemory } from '../../tools/process/usage.ts'
import type { ServerProcess } from '../../tools/process/server.ts'
import { beginSession, giveUp, openFolder } from '../../tools/process/session.ts'
import { openCodeMint } from '../codes.ts'
import { openEndpoints, type Endpoint } from '../endpoints.ts'
import { startBareServer } from '../load/bare-server.ts'
import { saveResult } from '../results.ts'
import { startServer } from '../server.ts'
import { runConsoleFloods } from './console.ts'
import { startAttacker } from './hostile-load.ts'
import { runHostileRounds } from './hostile-rounds.ts'
import { limitOfIndexing, runIndexing } from './indexing.ts'
import { runSilent, silentLibrary, silentServer, type SilentRow } from './hostile-silent.ts'
import { startLoad } from './load.ts'
import { OPTIONS, type OverloadOptions } from './options.ts'
import type { OverloadPlan, OverloadRequest, OverloadResult } from './plan.ts'
import { isRight, renderOverload, type FloodRow, type OfferedRow, type OverloadReport } from './report.ts'

/**
 * More load than the server can serve, and hostile networks. Requests come at a fixed rate that does not depend on
 * the answers, and over connections that never wait. Meanwhile it requests the endpoints that must be shed last. See
 * docs/performance.md.
 */

/** As in `npm run bench throughput`. With this number a server reaches its highest rate. */
const CAPACITY_CONNECTIONS = 64
/** V8 compiles hot functions during these slices. */
const WARM_UP_SLICES = 3
/** The best of these slices counts, because other load on the machine only lowers the rate. */
const CAPACITY_SLICES = 3
/** Connections for a fixed rate: more than wait for an answer at any time. */
const OFFERED_CONNECTIONS = 3000
const SHED_LAST = ['metadata', 'jwks', 'introspect']
const SHED_LAST_RATE = 40
/** The rate of healthy clients during an attack, as a share of the server's capacity. */
const HEALTHY_FACTOR = 0.3
const PAUSE_MS = 1000
/** Time for the start and for loads that end slowly. */
const SPARE_MS = 3 * 60_000

const options = readOptions(OPTIONS)
beginSession(limitMs(options))
const folder = openFolder()
const cores = chooseCores()
const database = options.store === 'postgres' ? await startDatabase(cores?.generator) : undefined
const common = { folder, core: cores?.servers }
const databaseUrl = (await database?.open())?.url
const [adminPort] = await freePorts(1)
const server = await startServer({
  ...common,
  databaseUrl,
  profile: options.profile,
  settings: options.console ? { GRANTOR_ADMIN_PORT: String(adminPort) } : {},
})
try {
  const report = await overload(server)
  console.log(renderOverload(report))
  saveResult(report, options.save)
  process.exitCode = isRight(report) ? 0 : 1
  await stopChildren()
  await database?.close()
} catch (cause) {
  giveUp(`${String(cause)}\n${server.readLog()}`)
}

async function overload(running: ServerProcess): Promise<OverloadReport> {
  const { pid, port, settings } = running
  const mint = await openCodeMint(settings)
  const endpoints = await openEndpoints(port, mint)
  const bare = await startBareServer(cores?.servers)
  const [load, loadBeside] = [await startLoad(cores?.generator), await startLoad(cores?.generator)]
  const attack = await startAttacker(cores?.generator)
  const { seconds } = options
  const named = (name: string): Promise<OverloadRequest> => requestOf(endpoints, name)
  const request = await named(options.endpoint)
  const plan = { port, seconds, requests: [request], rate: undefined, addresses: ['127.0.0.1'] }

  /** Runs one load together with the requests that must still be answered. */
  async function run(mainPlan: OverloadPlan) {
    const revoke = { ...(await named('introspect')), name: 'revoke', path: '/v2/oauth/revoke', contains: '' }
    const requests = [...(await Promise.all(SHED_LAST.map(named))), revoke]
    await delay(PAUSE_MS)
    const cpuMs = (): number => readTreeUsage(pid)?.cpuMs ?? Number.NaN
    const [cpuBefore, startMs, memory] = [cpuMs(), performance.now(), watchMemory(pid)]
    const [result, shedLast] = await Promise.all([
      load(mainPlan),
      loadBeside({
        ...plan,
        connections: 16,
        rate: SHED_LAST_RATE,
        requests: requests.map((one) => ({ ...one, maybeShed: false })),
      }),
    ])
    const coreShare = (cpuMs() - cpuBefore) / (performance.now() - startMs)
    return { coreShare, result, shedLast, residentMegabytes: memory.end() }
  }

  let capacity = 0
  for (let slice = 0; slice < WARM_UP_SLICES + CAPACITY_SLICES; slice += 1) {
    const result = await load({ ...plan, connections: CAPACITY_CONNECTIONS })
    if (slice >= WARM_UP_SLICES) capacity = Math.max(capacity, servedBy(result))
  }
  const offered: OfferedRow[] = []
  for (const factor of options.factors) {
    const rate = factor * capacity
    console.error(`${rate.toFixed(0)} requests a second …`)
    offered.push({ factor, rate, ...(await run({ ...plan, connections: OFFERED_CONNECTIONS, rate })) })
  }
  const floods: FloodRow[] = []
  for (const connections of options.floods) {
    console.error(`${connections} connections that never wait …`)
    const row = await run({ ...plan, connections })
    const { shed } = row.result
    if (shed !== undefined) await bare.imitate(shed)
    const barePlan = { ...plan, port: bare.port, connections, requests: [{ ...request, status: 503, contains: '' }] }
    floods.push({ connections, ...row, bare: shed && (await load(barePlan)) })
  }
  const { hostile: sizes, rounds, silent: sockets } = options
  if (sizes.length > 0) console.error('A hostile network …')
  const hostileSetup = { port, seconds, request, load, attack, rate: capacity * HEALTHY_FACTOR, rounds, hostile: sizes }
  const hostile = sizes.length === 0 ? [] : await runHostileRounds(hostileSetup)
  if (options.console) console.error('The console …')
  const besides = { server: running, seconds, rounds, rate: capacity * HEALTHY_FACTOR, request, load, attack }
  const consoleRows = options.console ? await runConsoleFloods(besides) : []
  if (options.indexing) console.error('The index of users …')
  const indexing = options.indexing ? await runIndexing(besides) : []
  const silent: SilentRow[] = []
  // Data of its own, so that the previous flood has no effect.
  const newDatabase = async (name: string) => (await database?.open())?.url ?? `sqlite:${join(folder, name)}`
  for (const open of sockets === 0 ? [] : [silentServer, silentLibrary]) {
    const start = open({ ...common, databaseUrl: await newDatabase(`${open.name}.db`) })
    silent.push(await runSilent({ start, sockets, seconds: seconds * 6, load, attack }))
  }
  await mint.close()
  const machine = readMachine()
  return {
    kind: 'overload',
    date: today(),
    machine,
    options,
    capacity,
    offered,
    floods,
    hostile,
    silent,
    console: consoleRows,
    indexing,
  }
}

async function requestOf(endpoints: readonly Endpoint[], name: string): Promise<OverloadRequest> {
  const endpoint = endpoints.find((one) => one.name === name)
  if (endpoint === undefined) throw new Error(`There is no ${name}.`)
  const { method, path, contentType, status, contains } = endpoint
  return { name, method, path, contentType, status, contains, bodies: await endpoint.prepare(1, 1), maybeShed: true }
}

function servedBy({ kinds }: OverloadResult): number {
  return kinds.find(({ kind }) => kind === 'served')?.perSecond ?? 0
}

/** The time limit: twice the expected time, and the time of the start. */
function limitMs({ seconds, factors, floods, hostile, rounds, silent, console: isConsole, indexing }: OverloadOptions) {
  const loads = WARM_UP_SLICES + CAPACITY_SLICES + factors.length + floods.length * 2 + (silent > 0 ? 12 : 0)
  const besides = rounds * (1 + hostile.length * 2 + (isConsole ? 5 : 0) + (indexing ? 2 : 0))
  const indexingMs = indexing ? limitOfIndexing(rounds) : 0
  return SPARE_MS + loads * 2 * (seconds * 1000 + PAUSE_MS) + besides * 2 * (seconds * 1000 + 3 * PAUSE_MS) + indexingMs
}
