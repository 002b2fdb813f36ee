import { openStoreOf } from '../../tools/runtime.ts'
import { readOptions, whole } from '../../tools/options.ts'
import { beginSession } from '../../tools/process/session.ts'
import { sum, summarizeTimes } from '../../tools/statistics.ts'
import { withCluster } from '../cluster/cluster.ts'
import { openFindings, printReport } from '../findings.ts'
import { measureStaleness } from './campaign.ts'

/** How long until a revocation on one node takes effect on another. See docs/proofs.md. */

/** Decision 0005: a revocation is visible to the first introspection after its response, a disabled principal within this time. */
const LIMIT_MS = 1000

const options = readOptions({
  rounds: whole('rounds of each kind of revocation', 1000, [1, 1e6]),
  lanes: whole('clients at once', 40, [1, 1000]),
})
beginSession()
const results = await withCluster({ nodes: 2, drainSeconds: 0 }, async (cluster) => {
  const { context, close } = await openStoreOf(cluster.settings)
  const measured = await measureStaleness(cluster, context, options)
  await close()
  return measured
})
const findings = openFindings()
const lines = results.map(({ kind, sightings }) => {
  const { count, p50Ms, p99Ms, worstMs } = summarizeTimes(sightings.map(({ delayMs }) => delayMs))
  const stale = sum(sightings.map((one) => one.stale))
  const line = `${kind}: seen after p50 ${p50Ms.toFixed(1)}, p99 ${p99Ms.toFixed(1)}, worst ${worstMs.toFixed(1)} ms, ${stale} stale answers`
  const isKept = count > 0 && (kind === 'revocation' ? stale === 0 : worstMs <= LIMIT_MS)
  if (!isKept) findings.report(line)
  return line
})
printReport(`${options.rounds} of each kind on 2 nodes, ${options.lanes} at once`, lines, findings)
