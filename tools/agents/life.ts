import type { Families } from './families.ts'
import { DAY, HOUR, MINUTE, usesOf, type Person, type Use } from './person.ts'
import { exponential, seededRandom, type Random } from './random.ts'

export interface LifeOptions {
  readonly person: Person
  /** Of what happens to the person, and of the thief. */
  readonly seed: number
  readonly days: number
  /** The lifetime of an access token. */
  readonly accessSeconds: number
  /** The share of answers that are lost. Two fifths of those requests are not repeated. */
  readonly lost: number
  /** undefined: there is none. With a thief the life begins a day before the theft, and ends with what the thief has. */
  readonly thief: Thief | undefined
}

/** Takes a token from the store or a process of the person at some time. */
export interface Thief {
  readonly at: number
  /** Whether the thief is behind the address where the person was last. */
  readonly isNear: boolean
  /** Uses the token every few hours, and otherwise every few minutes. */
  readonly isLazy: boolean
}

export interface Life {
  /** How often the person had to sign in again. */
  readonly signIns: number
  readonly refreshes: number
  readonly theft: Theft | undefined
}

/** What a theft gave. */
export interface Theft {
  /** How often the thief got tokens. */
  wins: number
  /** When first and last; undefined: never. */
  first: number | undefined
  last: number | undefined
  /** The thief was refused, and has nothing left. Not so where no process of the person uses the family again: only its lifetime ends it. */
  isOver: boolean
  /**
   * How often the thief got tokens although a process of the person had presented a token of the family since the thief had rotated it, and
   * not so soon that it was answered as a repetition.
   */
  winsAfterUse: number
}

/** Requests at almost the same time read the store before one of them has written it. */
const OVERLAP = 0.5
const RESTARTS = 4 * DAY
/** The share of the requests without an answer that are not repeated. */
const GIVEN_UP = 0.4
const ELSEWHERE = 'the thief'

/** The life of a person with one sign-in in several processes, of which a thief may take a copy. */
export function live(families: Families, { person, seed, days, accessSeconds, lost, thief }: LifeOptions): Life {
  const random = seededRandom(seed * 7919 + 13)
  const from = thief === undefined ? 0 : thief.at - DAY
  const uses = usesOf(person, random, { from, to: days * DAY })
  const [first] = uses
  if (first === undefined) return { signIns: 0, refreshes: 0, theft: undefined }
  const processes = openProcesses(families, { person, random, first, accessSeconds })
  const theft = thief && openTheft(families, { thief, person, random: seededRandom(seed + 5), uses, processes })
  for (const use of uses) {
    if (theft?.actUntil(use.at) === true) break
    processes.use(use, lost)
  }
  theft?.actUntil(days * DAY)
  return { signIns: processes.counts.signIns, refreshes: processes.counts.refreshes, theft: theft?.result }
}

interface Processes {
  readonly counts: { signIns: number; refreshes: number }
  readonly use: (use: Use, lost: number) => void
  /** The token in the file, and that of a process. */
  readonly file: () => string
  readonly memory: (process: number) => string
  /** When a process last presented a token of the family of this one. */
  readonly usedAt: (token: string) => number
}

interface ProcessNeeds {
  readonly person: Person
  readonly random: Random
  readonly first: Use
  readonly accessSeconds: number
}

/** `given-up`: without an answer. */
type Refreshed = { readonly kind: 'answered'; readonly token: string } | { readonly kind: 'refused' | 'given-up' }

