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

/** What the rules look at. */
export interface KeyTerm {
  readonly id: KeyId
  /** Earlier it signs only when there is no other. */
  readonly activeFrom: EpochMs
}

/** `next` waits for its turn, `signing` has it, `verifying` had it and stays published for what it signed. */
export type KeyState = 'next' | 'signing' | 'verifying'

/** The newest of those whose time has come; before any time has come, the oldest. */
export function chooseSigningKey<Key extends KeyTerm>(keys: readonly Key[], now: EpochMs): Key | undefined {
  const ordered = keys.toSorted(byTerm)
  return ordered.findLast(({ activeFrom }) => activeFrom <= now) ?? ordered[0]
}

export function keyState(key: KeyTerm, keys: readonly KeyTerm[], now: EpochMs): KeyState {
  const signing = chooseSigningKey(keys, now)
  if (signing === undefined || signing.id === key.id) return 'signing'
  return byTerm(key, signing) > 0 ? 'next' : 'verifying'
}

/** Whether it is time to make the next key, so that it is published for long enough when the last one's time is over. */
export function isRotationDue(keys: readonly KeyTerm[], rotationMs: number, now: EpochMs): boolean {
  const last = keys.toSorted(byTerm).at(-1)
  return rotationMs > 0 && last !== undefined && now >= last.activeFrom + rotationMs - PUBLICATION_MS
}

/**
 * The key because of which another one may go: it took over at least `settledMs` ago, or it signs and the other one is far
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

function byTerm(one: KeyTerm, other: KeyTerm): number {
  return one.activeFrom - other.activeFrom || (one.id < other.id ? -1 : Number(one.id > other.id))
}
