import { parseArgs } from 'node:util'
import { startPostgres } from '../test/support/postgres.ts'
import { proveKills, proveRolling, type Spread } from './restarts-campaign.ts'
import { describeMachine, readWhole, stopOnSignal } from './run.ts'
import { openStage } from './stage.ts'
import { openTally } from './tally.ts'

/** `npm run prove:restarts`. See docs/proofs.md. */

const { values } = parseArgs({
  options: { restarts: { type: 'string', default: '100' }, kills: { type: 'string', default: '20' } },
})
const restarts = readWhole('restarts', values.restarts)
const kills = readWhole('kills', values.kills)
const DRAIN_SECONDS = 1

stopOnSignal()
const startedAt = performance.now()
const onProgress = (done: string): void => console.error(`${done} …`)
const postgres = await startPostgres({ settings: { fsync: 'on' } })
const { url } = await postgres.createDatabase()
const stage = await openStage({ databaseUrl: url, nodes: 3, drainSeconds: DRAIN_SECONDS, limitMs: 6000 })
const tally = openTally((what) => console.error(`VIOLATION ${what}`))
const rolling = await proveRolling(stage, tally, { restarts, onProgress })
const killed = await proveKills(stage, tally, postgres, { kills, onProgress })
await stage.close()
await postgres.remove()

console.log(`${describeMachine()}, 3 nodes, GRANTOR_DRAIN_SECONDS=${DRAIN_SECONDS}`)
console.log(`rolling restarts: ${restarts}, of nodes: ${rolling.nodeRestarts}`)
console.log(`  requests: ${rolling.requests}, failed: ${rolling.failed}`)
console.log(`  SIGTERM to exit: ${describe(rolling.drainMs)}`)
console.log(`PostgreSQL killed: ${killed.kills}`)
console.log(`  requests: ${killed.requests}, of them 503: ${killed.unavailable}`)
console.log(`  acknowledged writes: ${killed.acknowledged}, lost: ${killed.lost}, resurrected: ${killed.resurrected}`)
console.log(`  kill to the next acknowledged write: ${describe(killed.windowMs)}`)
console.log(`  of that after PostgreSQL was up: ${describe(killed.recoveryMs)}`)
console.log(`violations: ${tally.violations.length}`)
console.log(`seconds: ${((performance.now() - startedAt) / 1000).toFixed(1)}`)
process.exitCode = tally.violations.length === 0 ? 0 : 1

function describe({ p50, p99, worst }: Spread): string {
  return `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, worst ${worst.toFixed(0)} ms`
}
