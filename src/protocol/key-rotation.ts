import { after, type EpochMs } from './brand.ts'
import type { KeyId } from './ids.ts'

const HOUR_MS = 60 * 60 * 1000
const DAY_MS = 24 * HOUR_MS

/** How long a key is published before it signs: verifiers, and caches before them, may keep the keys for that long. */
export const PUBLICATION_MS = DAY_MS
/**
 * How long a key stays published once another one signs: as long as the longest access token that the settings allow, so
 * that they may change, and an hour for what is slow.
 */
export const KEEPING_MS = DAY_MS + HOUR_MS
/** Every node knows of a change by then: each reads the keys once a second, and clocks differ by two seconds at most. */
export const SPREAD_MS = 10_000

/**
 * How long the first key of an algorithm is published before it signs: twice as long as the keys may be cached, by a verifier
 * and by a cache before it, and until every node knows it. So long another algorithm signs, so nobody waits for it.
 */
export const INTRODUCTION_MS = 10 * 60 * 1000 + SPREAD_MS

/** What the rules look at. */
export interface KeyTerm {
  readonly id: KeyId
  readonly algorithm: string
  /** Earlier it signs only when there is no other. */
  readonly activeFrom: EpochMs
}

/** `next` waits for its turn, `signing` has it, `verifying` had it and stays published for what it signed. */
export type KeyState = 'next' | 'signing' | 'verifying'

/** Which algorithms sign. The keys of each follow one another, beside those of the others. */
export interface SigningDemand {
  /** The server's own. */
  readonly own: string
  /** What signed for the server last, as far as is known: it goes on until `own` has a key. */
  readonly before: string | undefined
  /** Those that APIs ask for. */
  readonly declared: ReadonlySet<string>
}

/** The newest of those whose time has come; before any time has come, the oldest. */
export function chooseSigningKey<Key extends KeyTerm>(keys: readonly Key[], now: EpochMs): Key | undefined {
  const ordered = keys.toSorted(byTerm)
  return ordered.findLast(({ activeFrom }) => activeFrom <= now) ?? ordered[0]
}

/**
 * What signs for the server: a key of its own algorithm, or, before the first of those has its turn, of the one before; if
 * neither has one, any.
 */
export function chooseServerKey<Key extends KeyTerm>(
  keys: readonly Key[],
  { own, before }: Pick<SigningDemand, 'own' | 'before'>,
  now: EpochMs,
): Key | undefined {
  const going = before === undefined ? undefined : chooseStartedKey(keys, before, now)
  return chooseStartedKey(keys, own, now) ?? going ?? chooseSigningKey(keys, now)
}

/** What signs by one algorithm. undefined: none of its keys has had its turn, so that the server's signs instead. */
export function chooseStartedKey<Key extends KeyTerm>(
  keys: readonly Key[],
  algorithm: string,
  now: EpochMs,
): Key | undefined {
  return chooseSigningKey(
    keys.filter((key) => key.algorithm === algorithm && key.activeFrom <= now),
    now,
  )
}

export function keyState(key: KeyTerm, keys: readonly KeyTerm[], demand: SigningDemand, now: EpochMs): KeyState {
  const isSigning =
    chooseServerKey(keys, demand, now)?.id === key.id ||
    (demand.declared.has(key.algorithm) && chooseStartedKey(keys, key.algorithm, now)?.id === key.id)
  if (isSigning) return 'signing'
  return key.activeFrom > now ? 'next' : 'verifying'
}

/** Whether it is time to make the next key of an algorithm, so that it is published for long enough when the last one's time is over. */
export function isRotationDue(keys: readonly KeyTerm[], rotationMs: number, now: EpochMs): boolean {
  const last = keys.toSorted(byTerm).at(-1)
  return rotationMs > 0 && last !== undefined && now >= last.activeFrom + rotationMs - PUBLICATION_MS
}

/**
 * The key because of which another one of its algorithm may go: it took over at least `settledMs` ago, or it signs and the other one is far
 * from its turn. undefined: the other one may sign somewhere, or has signed what is still live.
 *
 * The key that signs is never replaced by an older one, so two who remove keys at the same moment leave it.
 */
export function findReplacement<Key extends KeyTerm>(
  key: KeyTerm,
  keys: readonly Key[],
  settledMs: number,
  now: EpochMs,
): Key | undefined {
  const started = keys.toSorted(byTerm).filter(({ activeFrom }) => activeFrom <= now)
  if (key.activeFrom > after(now, SPREAD_MS)) return started.at(-1)
  return started.findLast((other) => byTerm(other, key) > 0 && other.activeFrom <= after(now, -settledMs))
}

/**
 * The key of another algorithm because of which a key may go: it waits, and the other one signs; or nobody asks for its
 * algorithm any more, and the server's own has been signing for `settledMs`. undefined: there is none.
 */
export function findSuccessor<Key extends KeyTerm>(
  key: KeyTerm,
  keys: readonly Key[],
  demand: SigningDemand,
  settledMs: number,
  now: EpochMs,
): Key | undefined {
  if (key.activeFrom > after(now, SPREAD_MS)) {
    const others = keys.filter(({ activeFrom }) => activeFrom <= now)
    return chooseServerKey(others, demand, now)
  }
  const { own, declared } = demand
  if (key.algorithm === own || declared.has(key.algorithm)) return undefined
  const settled = keys.filter(({ activeFrom }) => activeFrom <= after(now, -settledMs))
  return chooseStartedKey(settled, own, now)
}

function byTerm(one: KeyTerm, other: KeyTerm): number {
  return one.activeFrom - other.activeFrom || (one.id < other.id ? -1 : Number(one.id > other.id))
}
