import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The duration of each test file's last run in milliseconds, by path. It is an estimate for the next run. */
const FILE = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'grantor-test-times.json')

/**
 * Sorts test files by duration, the longest first, so that no long file begins when all others have ended. Files without a
 * duration come first, in reverse alphabetical order, because tests of pages, browser walks and the store take longest.
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
    // There is no file yet, or another run was writing it.
    return {}
  }
}
