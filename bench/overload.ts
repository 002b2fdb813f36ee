import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startBare } from './bare.ts'
import { beginBench, giveUp, readOptionsOrExit } from './begin.ts'
import { chooseCores } from './children.ts'
import { openCodeMint } from './codes.ts'
import { startDatabase } from './database.ts'
import { openEndpoints, type Endpoint } from './endpoints.ts'
import type { Attack, HostileMessage } from './hostile-load.ts'
import { runHostileRounds } from './hostile-rounds.ts'
import { runSilent } from './hostile-silent.ts'
import { readOverloadOptions, USAGE, type OverloadOptions } from './overload-options.ts'
import type { OverloadMessage, OverloadOrder, OverloadRequest, OverloadResult } from './overload-order.ts'
import { isRight, renderOverload, type FloodRow, type OfferedRow, type OverloadReport } from './overload-report.ts'
import { readTreeUsage } from './process-tree.ts'
import { describeMachine, saveResult, today } from './result.ts'
import { startSubject, type Subject, type SubjectOptions } from './subject.ts'

/**
 * `npm run bench:overload` sends the real server more requests than it can serve: at a fixed rate that does not depend on the
 * answers, and over connections that never wait. Meanwhile it requests the endpoints that must be shed last. See
 * docs/performance.md.
 */

/** As in `npm run bench`. With this number a server reaches its highest rate. */
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
const LOOK_MS = 200
/** Time for the start and for loads that end slowly. */
const SPARE_MS = 3 * 60_000

const options = readOptionsOrExit(readOverloadOptions, USAGE)
const { folder, children } = beginBench(limitMs(options))

const cores = chooseCores()
const database = options.store === 'postgres' ? await startDatabase(cores?.generator) : undefined
const subjectOptions = {
  folder,
  core: cores?.servers,
  profileFolder: options.profileFolder,
  databaseUrl: (await database?.open())?.url,
  workers: 1,
  runtime: undefined,
}
const subject = await startSubject(children, subjectOptions)
try {
  const report = await overload(subject)
  console.log(renderOverload(report))
  if (options.save !== undefined) saveResult(report, options.save)
  process.exitCode = isRight(report) ? 0 : 1
  await children.end()
  await database?.close()
} catch (cause) {
  giveUp(`${String(cause)}\n${subject.readLog()}`)
}

