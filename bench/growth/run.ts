import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startDatabase } from '../../tools/postgres/database.ts'
import { readMachine, today } from '../../tools/machine.ts'
import { flag, list, readOptions, SAVE, STORE, string, whole } from '../../tools/options.ts'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { quantile } from '../../tools/statistics.ts'
import { saveResult } from '../results.ts'
import { measureConsole } from './console.ts'
import {
  renderConsole,
  renderGrowth,
  renderSearch,
  type ConsoleResult,
  type GrowthCost,
  type GrowthResult,
  type GrowthWhole,
  type SearchResult,
} from './report.ts'
import { measureSearch } from './search.ts'
import { forgetPages, measureSweep, readDiskBytes, readPages, readRowBytes } from './size.ts'
import { openFilledStore, type FilledStore } from './store.ts'

/**
 * The cost of each store operation with up to millions of rows. Users, clients and the operations are in random order, and each operation
 * works on a random row. Of SQLite also where the file is not in memory; of the largest store the bytes of a row, opening, doctor, backup and
 * a round of the sweep with a moved clock. The store is called directly, 64 operations at a time, and every commit is synced. The sizes take
 * turns, so that other load on the machine affects all of them.
 */

const AT_ONCE = 64
/** Each round begins with a quarter of its operations as a warm-up, which is not counted. */
const WARM_UP_PART = 4
/** Operations whose bytes in the write-ahead log are counted. */
const COUNTED = 2048
/** After this time the log is moved into the database file, so that the next measurement does not pay for it. */
const SETTLE_MS = 600
/** The doctor finds that no server listens. */
const JUDGED = [0, 1]
/** Time limit for filling and measuring one size. The index of a search of millions of users takes a third of it. */
const SIZE_LIMIT_MS = 30 * 60_000

const {
  sizes,
  store,
  rounds,
  operations,
  console: isConsole,
  search: isSearch,
  visits,
  profile,
  save,
} = readOptions({
  sizes: list(whole('numbers of rows of each kind', 0, [1000, 1e8]), '100000,2000000'),
  store: STORE,
  rounds: whole('rounds with each size, or of ten seconds of sign-ups with --search', 3, [1, 100]),
  operations: whole('operations in each round', 10_000, [AT_ONCE, 1e6]),
  console: flag('measure the screens of the console instead, with the largest number of rows'),
  search: flag('measure the search of users instead, with the largest number of rows'),
  visits: whole('requests for each screen', 40, [1, 10_000]),
  profile: string('folder', 'write a CPU profile of the server of the console to this folder'),
  save: SAVE,
})
beginSession(sizes.length * SIZE_LIMIT_MS)
const folder = openFolder()
const database = store === 'postgres' ? await startDatabase(undefined) : undefined
const stores: FilledStore[] = []
try {
  if (isConsole) await measureScreens()
  else if (isSearch) await measureSearches()
  else await measureOperations()
} finally {
  for (const opened of stores) await opened.close()
  await database?.close()
}

async function measureScreens(): Promise<void> {
  const rows = Math.max(...sizes)
  const screens = await measureConsole({ rows, folder, database, visits, profile })
  const result: ConsoleResult = { kind: 'console', date: today(), machine: readMachine(), store, rows, visits, screens }
  console.log(renderConsole(result))
  saveResult(result, save)
}

async function measureSearches(): Promise<void> {
  const users = Math.max(...sizes)
  const times = await measureSearch(users, rounds, folder, database)
  const result: SearchResult = { kind: 'search', date: today(), machine: readMachine(), store, users, ...times }
  console.log(renderSearch(result))
  saveResult(result, save)
}

