import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePorts } from '../../tools/process/free-ports.ts'
import { readMachine, today } from '../../tools/machine.ts'
import { readOptions, SAVE, STORE, string, whole } from '../../tools/options.ts'
import { startDatabase } from '../../tools/postgres/database.ts'
import { readTreeUsage, type Usage } from '../../tools/process/usage.ts'
import { openStoreOf } from '../../tools/runtime.ts'
import { newSecret, openServerProcess } from '../../tools/process/server.ts'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { FILLED_SETTINGS, fillPostgres, fillSqlite } from '../growth/fill.ts'
import { saveResult } from '../results.ts'
import { renderStarts, type StartResult, type Starts } from './report.ts'

/**
 * The time from a start until the server is ready, and until it has counted its grants; its idle memory. It uses an empty store, and one
 * with a million clients, families and codes. The first start counts them, the later ones know the number. `npm run docs` writes the idle
 * memory of the newest result with `--save start` into the pages that name it.
 */

const IDLE_MS = 5000
const LIMIT_MS = 30_000
const COUNT_LIMIT_MS = 10 * 60_000
const POLL_MS = 100
const POLL_READY_MS = 2
const BARE = 'bench/start/bare.js'
const FILL_LIMIT_MS = 15 * 60_000

interface Started {
  readonly readyMs: number
  readonly cpuMs: number
  readonly countedMs: number
  readonly idle: Usage | undefined
}

const { clients, rounds, store, script, save } = readOptions({
  clients: whole('clients, families and codes in the second store; 0: none', 1_000_000, [0, 1e8]),
  rounds: whole('starts with each store', 7, [1, 100]),
  store: STORE,
  script: string('path', 'start this program too, such as that of the package: dist/package/bin/grantor.js'),
  save: SAVE,
})
beginSession(FILL_LIMIT_MS + COUNT_LIMIT_MS + 2 * rounds * (IDLE_MS + LIMIT_MS))
const folder = openFolder()
const database = store === 'postgres' ? await startDatabase(undefined) : undefined
const programs = ['bin/grantor.js', ...(script === undefined ? [] : [script])]
const rows: Starts[] = []
const bareCpuMs: number[] = []
try {
  for (const size of new Set([0, clients])) rows.push(...(await measure(size)))
} finally {
  await database?.close()
}
const result: StartResult = { kind: 'start', date: today(), machine: readMachine(), rows, bareCpuMs }
console.log(renderStarts(result))
saveResult(result, save)

/** Starts the programs in turn. */
async function measure(size: number): Promise<readonly Starts[]> {
  const path = join(folder, `${size}.db`)
  const url = database === undefined ? `sqlite:${path}` : (await database.open()).url
  const settings = { DATABASE_URL: url, GRANTOR_SECRET: newSecret(), ...FILLED_SETTINGS }
  await (await openStoreOf(settings)).close()
  const fill = { rows: size, now: Date.now() }
  if (size > 0) await (database === undefined ? fillSqlite(path, fill) : fillPostgres(url, fill))
  await database?.settle()
  const started = programs.map((program) => ({ program, starts: [] as Started[] }))
  for (let round = 0; round < rounds; round += 1) {
    const [port = 0] = await freePorts(1)
    const bare = openServerProcess({ folder, port, settings: {}, script: BARE, pollMs: POLL_READY_MS })
    await bare.start()
    bareCpuMs.push(readTreeUsage(bare.pid)?.cpuMs ?? Number.NaN)
    bare.kill()
    for (const { program, starts } of started) starts.push(await startOnce(program, settings))
  }
  return started.map(({ program, starts }) => ({
    program,
    size,
    readyMs: starts.map(({ readyMs }) => readyMs),
    countedMs: starts.map(({ countedMs }) => countedMs),
    idleMegabytes: starts.map(({ idle }) => (idle?.residentBytes ?? Number.NaN) / 1e6),
    cpuMs: starts.map(({ cpuMs }) => cpuMs),
    anonymousMegabytes: starts.map(({ idle }) => (idle?.anonymousBytes ?? Number.NaN) / 1e6),
  }))
}

async function startOnce(program: string, settings: Readonly<Record<string, string>>): Promise<Started> {
  const [port = 0, adminPort = 0] = await freePorts(2)
  const ofStart = { ...settings, GRANTOR_ADMIN_PORT: String(adminPort) }
  const server = openServerProcess({ folder, port, settings: ofStart, script: program, pollMs: POLL_READY_MS })
  const startedAt = performance.now()
  await server.start()
  const readyMs = performance.now() - startedAt
  const cpuMs = readTreeUsage(server.pid)?.cpuMs ?? Number.NaN
  await grantsCounted(adminPort)
  const countedMs = performance.now() - startedAt
  await delay(IDLE_MS)
  const idle = readTreeUsage(server.pid)
  await server.stop()
  return { readyMs, cpuMs, countedMs, idle }
}

/** Waits until the metrics have a number of grants. */
async function grantsCounted(adminPort: number): Promise<void> {
  const until = performance.now() + COUNT_LIMIT_MS
  while (performance.now() < until) {
    const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()
    if (/^grantor_grants\{/m.test(metrics)) return
    await delay(POLL_MS)
  }
  throw new Error('The grants were not counted in ten minutes.')
}
