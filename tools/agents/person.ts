import { exponential, pick, seededRandom, type Random } from './random.ts'

/** All times are in seconds. */
export const MINUTE = 60
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/**
 * How the processes of a person keep their tokens: `shared`, a file that is read before each refresh; `memory`, copies of a file that is read
 * again after a refusal; `private`, copies that are never read again.
 */
export type TokenStore = 'shared' | 'memory' | 'private'

/** A person whose agents run in several processes with one sign-in. No value is measured: the shape is that of public reports. */
export interface Person {
  readonly store: TokenStore
  /** For each process the mean time between two uses. */
  readonly gaps: readonly number[]
  readonly stays: readonly Stay[]
}

/** When the machine of a person is on, and the network of each of its requests. */
interface Stay {
  readonly from: number
  readonly to: number
  readonly network: (random: Random) => string
}

/** A use of a process. */
export interface Use {
  readonly at: number
  readonly process: number
  readonly network: string
  /** Decides whether the answer to its refresh is lost. */
  readonly luck: number
}

/** Uses in a short time come one after the other. */
const LEAST_GAP = 20

/** Makes a person with a laptop, a desktop that is always on, or a hosted client, from a seed. */
export function makePerson(seed: number, days: number): Person {
  const random = seededRandom(seed)
  const processes = pick(random, [
    [0.3, 1],
    [0.2, 2],
    [0.15, 3],
    [0.15, 5],
    [0.12, 8],
    [0.08, 16],
  ])
  const isHosted = random() < 0.05
  const store = pick<TokenStore>(random, [
    [0.35, 'shared'],
    [0.4, 'memory'],
    [0.25, 'private'],
  ])
  const gaps = Array.from({ length: processes }, () =>
    pick(random, [
      [0.3, 3 * MINUTE],
      [0.25, 20 * MINUTE],
      [0.2, 2 * HOUR],
      [0.15, 12 * HOUR],
      [0.1, 3 * DAY],
    ]),
  )
  if (!isHosted) return { store, gaps, stays: [...staysOf(random, days)] }
  const egress = 1 + Math.floor(random() * 4)
  const stay = { from: 0, to: days * DAY, network: poolOf('hosted', egress) }
  return { store: store === 'private' ? 'memory' : store, gaps, stays: [stay] }
}

/** At home, in the office, in a café and behind a VPN, by the hour; always at home with a desktop. */
function* staysOf(random: Random, days: number): Generator<Stay> {
  const hasTwoFamilies = random() < 0.4
  const hasNewAddresses = random() < 0.15
  const office = poolOf('office', random() < 0.15 ? 3 : 1)
  const isAlwaysOn = random() < 0.2
  let address = 0
  const home = (): Stay['network'] => {
    const own = `home ${address}`
    return (one) => (hasTwoFamilies && one() < 0.8 ? `${own} by IPv6` : own)
  }
  for (let day = 0; day < days; day += 1) {
    const start = day * DAY
    if (hasNewAddresses && random() < 0.7) address += 1
    if (isAlwaysOn) {
      yield { from: start, to: start + DAY, network: home() }
    } else if (day % 7 >= 5) {
      if (random() < 0.5) yield { from: start + 10 * HOUR, to: start + 16 * HOUR, network: home() }
    } else if (random() >= 0.08) yield* workday(random, start, { home, office, cafe: `café ${day}` })
  }
}

interface Places {
  readonly home: () => Stay['network']
  readonly office: Stay['network']
  readonly cafe: string
}

function* workday(random: Random, start: number, { home, office, cafe }: Places): Generator<Stay> {
  const stay = (from: number, to: number, network: Stay['network']): Stay => ({
    from: start + from * HOUR,
    to: start + to * HOUR,
    network,
  })
  if (random() < 0.5) {
    yield stay(9, 17.5, office)
    if (random() < 0.15) yield stay(17.7, 19, () => cafe)
    if (random() < 0.5) yield stay(20, 22.5, home())
  } else if (random() < 0.35) {
    const on = 9 + random() * 3
    const off = on + 1 + random() * 4
    yield stay(9, on, home())
    yield stay(on, off, () => 'VPN')
    yield stay(off, 18.5, home())
  } else yield stay(9, 18, home())
}

/**
 * Sixteen processes of one sign-in, always on, whose requests leave by several addresses: the trace of a public report (codex#46028,
 * claude-code#85236).
 */
export function makeFleet(store: TokenStore, egress: number, days: number): Person {
  const gaps = Array.from({ length: 16 }, (_, index) => [3 * MINUTE, 10 * MINUTE, HOUR, 6 * HOUR][index % 4] ?? HOUR)
  return { store, gaps, stays: [{ from: 0, to: days * DAY, network: poolOf('egress', egress) }] }
}

function poolOf(name: string, size: number): Stay['network'] {
  return (random) => `${name} ${Math.floor(random() * size)}`
}

/** The uses of all processes between two times, in order. */
export function usesOf(
  { gaps, stays }: Person,
  random: Random,
  { from, to }: { readonly from: number; readonly to: number },
): readonly Use[] {
  const uses: Use[] = []
  for (const [process, gap] of gaps.entries())
    for (const stay of stays) {
      // Half of the busy processes begin when the machine wakes.
      const isWoken = random() < 0.6 && gap <= 20 * MINUTE
      let at = stay.from + (isWoken ? random() * 5 : exponential(random, gap))
      while (at < stay.to) {
        if (at >= from && at < to) uses.push({ at, process, network: stay.network(random), luck: random() })
        at += Math.max(LEAST_GAP, exponential(random, gap))
      }
    }
  return uses.toSorted((one, other) => one.at - other.at)
}
