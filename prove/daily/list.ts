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
  { name: 'site', options: [] },
]

/** Long ones, of which each day has one. */
const IN_TURN: readonly Proof[] = [
  { name: 'nodes', options: ['--rounds', '100'] },
  { name: 'restarts', options: ['--restarts', '10', '--kills', '6'] },
  { name: 'clocks', options: [] },
  { name: 'backup', options: [] },
  { name: 'console', options: [] },
  { name: 'enumeration', options: ['--pairs', '300', '--hashed', '60'] },
  { name: 'staleness', options: ['--rounds', '300'] },
  { name: 'power-loss', options: [] },
]

/** The proofs that are of no day, and why. They are run by hand when what they prove changes. */
export const BY_HAND: Readonly<Record<string, string>> = {
  agents: 'a model of the rule for copies of refresh tokens: only a change of the rule changes its result',
  answers: 'needs another checkout, whose answers may differ for a reason',
  citus: 'needs three machines with Citus',
  daily: 'runs the others',
  delegate: 'needs Go, and the registries of PyPI and Go',
  disk: 'needs root and a loop device',
  flood: 'at least 17 minutes, because at most 6,000 of its 100,000 registrations a minute are stored',
  groups: 'needs Go and Python, their registries, and 9 GB for Open WebUI',
  install: 'needs root, three versions of npm, and its registry for each of nine installations',
  'long-tests': 'a release runs it itself, as it does npm test',
  proxies: 'needs HAProxy, Caddy, nginx and Prometheus',
  recipes: 'needs Python, and the registries of npm and PyPI',
  'resource-servers': 'needs Go, Java and .NET, and the registries of PyPI, Go and Maven',
}

/** The proofs without which, or with older ones, there is no release. */
export const DAILY: readonly Proof[] = [...EVERY_DAY, ...IN_TURN]

/** The proofs of a day. `day`: the days since the epoch. */
export function proofsOf(day: number): readonly Proof[] {
  return [...EVERY_DAY, ...IN_TURN.slice(day % IN_TURN.length).slice(0, 1)]
}
