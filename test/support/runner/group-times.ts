import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Group } from './groups.ts'

/** The duration of each group's last run in milliseconds, by name. It is an estimate for the next run. */
const FILE = join(import.meta.dirname, '..', '..', '..', 'node_modules', '.cache', 'grantor-group-times.json')

/**
 * Sorts groups by duration, the longest first, so that no long group begins when all others have ended. New groups come first: in a clone all
 * are new. Of these the files that are alone come first, some of which take long, and then the groups of many files.
 */
export function longestFirst(groups: readonly Group[]): Group[] {
  const times = readTimes()
  const timeOf = ({ name }: Group): number => times[name] ?? Number.MAX_VALUE
  const countOf = ({ files }: Group): number => (files.length === 1 ? Number.MAX_VALUE : files.length)
  return groups.toSorted((one, other) => timeOf(other) - timeOf(one) || countOf(other) - countOf(one))
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
