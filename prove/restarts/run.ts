import { readOptions, whole } from '../../tools/options.ts'
import { beginSession } from '../../tools/session.ts'
import { summarizeTimes } from '../../tools/statistics.ts'
import { withCluster } from '../cluster/cluster.ts'
import { openFindings, printReport } from '../findings.ts'
import { proveKills, proveRolling } from './campaign.ts'

/** `npm run prove:restarts`. See docs/proofs.md. */

const { restarts, kills } = readOptions('prove:restarts', {
  restarts: whole('restarts of every node', 100, [1, 10_000]),
  kills: whole('kills of PostgreSQL', 20, [1, 10_000]),
})
const DRAIN_SECONDS = 1

beginSession()
const findings = openFindings()
const { rolling, killed } = await withCluster({ nodes: 3, drainSeconds: DRAIN_SECONDS }, async (cluster, postgres) => ({
  rolling: await proveRolling(cluster, findings, restarts),
  killed: await proveKills(cluster, findings, postgres, kills),
}))
const lines = [
  `rolling restarts: ${restarts}, of nodes: ${rolling.drainsMs.length}`,
  `  requests: ${rolling.requests}, failed: ${rolling.failed}`,
  `  SIGTERM to exit: ${describe(rolling.drainsMs)}`,
  `PostgreSQL killed: ${kills}`,
  `  requests: ${killed.requests}, of them 503: ${killed.unavailable}`,
  `  acknowledged writes: ${killed.acknowledged}, lost: ${killed.lost}, resurrected: ${killed.resurrected}`,
  `  kill to the next acknowledged write: ${describe(killed.windowsMs)}`,
  `  of that after PostgreSQL was up: ${describe(killed.recoveriesMs)}`,
]
printReport(`3 nodes, GRANTOR_DRAIN_SECONDS=${DRAIN_SECONDS}`, lines, findings)

function describe(durationsMs: readonly number[]): string {
  const { p50Ms, p99Ms, worstMs } = summarizeTimes(durationsMs)
  return `p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms, worst ${worstMs.toFixed(0)} ms`
}
