import { readOptions, whole } from '../../tools/options.ts'
import { beginSession } from '../../tools/process/session.ts'
import { withCluster } from '../cluster/cluster.ts'
import { openFindings, printReport } from '../findings.ts'
import { describeKills, describeTimes, proveKills, proveRolling } from './campaign.ts'

/** Rolling restarts and kills of PostgreSQL lose no answer that a client got. See docs/proofs.md. */

const { restarts, kills } = readOptions({
  restarts: whole('restarts of every node', 100, [1, 10_000]),
  kills: whole('kills of PostgreSQL', 20, [1, 10_000]),
})
const DRAIN_SECONDS = 1

beginSession()
const findings = openFindings()
const { rolling, killed } = await withCluster({ nodes: 3, drainSeconds: DRAIN_SECONDS }, async (cluster, postgres) => ({
  rolling: await proveRolling(cluster, findings, { restarts }),
  killed: await proveKills(cluster, findings, postgres, { kills, quietMs: 1000 }),
}))
const lines = [
  `rolling restarts: ${restarts}, of nodes: ${rolling.drainsMs.length}`,
  `  requests: ${rolling.requests}, failed: ${rolling.failed}`,
  `  SIGTERM to exit: ${describeTimes(rolling.drainsMs)}`,
  `PostgreSQL killed: ${kills}`,
  ...describeKills(killed),
]
printReport(`3 nodes, GRANTOR_DRAIN_SECONDS=${DRAIN_SECONDS}`, lines, findings)
