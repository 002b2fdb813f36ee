import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { ProofRun } from '../prove/findings.ts'

/** The newest day of each proof of which a run is kept. */
export function newestRuns(): ReadonlyMap<string, string> {
  const days = globSync('prove/results/*.jsonl').map((file) => {
    const lines = readFileSync(file, 'utf8').trim().split('\n')
    const runs = lines.map((line) => JSON.parse(line) as ProofRun)
    return [
      basename(file, '.jsonl'),
      runs
        .map(({ date }) => date)
        .toSorted()
        .at(-1) ?? '',
    ] as const
  })
  return new Map(days)
}

/** How old the newest run of a proof may be at a release. */
const DAYS = 21

/** Which proofs a release lacks: they never ran, or too long ago. `today`: an ISO 8601 day. */
export function staleProofs(
  names: readonly string[],
  runs: ReadonlyMap<string, string>,
  today: string,
): readonly string[] {
  const oldest = new Date(Date.parse(today) - DAYS * 86_400_000).toISOString().slice(0, 10)
  return names.flatMap((name) => {
    const ran = runs.get(name)
    if (ran !== undefined && ran >= oldest) return []
    return [`npm run prove ${name}: ${ran === undefined ? 'no run is kept' : `the newest run is of ${ran}`}.`]
  })
}