async function measureOperations(): Promise<void> {
  for (const rows of sizes) {
    const startedAt = performance.now()
    stores.push(await openFilledStore(rows, folder, database))
    console.error(`${rows} families in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`)
  }
  const costs: GrowthCost[] = []
  for (const operation of Object.keys(stores[0]?.operations ?? {})) costs.push(...(await measure(operation)))
  const largest = stores.reduce((one, other) => (other.rows > one.rows ? other : one))
  const asWhole = await measureWhole(largest)
  const result: GrowthResult = {
    kind: 'growth',
    date: today(),
    machine: readMachine(),
    store,
    operations,
    costs,
    whole: asWhole,
  }
  console.log(renderGrowth(result))
  saveResult(result, save)
}

/** Measures what the store takes as a whole. The sweep is last: it removes rows. */
async function measureWhole(filled: FilledStore): Promise<GrowthWhole> {
  const { rows, path, openingMs, command, context, reader, url } = filled
  const rowBytes = await readRowBytes(url)
  const isFile = path !== undefined
  const fileBytes = isFile
    ? (await reader.readBytes()).database
    : await reader.read('select pg_database_size(current_database())')
  const doctor = isFile ? await command(JUDGED, 'doctor') : undefined
  const doctorDeep = isFile ? await command(JUDGED, 'doctor', '--deep') : undefined
  const backup = isFile ? await command([0], 'backup', '--to', join(folder, 'growth.backup')) : undefined
  const sweep = await measureSweep(context, rows)
  return { rows, fileBytes, rowBytes, sweep, openingMs, doctor, doctorDeep, backup }
}

async function measure(operation: string): Promise<readonly GrowthCost[]> {
  const largest = Math.max(...stores.map(({ rows }) => rows))
  const turns = stores.flatMap((filled) => {
    const turn = (pages: GrowthCost['pages']) => ({
      filled,
      pages,
      wallMicros: [] as number[],
      cpuMicros: [] as number[],
      times: [] as number[],
      readBytes: 0,
    })
    return filled.path !== undefined && filled.rows === largest
      ? [turn('in memory'), turn('on the disk')]
      : [turn('in memory')]
  })
  for (let round = 0; round < rounds; round += 1) {
    for (const turn of turns) {
      const { filled, pages, wallMicros, cpuMicros, times } = turn
      const run = runOf(filled, operation)
      const isCold = pages === 'on the disk' && filled.path !== undefined
      if (isCold) {
        await filled.reader.countLogBytes(async () => {})
        forgetPages(filled.path)
      } else {
        if (filled.path !== undefined) readPages(filled.path)
        await repeat(run, Math.ceil(operations / WARM_UP_PART))
      }
      const readBefore = readDiskBytes()
      const cpu = process.cpuUsage()
      const before = performance.now()
      await repeat(run, operations, times)
      wallMicros.push(((performance.now() - before) * 1000) / operations)
      await delay(SETTLE_MS)
      const { user, system } = process.cpuUsage(cpu)
      cpuMicros.push((user + system) / operations)
      turn.readBytes += (readDiskBytes() - readBefore) / operations / rounds
    }
  }
  const costs: GrowthCost[] = []
  for (const { filled, pages, wallMicros, cpuMicros, times, readBytes } of turns) {
    const bytes = await filled.reader.countLogBytes(() => repeat(runOf(filled, operation), COUNTED))
    const [p50Ms, p99Ms] = [quantile(times, 0.5), quantile(times, 0.99)]
    costs.push({
      operation,
      rows: filled.rows,
      pages,
      wallMicros,
      cpuMicros,
      logBytes: bytes / COUNTED,
      p50Ms,
      p99Ms,
      readBytes,
    })
  }
  return costs
}

function runOf({ operations: known }: FilledStore, name: string): () => Promise<void> {
  const run = known[name]
  if (run === undefined) throw new Error(`There is no operation ${name}.`)
  return run
}

/** `durations`: gets the milliseconds of each. */
async function repeat(run: () => Promise<void>, times: number, durations: number[] = []): Promise<void> {
  let left = times
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (left > 0) {
        left -= 1
        const before = performance.now()
        await run()
        durations.push(performance.now() - before)
      }
    }),
  )
}
