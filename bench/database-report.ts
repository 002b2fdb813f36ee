import type { Measurement } from './measure.ts'
import { renderTable } from './table.ts'

/** What a request costs node and database, where they are not one. Nothing where there is no such. */
export function renderDatabase(endpoints: readonly Measurement[]): readonly string[] {
  const rows = endpoints.flatMap(({ server, endpoint, cpuMicrosPerRequest, database }) =>
    database === undefined
      ? []
      : [
          [
            `${endpoint}, ${server}`,
            cpuMicrosPerRequest?.subject.toFixed(0) ?? '–',
            database.cpuMicrosPerRequest?.toFixed(0) ?? '–',
            database.requestsPerCommit?.toFixed(1) ?? '–',
            database.statementsPerRequest?.toFixed(3) ?? '–',
          ],
        ],
  )
  if (rows.length === 0) return []
  return [
    '',
    renderTable(['endpoint', 'node CPU µs', 'database CPU µs', 'requests per commit', 'statements per request'], rows),
  ]
}

/**
 * How much more several processes do than one: what was measured, with generator and database on the same cores, and what
 * the processor time of a request allows where a node's cores are its own.
 */
export function renderFactors(endpoints: readonly Measurement[], workers: number): readonly string[] {
  if (workers === 1) return []
  const names = [...new Set(endpoints.map(({ endpoint }) => endpoint))]
  return names.flatMap((name) => {
    const [one, several] = endpoints.filter(({ endpoint }) => endpoint === name)
    if (one === undefined || several === undefined) return []
    const factor = several.subject.best / one.subject.best
    const median = several.subject.median / one.subject.median
    const cost = (one.cpuMicrosPerRequest?.subject ?? 0) / (several.cpuMicrosPerRequest?.subject ?? 0)
    return [
      `${name}: ${workers} processes against one: factor ${factor.toFixed(2)} (median ${median.toFixed(2)}); by the node's processor time alone ${(workers * cost).toFixed(2)}.`,
    ]
  })
}
