import { fixed, renderTable } from '../../tools/table.ts'
import type { Measurement } from './measure.ts'

/** The cost of a request for the node and for its database. Empty if the database is in the process of the node. */
export function renderDatabase(endpoints: readonly Measurement[]): readonly string[] {
  const rows = endpoints.flatMap(({ database, cpuMicrosPerRequest: node, ...one }) =>
    database === undefined ? [] : [{ ...one, node, database }],
  )
  if (rows.length === 0) return []
  const table = renderTable(rows, [
    ['endpoint', ({ endpoint, server }) => `${endpoint}, ${server}`],
    ['connections', ({ connections }) => String(connections)],
    ['node CPU µs', ({ node }) => fixed(node?.subject, 0)],
    ['database CPU µs', ({ database }) => fixed(database.cpuMicrosPerRequest, 0)],
    ['requests per commit', ({ database, connections }) => perCommit(database.requestsPerCommit, connections)],
    ['statements per request', ({ database }) => fixed(database.statementsPerRequest, 3)],
  ])
  return ['', table]
}

/** A commit cannot be shared by more requests than were concurrent. A larger figure means that requests need no commit, and that the few commits are of other work. */
function perCommit(requests: number | undefined, connections: number): string {
  return requests === undefined || requests > connections * 2 ? '–' : requests.toFixed(1)
}

/**
 * Compares several processes with one: the measured factor, with generator and database on the same cores; the factor that the
 * processor times allow on these cores, on which other load has less effect; and the factor if the nodes have all cores alone.
 */
export function renderFactors(
  endpoints: readonly Measurement[],
  { workers, cores }: { readonly workers: number; readonly cores: number },
): readonly string[] {
  if (workers === 1) return []
  const names = [...new Set(endpoints.map(({ endpoint }) => endpoint))]
  return names.flatMap((name) => {
    const [one, several] = endpoints.filter(({ endpoint }) => endpoint === name)
    if (one === undefined || several === undefined) return []
    const measured = several.subject.best / one.subject.best
    const median = several.subject.median / one.subject.median
    const shared = allowed(several, workers, cores) / allowed(one, 1, cores)
    const alone = (workers * nodeMicros(one)) / nodeMicros(several)
    return [
      `${name}: ${workers} processes against one: factor ${measured.toFixed(2)} (median ${median.toFixed(2)}); by processor time ${shared.toFixed(2)} on these ${cores} cores, ${alone.toFixed(2)} with ${workers} for the nodes alone`,
    ]
  })
}

/** The requests per microsecond for which the cores have time. A process of the node can use one core. */
function allowed(one: Measurement, workers: number, cores: number): number {
  const others = (one.database?.cpuMicrosPerRequest ?? 0) + 1e6 / one.generatorLimit
  return Math.min(cores / (nodeMicros(one) + others), workers / nodeMicros(one))
}

function nodeMicros({ cpuMicrosPerRequest }: Measurement): number {
  return cpuMicrosPerRequest?.subject ?? Number.NaN
}
