/** A proof with the options with which it takes at most about fifteen minutes. */
export interface Proof {
  readonly name: string
  readonly options: readonly string[]
}

/** What a release delivers. */
const EVERY_DAY: readonly Proof[] = [
  { name: 'package', options: [] },
  { name: 'single', options: [] },
  { name: 'reproducible', options: [] },
  { name: 'upgrade', options: [] },
  { name: 'container', options: [] },
  { name: 'chart', options: [] },
]

/** Long ones, of which each day has one. */
const IN_TURN: readonly Proof[] = [
  { name: 'nodes', options: ['--rounds', '100'] },
  { name: 'restarts', options: ['--restarts', '10', '--kills', '6'] },
  { name: 'clocks', options: [] },
  { name: 'backup', options: [] },
  { name: 'console', options: [] },
]

/** The proofs without which, or with older ones, there is no release. */
export const DAILY: readonly Proof[] = [...EVERY_DAY, ...IN_TURN]

/** The proofs of a day. `day`: the days since the epoch. */
export function proofsOf(day: number): readonly Proof[] {
  return [...EVERY_DAY, ...IN_TURN.slice(day % IN_TURN.length).slice(0, 1)]
}