async function overload({ pid, port, settings }: Subject): Promise<OverloadReport> {
  const mint = await openCodeMint(settings)
  const endpoints = await openEndpoints(port, mint)
  const bare = await startBare(children, cores?.servers)
  const [load, asker] = [await openLoad(), await openLoad()]
  const attack = await openAttack()
  const { seconds } = options
  const named = (name: string): Promise<OverloadRequest> => requestOf(endpoints, name)
  const request = await named(options.endpoint)
  const common = { port, seconds, requests: [request], rate: undefined, addresses: ['127.0.0.1'] }

  /** Runs one load together with the requests that must still be answered. */
  async function run(order: OverloadOrder) {
    const introspect = await named('introspect')
    const revoke = { ...introspect, name: 'revoke', path: '/v2/oauth/revoke', contains: '' }
    const shedLast = [
      ...(await Promise.all(SHED_LAST.map(named))),
      { ...revoke, bodies: (await named('introspect')).bodies },
    ]
    const last = shedLast.map((one) => ({ ...one, maybeShed: false }))
    await delay(PAUSE_MS)
    let residentBytes = 0
    const before = readTreeUsage(pid)
    const startMs = performance.now()
    const look = setInterval(() => {
      residentBytes = Math.max(residentBytes, readTreeUsage(pid)?.residentBytes ?? Number.NaN)
    }, LOOK_MS)
    const [result, shedLastResult] = await Promise.all([
      load(order),
      asker({ ...common, connections: 16, rate: SHED_LAST_RATE, requests: last }),
    ])
    clearInterval(look)
    const cpuMs = (readTreeUsage(pid)?.cpuMs ?? Number.NaN) - (before?.cpuMs ?? Number.NaN)
    const coreShare = cpuMs / (performance.now() - startMs)
    return { coreShare, result, shedLast: shedLastResult, residentMegabytes: residentBytes / 1e6 }
  }

  let capacity = 0
  for (let slice = 0; slice < WARM_UP_SLICES + CAPACITY_SLICES; slice += 1) {
    const result = await load({ ...common, connections: CAPACITY_CONNECTIONS })
    if (slice >= WARM_UP_SLICES) capacity = Math.max(capacity, servedBy(result))
  }
  const offered: OfferedRow[] = []
  for (const factor of options.factors) {
    console.error(`${(factor * capacity).toFixed(0)} requests a second …`)
    const rate = factor * capacity
    offered.push({ factor, rate, ...(await run({ ...common, connections: OFFERED_CONNECTIONS, rate })) })
  }
  const floods: FloodRow[] = []
  for (const connections of options.floods) {
    console.error(`${connections} connections that never wait …`)
    const row = await run({ ...common, connections })
    if (row.result.shed !== undefined) await bare.imitate(row.result.shed)
    const { shed } = row.result
    const order = { ...common, port: bare.port, connections }
    floods.push({
      connections,
      ...row,
      bare: shed && (await load({ ...order, requests: [{ ...request, status: 503, contains: '' }] })),
    })
  }
  const stage = { port, seconds, request, load, attack, rate: capacity * HEALTHY_FACTOR }
  const { hostile: sizes, rounds, silent: sockets } = options
  if (sizes.length > 0) console.error('A hostile network …')
  const hostile = sizes.length === 0 ? [] : await runHostileRounds({ ...stage, rounds, hostile: sizes })
  const silent =
    sockets === 0
      ? undefined
      : await runSilent({ children, subject: await silentSubject(), sockets, seconds: seconds * 6, load, attack })
  await mint.close()
  const machine = describeMachine()
  return { kind: 'overload', date: today(), machine, options, capacity, offered, floods, hostile, silent }
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

/** Uses a server and data of its own, so that the previous flood has no effect. */
async function silentSubject(): Promise<SubjectOptions> {
  const databaseUrl = (await database?.open())?.url ?? `sqlite:${join(folder, 'silent.db')}`
  return { ...subjectOptions, profileFolder: undefined, databaseUrl }
}

/** Starts the process of the hostile network. */
async function openAttack(): Promise<Attack> {
  const child = children.start({ script: new URL('./hostile-load.ts', import.meta.url), core: cores?.generator })
  await once(child, 'message')
  const next = async (): Promise<HostileMessage> => ((await once(child, 'message')) as [HostileMessage])[0]
  return async (order) => {
    const open = next()
    child.send(order)
    await open
    const end = next()
    return {
      async end() {
        const message = await end
        if (message.kind === 'done') return message.result
        throw new Error('The hostile network started twice.')
      },
    }
  }
}

/** Starts a process that generates load. */
async function openLoad(): Promise<(order: OverloadOrder) => Promise<OverloadResult>> {
  const child = children.start({ script: new URL('./overload-load.ts', import.meta.url), core: cores?.generator })
  await once(child, 'message')
  return async (order) => {
    const answer = once(child, 'message') as Promise<[OverloadMessage]>
    child.send(order)
    const [message] = await answer
    if (message.kind === 'done') return message.result
    throw new Error(message.kind === 'failed' ? message.reason : 'The load started twice.')
  }
}

/** The time limit: twice the expected time, and the time of the start. */
function limitMs({ seconds, factors, floods, hostile, rounds, silent }: OverloadOptions): number {
  const loads = WARM_UP_SLICES + CAPACITY_SLICES + factors.length + floods.length * 2 + (silent > 0 ? 6 : 0)
  const hostileLoads = rounds * (1 + hostile.length * 2)
  return SPARE_MS + loads * 2 * (seconds * 1000 + PAUSE_MS) + hostileLoads * 2 * (seconds * 1000 + 3 * PAUSE_MS)
}
