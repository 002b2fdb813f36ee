import { DEFAULT_FAMILY_RULES, openFamilies, type FamilyRules } from '../../tools/agents/families.ts'
import { live, type Life, type Theft } from '../../tools/agents/life.ts'
import { DAY, HOUR, makeFleet, makePerson, MINUTE, type TokenStore } from '../../tools/agents/person.ts'
import { seededRandom } from '../../tools/agents/random.ts'
import { sum } from '../../tools/statistics.ts'

const POLICIES = {
  network: DEFAULT_FAMILY_RULES,
  strict: { ...DEFAULT_FAMILY_RULES, copies: 'strict' },
  'network, with a retry of 300 s': { ...DEFAULT_FAMILY_RULES, retrySeconds: 300 },
} as const satisfies Readonly<Record<string, FamilyRules>>

export interface AgentsOptions {
  readonly users: number
  readonly days: number
  readonly thefts: number
  /** Answers in 10,000 that are lost. */
  readonly lost: number
}

type Lived = Life & { readonly store: TokenStore }

const ACCESS_SECONDS = 15 * MINUTE
const FLEET_DAYS = 100

/** The lives of all people under a policy, with the seeds 1, 2, … */
export function liveAll(policy: keyof typeof POLICIES, { users, days, lost }: AgentsOptions): readonly Lived[] {
  const families = openFamilies(POLICIES[policy])
  return seeds(users).map((seed) => {
    const person = makePerson(seed, days)
    const { store } = person
    const life = { person, seed, days, accessSeconds: ACCESS_SECONDS, lost: lost / 10_000, thief: undefined }
    return { ...live(families, life), store }
  })
}

/** Thefts at a random time, every second one by a thief who waits for hours. */
export function stealAll(isNear: boolean, { thefts, days, lost }: AgentsOptions): readonly Theft[] {
  const families = openFamilies(POLICIES.network)
  return seeds(thefts).flatMap((seed) => {
    const at = (2 + (days - 4) * 0.5 * seededRandom(seed * 31)()) * DAY
    const person = makePerson(seed, days)
    const thief = { at, isNear, isLazy: seed % 2 === 0 }
    const { theft } = live(families, {
      person,
      seed,
      days,
      accessSeconds: ACCESS_SECONDS,
      lost: lost / 10_000,
      thief,
    })
    return theft === undefined ? [] : [theft]
  })
}

/** The sign-ins of sixteen busy processes on so many days, each of which is another one. */
export function liveFleets(store: TokenStore, lost: number): { readonly whole: number; readonly lossy: number } {
  const signInsWith = (share: number): number => {
    const families = openFamilies(POLICIES.network)
    const lives = seeds(FLEET_DAYS).map((seed) => {
      const person = makeFleet(store, 2, 1)
      return live(families, { person, seed, days: 1, accessSeconds: 5 * MINUTE, lost: share, thief: undefined })
    })
    return sum(lives.map(({ signIns }) => signIns))
  }
  return { whole: signInsWith(0), lossy: signInsWith(lost / 10_000) }
}

/** The sign-ins in 1,000 days of a person, of all and by how the processes keep their tokens. */
export function describeSignIns(lives: readonly Lived[], { days }: Pick<AgentsOptions, 'days'>): string {
  const rateOf = (some: readonly Lived[]): string =>
    some.length === 0 ? '–' : ((sum(some.map(({ signIns }) => signIns)) / some.length / days) * 1000).toFixed(1)
  const parts = (['shared', 'memory', 'private'] as const).map(
    (store) => `${store} ${rateOf(lives.filter((one) => one.store === store))}`,
  )
  return `${rateOf(lives)} sign-ins in 1,000 days (${parts.join(', ')})`
}

/** How many thieves were cut off, and how long those had access who got any. */
export function describeThefts(thefts: readonly Theft[]): string {
  const over = thefts.filter(({ isOver }) => isOver)
  const spans = over
    .flatMap(({ first, last }) => (first === undefined || last === undefined ? [] : [last - first + ACCESS_SECONDS]))
    .toSorted((one, other) => one - other)
  const hoursAt = (share: number): string => ((spans[Math.floor(share * spans.length)] ?? 0) / HOUR).toFixed(1)
  const access =
    spans.length === 0 ? '' : `; access of ${spans.length} for ${hoursAt(0.5)} h (p50), ${hoursAt(0.95)} h (p95)`
  const left = thefts.filter(({ isOver }) => !isOver).length
  const unused = left === 0 ? '' : `, ${left} not yet at the end`
  return `${over.length} of ${thefts.length} cut off${unused}${access}`
}

function seeds(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}
