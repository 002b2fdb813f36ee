import type { Measurement } from './measure.ts'
import { renderTable } from './table.ts'

/** What a request costs node and database, where they are not one. Nothing where there is no such. */
export function renderDatabase(endpoints: readonly Measurement[]): readonly string[] {
  const rows = endpoints.flatMap(({ server, endpoint, connections, cpuMicrosPerRequest, database }) =>
    database === undefined
      ? []
      : [
          [
            `${endpoint}, ${server}`,
            String(connections),
            cpuMicrosPerRequest?.subject.toFixed(0) ?? '–',
            database.cpuMicrosPerRequest?.toFixed(0) ?? '–',
            perCommit(database.requestsPerCommit, connections),
            database.statementsPerRequest?.toFixed(3) ?? '–',
          ],
        ],
  )
  if (rows.length === 0) return []
  return [
    '',
    renderTable(
      ['endpoint', 'connections', 'node CPU µs', 'database CPU µs', 'requests per commit', 'statements per request'],
      rows,
    ),
  ]
}

/** More requests than there were at once cannot have shared one: they needed none, and the few commits are of other things. */
function perCommit(requests: number | undefined, connections: number): string {
  return requests === undefined || requests > connections * 2 ? '–' : requests.toFixed(1)
}

/**
 * How much more several processes do than one: as measured, with generator and database on the same cores; what the
 * processor time of all of them allows there, which a busy machine changes less; and what it allows where only nodes run.
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

/** Requests in a microsecond for which the cores have time, of which a process of the node can use one. */
function allowed(one: Measurement, workers: number, cores: number): number {
  const others = (one.database?.cpuMicrosPerRequest ?? 0) + 1e6 / one.generatorLimit
  return Math.min(cores / (nodeMicros(one) + others), workers / nodeMicros(one))
}

function nodeMicros({ cpuMicrosPerRequest }: Measurement): number {
  return cpuMicrosPerRequest?.subject ?? Number.NaN
}
