import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePorts } from '../../tools/process/free-ports.ts'
import { readOptions, whole } from '../../tools/options.ts'
import { readTreeUsage } from '../../tools/process/usage.ts'
import { openStoreOf } from '../../tools/runtime.ts'
import { newSecret, openServerProcess } from '../../tools/process/server.ts'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { median } from '../../tools/statistics.ts'
import { fixed, renderTable } from '../../tools/table.ts'
import { fillSqlite } from '../growth/fill.ts'

/**
 * The time from the start of a server until it is ready, and its memory when it is idle. It uses an empty SQLite
 * file, and one with a million clients, families and codes.
 */

const IDLE_MS = 5000
const LIMIT_MS = 30_000
const FILL_LIMIT_MS = 15 * 60_000

interface Starts {
  readonly size: number
  readonly readyMs: readonly number[]
  readonly idleMegabytes: readonly number[]
}

const { clients, rounds } = readOptions({
  clients: whole('clients, families and codes in the second file', 1_000_000, [1, 1e8]),
  rounds: whole('starts with each file', 7, [1, 100]),
})
beginSession(FILL_LIMIT_MS + 2 * rounds * (IDLE_MS + LIMIT_MS))
const folder = openFolder()

const rows = [await measure(0), await measure(clients)]
console.log(
  renderTable(rows, [
    ['clients', ({ size }) => (size === 0 ? 'empty' : String(size))],
    ['ready ms, best', ({ readyMs }) => fixed(Math.min(...readyMs), 0)],
    ['median', ({ readyMs }) => fixed(median(readyMs), 0)],
    ['worst', ({ readyMs }) => fixed(Math.max(...readyMs), 0)],
    ['idle RSS MB', ({ idleMegabytes }) => fixed(median(idleMegabytes), 0)],
  ]),
)

async function measure(size: number): Promise<Starts> {
  const path = join(folder, `${size}.db`)
  const settings = { DATABASE_URL: `sqlite:${path}`, GRANTOR_SECRET: newSecret() }
  await (await openStoreOf(settings)).close()
  if (size > 0) fillSqlite(path, { rows: size, now: Date.now() })
  const [readyMs, idleMegabytes]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    const [port = 0] = await freePorts(1)
    const server = openServerProcess({ folder, port, settings, script: 'bin/grantor.js', pollMs: 2 })
    const startedAt = performance.now()
    await server.start()
    readyMs.push(performance.now() - startedAt)
    await delay(IDLE_MS)
    idleMegabytes.push((readTreeUsage(server.pid)?.residentBytes ?? Number.NaN) / 1e6)
    await server.stop()
  }
  return { size, readyMs, idleMegabytes }
}