function openProcesses(families: Families, { person, random, first, accessSeconds }: ProcessNeeds): Processes {
  const { store, gaps } = person
  let file = families.begin(first.network, first.at)
  let previous = file
  let writtenAt = Number.NEGATIVE_INFINITY
  const tokens = gaps.map(() => file)
  const expiries = gaps.map(() => first.at + accessSeconds)
  const restarts = gaps.map(() => first.at + exponential(random, RESTARTS))
  const counts = { signIns: 0, refreshes: 0 }
  const used = new Map<string, number>()

  function present(token: string, network: string, at: number): string | undefined {
    counts.refreshes += 1
    used.set(families.familyOf(token), at)
    return families.present(token, network, at)
  }

  /** Reads what another process has written. */
  function look({ at, process }: Use): void {
    if (store === 'private') return
    if (at > (restarts[process] ?? 0)) {
      restarts[process] = at + exponential(random, RESTARTS)
      tokens[process] = file
      expiries[process] = 0
    }
    if (store !== 'shared' || file === tokens[process] || at - writtenAt <= OVERLAP) return
    tokens[process] = file
    expiries[process] = families.issuedAt(file) + accessSeconds
  }

  function refresh({ at, network, process, luck }: Use, lost: number): Refreshed {
    const own = tokens[process] ?? file
    const token = store === 'shared' ? (at - writtenAt < OVERLAP ? previous : file) : own
    let answer = present(token, network, at)
    if (answer !== undefined && luck < lost) {
      if (luck < lost * GIVEN_UP) return { kind: 'given-up' }
      answer = present(token, network, at + 2)
    }
    if (answer === undefined && store !== 'private' && file !== token) answer = present(file, network, at + 1)
    return answer === undefined ? { kind: 'refused' } : { kind: 'answered', token: answer }
  }

  return {
    counts,
    file: () => file,
    memory: (process) => tokens[process] ?? file,
    usedAt: (token) => used.get(families.familyOf(token)) ?? Number.NEGATIVE_INFINITY,
    use(use, lost) {
      const { at, network, process } = use
      look(use)
      if ((expiries[process] ?? 0) > at) return
      const refreshed = refresh(use, lost)
      if (refreshed.kind === 'given-up') return
      if (refreshed.kind === 'refused') counts.signIns += 1
      const token = refreshed.kind === 'answered' ? refreshed.token : families.begin(network, at)
      tokens[process] = token
      expiries[process] = at + accessSeconds
      if (store === 'private') return
      previous = file
      file = token
      writtenAt = at
    },
  }
}

interface TheftNeeds {
  readonly thief: Thief
  readonly person: Person
  readonly random: Random
  readonly uses: readonly Use[]
  readonly processes: Processes
}

/** `actUntil`: what the thief does up to a time. Returns whether the theft is over. */
function openTheft(
  families: Families,
  { thief, person, random, uses, processes }: TheftNeeds,
): { readonly result: Theft; readonly actUntil: (at: number) => boolean } {
  const result: Theft = { wins: 0, first: undefined, last: undefined, isOver: false, winsAfterUse: 0 }
  let stolen: string | undefined
  let network = ELSEWHERE
  let next = thief.at
  let rotatedAt = Number.POSITIVE_INFINITY

  function steal(): void {
    const process = Math.floor(random() * person.gaps.length)
    const isOfProcess = person.store === 'private' || (person.store === 'memory' && random() < 0.5)
    stolen = isOfProcess ? processes.memory(process) : processes.file()
    const last = uses.findLast(({ at }) => at < next) ?? uses[0]
    if (thief.isNear && last !== undefined) ({ network } = last)
    next += thief.isLazy ? exponential(random, 12 * HOUR) : 1
  }

  function use(token: string): void {
    stolen = families.present(token, network, next)
    if (stolen === undefined) {
      result.isOver = true
      return
    }
    result.wins += 1
    if (processes.usedAt(token) >= rotatedAt + families.retrySeconds) result.winsAfterUse += 1
    if (next - families.issuedAt(stolen) < 0.001) rotatedAt = next
    result.first ??= next
    result.last = next
    next += thief.isLazy ? exponential(random, 8 * HOUR) : 10 * MINUTE + random() * 5 * MINUTE
  }

  return {
    result,
    actUntil(at) {
      while (next <= at && !result.isOver) {
        if (stolen === undefined) steal()
        else use(stolen)
      }
      return result.isOver
    },
  }
}
