import { parseArgs } from 'node:util'
import { startPostgres } from '../test/support/postgres.ts'
import { proveNodes } from './nodes-campaign.ts'
import { describeMachine, readWhole, stopOnSignal } from './run.ts'
import { openStage } from './stage.ts'
import { openTally } from './tally.ts'

/** `npm run prove:nodes`. See docs/proofs.md. */

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '1000' }, parallel: { type: 'string', default: '100' } },
})
const rounds = readWhole('rounds', values.rounds)
const parallel = readWhole('parallel', values.parallel)

stopOnSignal()
const postgres = await startPostgres({ settings: { fsync: 'on' } })
const { url } = await postgres.createDatabase()
const stage = await openStage({ databaseUrl: url, nodes: 3, drainSeconds: 2, limitMs: 6000 })
const tally = openTally((what) => console.error(`VIOLATION ${what}`))
const result = await proveNodes(stage, tally, { rounds, parallel, onProgress: (done) => console.error(`${done} …`) })
await stage.close()
await postgres.remove()

console.log(`${describeMachine()}, 3 nodes, ${parallel} at once`)
for (const [kind, count] of Object.entries(result.rounds)) console.log(`rounds of ${kind}: ${count}`)
console.log(`operations: ${result.operations}`)
console.log(`violations: ${result.violations.length}`)
console.log(`seconds: ${result.seconds.toFixed(1)}`)
process.exitCode = result.violations.length === 0 ? 0 : 1
