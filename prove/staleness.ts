import { parseArgs } from 'node:util'
import { openRuntime } from '../src/server/server.ts'
import { readConfig } from '../src/config/config.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { describeMachine, readWhole, stopOnSignal } from './run.ts'
import { openStage } from './stage.ts'
import { measureStaleness } from './staleness-campaign.ts'

/** `npm run prove:staleness`. See docs/proofs.md. */

/** Decision 0020: a revocation is visible to the first introspection after its response, a disabled principal within this time. */
const LIMIT_MS = 1000

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '1000' }, lanes: { type: 'string', default: '40' } },
})
const rounds = readWhole('rounds', values.rounds)
const lanes = readWhole('lanes', values.lanes)

stopOnSignal()
const postgres = await startPostgres({ settings: { fsync: 'on' } })
const { url } = await postgres.createDatabase()
const stage = await openStage({ databaseUrl: url, nodes: 2, drainSeconds: 0, limitMs: 6000 })
const workshop = await openRuntime(readConfig({ ...stage.settings, LOG_LEVEL: 'silent' }))
const results = await measureStaleness(stage, workshop.context, { rounds, lanes })
await workshop.close()
await stage.close()
await postgres.remove()

console.log(`${describeMachine()}, 2 nodes, ${lanes} at once`)
for (const { kind, sightings } of results) {
  const sorted = sightings.map(({ delayMs }) => delayMs).toSorted((one, other) => one - other)
  const [p50, p99, worst] = [0.5, 0.99, 1].map((part) => sorted[Math.ceil(sorted.length * part) - 1] ?? Number.NaN)
  const stale = sightings.reduce((sum, one) => sum + one.stale, 0)
  const isKept = kind === 'revocation' ? stale === 0 : (worst ?? Number.POSITIVE_INFINITY) <= LIMIT_MS
  console.log(
    `${kind}: ${sorted.length} times, seen after p50 ${p50?.toFixed(1)}, p99 ${p99?.toFixed(1)}, worst ${worst?.toFixed(1)} ms, ${stale} stale answers: ${isKept ? 'kept' : 'BROKEN'}`,
  )
  if (!isKept) process.exitCode = 1
}
