import { readOptions, whole } from '../../tools/options.ts'
import { beginSession } from '../../tools/process/session.ts'
import { withCluster } from '../cluster/cluster.ts'
import { openFindings, printReport } from '../findings.ts'
import { proveNodes } from './campaign.ts'

/** Three nodes on one PostgreSQL: one request wins each code and each rotation. See docs/proofs.md. */

const options = readOptions({
  rounds: whole(
    'rounds of codes and of refreshes; of devices, copies, thefts, walks through the pages and identity assertions a tenth, of members of a group a fiftieth',
    1000,
    [1, 1e6],
  ),
  parallel: whole('concurrent requests', 100, [1, 10_000]),
})
beginSession()
const findings = openFindings()
const { unavailable: _, ...counts } = await withCluster({ nodes: 3, drainSeconds: 2 }, (cluster) =>
  proveNodes(cluster, findings, options),
)
const lines = [
  ...Object.entries(counts).map(([kind, count]) => `rounds of ${kind}: ${count}`),
  `operations: ${findings.operations}`,
]
printReport(`3 nodes, ${options.parallel} at once`, lines, findings)
