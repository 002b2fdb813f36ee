import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { beginBench } from './begin.ts'
import { startDatabase } from './database.ts'
import { renderGrowth, type GrowthCost, type GrowthResult } from './growth-report.ts'
import { openGrowthStage, type GrowthStage } from './growth-stage.ts'
import { readSaveName, readStore, readWhole } from './option-values.ts'
import { describeMachine, saveResult, today } from './result.ts'

/**
 * `npm run bench:growth -- --sizes 10000,1000000,5000000 --store sqlite` measures the cost of each store operation with that
 * number of clients, families and redeemed codes. Each operation works on a random row. The store is called directly, 64
 * operations at a time, and every commit is synced. The sizes take turns, so that other load on the machine affects all of them.
 */

const AT_ONCE = 64
/** Each round begins with a quarter of its operations as a warm-up, which is not counted. */
const WARM_UP_PART = 4
/** Operations whose bytes in the write-ahead log are counted. */
const COUNTED = 2048
/** After this time the log is moved into the database file, so that the next measurement does not pay for it. */
const SETTLE_MS = 600
/** Time limit for filling and measuring one size. */
const MOST_MS_PER_SIZE = 15 * 60_000

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '10000,1000000' },
    store: { type: 'string', default: 'sqlite' },
    rounds: { type: 'string', default: '5' },
    operations: { type: 'string', default: '10000' },
    save: { type: 'string' },
  },
})
const sizes = values.sizes.split(',').map((text) => readWhole('sizes', text, 1000, 1e8))
const store = readStore(values.store)
const rounds = readWhole('rounds', values.rounds, 1, 100)
const operations = readWhole('operations', values.operations, AT_ONCE, 1e6)
const save = readSaveName(values.save)

const { folder } = beginBench(sizes.length * MOST_MS_PER_SIZE)

const database = store === 'postgres' ? await startDatabase(undefined) : undefined
const stages: GrowthStage[] = []
try {
  for (const rows of sizes) stages.push(await fill(rows))
  const costs: GrowthCost[] = []
  for (const operation of Object.keys(stages[0]?.operations ?? {})) costs.push(...(await measure(operation)))
  const result: GrowthResult = { kind: 'growth', date: today(), machine: describeMachine(), store, operations, costs }
  console.log(renderGrowth(result))
  if (save !== undefined) saveResult(result, save)
} finally {
  for (const stage of stages) await stage.close()
  await database?.close()
}

async function fill(rows: number): Promise<GrowthStage> {
  const startedAt = performance.now()
  const stage = await openGrowthStage(rows, { folder, secret: randomBytes(32).toString('base64url'), database })
  console.error(`${rows} rows of each kind in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`)
  return stage
}

async function measure(operation: string): Promise<readonly GrowthCost[]> {
  const turns = stages.map((stage) => ({ stage, wallMicros: [] as number[], cpuMicros: [] as number[] }))
  for (let round = 0; round < rounds; round += 1) {
    for (const { stage, wallMicros, cpuMicros } of turns) {
      const run = runOf(stage, operation)
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
  for (const { stage, wallMicros, cpuMicros } of turns) {
    const bytes = await stage.countLogBytes(() => repeat(runOf(stage, operation), COUNTED))
    costs.push({ operation, rows: stage.rows, wallMicros, cpuMicros, logBytes: bytes / COUNTED })
  }
  return costs
}

function runOf({ operations: known }: GrowthStage, name: string): () => Promise<void> {
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
