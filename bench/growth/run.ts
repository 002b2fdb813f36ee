import { setTimeout as delay } from 'node:timers/promises'
import { startDatabase } from '../../tools/postgres/database.ts'
import { readMachine, today } from '../../tools/machine.ts'
import { flag, list, readOptions, SAVE, STORE, string, whole } from '../../tools/options.ts'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { saveResult } from '../results.ts'
import { measureConsole } from './console.ts'
import {
  renderConsole,
  renderGrowth,
  renderSearch,
  type ConsoleResult,
  type GrowthCost,
  type GrowthResult,
  type SearchResult,
} from './report.ts'
import { measureSearch } from './search.ts'
import { openFilledStore, type FilledStore } from './store.ts'

/**
 * The cost of each store operation with up to millions of rows. Each operation works on a random row. The store is
 * called directly, 64 operations at a time, and every commit is synced. The sizes take turns, so that other load on
 * the machine affects all of them.
 */

const AT_ONCE = 64
/** Each round begins with a quarter of its operations as a warm-up, which is not counted. */
const WARM_UP_PART = 4
/** Operations whose bytes in the write-ahead log are counted. */
const COUNTED = 2048
/** After this time the log is moved into the database file, so that the next measurement does not pay for it. */
const SETTLE_MS = 600
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
  sizes: list(whole('numbers of rows of each kind', 0, [1000, 1e8]), '10000,1000000'),
  store: STORE,
  rounds: whole('rounds with each size, or of ten seconds of sign-ups with --search', 5, [1, 100]),
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
    console.error(`${rows} rows of each kind in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`)
  }
  const costs: GrowthCost[] = []
  for (const operation of Object.keys(stores[0]?.operations ?? {})) costs.push(...(await measure(operation)))
  const result: GrowthResult = { kind: 'growth', date: today(), machine: readMachine(), store, operations, costs }
  console.log(renderGrowth(result))
  saveResult(result, save)
}

async function measure(operation: string): Promise<readonly GrowthCost[]> {
  const turns = stores.map((filled) => ({ filled, wallMicros: [] as number[], cpuMicros: [] as number[] }))
  for (let round = 0; round < rounds; round += 1) {
    for (const { filled, wallMicros, cpuMicros } of turns) {
      const run = runOf(filled, operation)
      await repeat(run, Math.ceil(operations / WARM_UP_PART))
      const cpu = process.cpuUsage()
      const before = performance.now()
      await repeat(run, operations)
      wallMicros.push(((performance.now() - before) * 1000) / operations)
      await delay(SETTLE_MS)
      const { user, system } = process.cpuUsage(cpu)
      cpuMicros.push((user + system) / operations)
    }
  }
  const costs: GrowthCost[] = []
  for (const { filled, wallMicros, cpuMicros } of turns) {
    const bytes = await filled.reader.countLogBytes(() => repeat(runOf(filled, operation), COUNTED))
    costs.push({ operation, rows: filled.rows, wallMicros, cpuMicros, logBytes: bytes / COUNTED })
  }
  return costs
}

function runOf({ operations: known }: FilledStore, name: string): () => Promise<void> {
  const run = known[name]
  if (run === undefined) throw new Error(`There is no operation ${name}.`)
  return run
}

async function repeat(run: () => Promise<void>, times: number): Promise<void> {
  let left = times
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (left > 0) {
        left -= 1
        await run()
      }
    }),
  )
}
