import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** How long each test file took when it last ran, in milliseconds by its path: a guess for the next run, and no more. */
const FILE = join(import.meta.dirname, '..', 'node_modules', '.cache', 'grantor-test-times.json')

/**
 * So that no long one begins when all others have ended. Those that have not run yet may be long; of them the alphabet's last
 * are first, because pages, walks through them and the store take longest.
 */
export function longestFirst(paths: readonly string[]): string[] {
  const times = readTimes()
  const timeOf = (path: string): number => times[path] ?? Number.MAX_VALUE
  return paths
    .toSorted()
    .toReversed()
    .toSorted((one, other) => timeOf(other) - timeOf(one))
}

export function rememberTimes(latest: ReadonlyMap<string, number>): void {
  mkdirSync(dirname(FILE), { recursive: true })
  writeFileSync(FILE, JSON.stringify({ ...readTimes(), ...Object.fromEntries(latest) }, undefined, 2))
}

function readTimes(): Readonly<Record<string, number>> {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, number>
  } catch {
    // Nothing has run yet, or it was written while this was read.
    return {}
  }
}
