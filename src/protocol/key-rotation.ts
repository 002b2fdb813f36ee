import { after, type EpochMs } from '../base/brand.ts'
import type { KeyId } from './ids.ts'

const HOUR_MS = 60 * 60 * 1000
const DAY_MS = 24 * HOUR_MS

/** How long a key is published before it signs. Verifiers, and caches in front of them, may cache the key set for that long. */
export const PUBLICATION_MS = DAY_MS
/**
 * How long a key stays published after another key has replaced it: the longest access token lifetime that the settings
 * allow, plus an hour for slow verifiers. The lifetime may therefore be changed at any time.
 */
export const KEEPING_MS = DAY_MS + HOUR_MS
/** After this time every node knows of a change: nodes read the keys once a second, and clocks differ by two seconds at most. */
export const SPREAD_MS = 10_000

/**
 * How long the first key of an algorithm is published before it signs: the cache time of a verifier, that of a cache in front
 * of it, and the time until every node knows the key. Another algorithm signs until then, so no request waits for the key.
 */
export const INTRODUCTION_MS = 10 * 60 * 1000 + SPREAD_MS

/** The properties of a key that the rules of rotation use. */
export interface KeyTerm {
  readonly id: KeyId
  readonly purpose: 'access' | 'id'
  readonly algorithm: string
  /** The key signs from this time on. Before it, the key signs only if there is no other. */
  readonly activeFrom: EpochMs
}

/** `next`: the key does not sign yet. `signing`: it signs. `verifying`: it no longer signs, but tokens that it signed may still be valid. */
export type KeyState = 'next' | 'signing' | 'verifying'

/** The algorithms that need a key for access tokens. The keys of each algorithm rotate independently of the others. */
export interface SigningDemand {
  /** The server's own algorithm. */
  readonly own: string
  /** The server's previous algorithm, if known. It continues to sign until the first key of `own` signs. */
  readonly before: string | undefined
  /** The algorithms that APIs have declared. */
  readonly declared: ReadonlySet<string>
}

/** The newest key that is already active. If none is active yet, the one that becomes active first. */
export function chooseSigningKey<Key extends KeyTerm>(keys: readonly Key[], now: EpochMs): Key | undefined {
  const ordered = keys.toSorted(byTerm)
  return ordered.findLast(({ activeFrom }) => activeFrom <= now) ?? ordered[0]
}

/** The keys that follow each other: those of one purpose and one algorithm. */
export function lineOf<Key extends KeyTerm>(
  keys: readonly Key[],
  { purpose, algorithm }: Pick<KeyTerm, 'purpose' | 'algorithm'>,
): readonly Key[] {
  return keys.filter((key) => key.purpose === purpose && key.algorithm === algorithm)
}

/** Groups keys into their lines, in the order of the first key of each. */
export function linesOf<Key extends Pick<KeyTerm, 'purpose' | 'algorithm'>>(
  keys: readonly Key[],
): readonly (readonly [Key, ...Key[]])[] {
  const lines = Map.groupBy(keys, ({ purpose, algorithm }) => `${purpose} ${algorithm}`)
  return [...lines.values()] as [Key, ...Key[]][]
}

/**
 * The key for ID tokens of an algorithm. A relying party accepts only the algorithm that it registered, so no other key can sign
 * in its place, and the first key of an algorithm signs before its time.
 */
export function chooseIdTokenKey<Key extends KeyTerm>(
  keys: readonly Key[],
  algorithm: string,
  now: EpochMs,
): Key | undefined {
  return chooseSigningKey(lineOf(keys, { purpose: 'id', algorithm }), now)
}

/**
 * The key that signs access tokens for the server: an active key of its own algorithm, otherwise of its previous algorithm, otherwise any
 * key.
 */
export function chooseServerKey<Key extends KeyTerm>(
  keys: readonly Key[],
  { own, before }: Pick<SigningDemand, 'own' | 'before'>,
  now: EpochMs,
): Key | undefined {
  const going = before === undefined ? undefined : chooseStartedKey(keys, before, now)
  const last = chooseSigningKey(
    keys.filter(({ purpose }) => purpose === 'access'),
    now,
  )
  return chooseStartedKey(keys, own, now) ?? going ?? last
}

/** The active key of one algorithm for access tokens. undefined if no key of it is active yet; then the server's own key signs instead. */
export function chooseStartedKey<Key extends KeyTerm>(
  keys: readonly Key[],
  algorithm: string,
  now: EpochMs,
): Key | undefined {
  return chooseSigningKey(
    lineOf(keys, { purpose: 'access', algorithm }).filter((key) => key.activeFrom <= now),
    now,
  )
}

export function keyState(key: KeyTerm, keys: readonly KeyTerm[], demand: SigningDemand, now: EpochMs): KeyState {
  const signing =
    key.purpose === 'id'
      ? [chooseIdTokenKey(keys, key.algorithm, now)]
      : [
          chooseServerKey(keys, demand, now),
          demand.declared.has(key.algorithm) ? chooseStartedKey(keys, key.algorithm, now) : undefined,
        ]
  if (signing.some((one) => one?.id === key.id)) return 'signing'
  return key.activeFrom > now ? 'next' : 'verifying'
}

/** Whether the next key of an algorithm must be created now, so that it is published long enough before the last key is due for replacement. */
export function isRotationDue(keys: readonly KeyTerm[], rotationMs: number, now: EpochMs): boolean {
  const last = keys.toSorted(byTerm).at(-1)
  return rotationMs > 0 && last !== undefined && now >= last.activeFrom + rotationMs - PUBLICATION_MS
}

/**
 * Returns the key of the same line that makes `key` removable: a newer key that became active at least `settledMs` ago,
 * or, if `key` is not about to become active, the key that signs. Returns undefined if `key` may sign on some node, or if
 * tokens that it signed may still be valid.
 *
 * An older key never replaces the signing key, so two administrators who remove keys at the same time cannot remove it.
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
 * Returns the key of another algorithm that makes a `key` for access tokens removable: the signing key, if `key` is not active yet; or the
 * server's own key, if it has been signing for `settledMs` and no API has declared the algorithm of `key`. Otherwise undefined.
 */
export function findSuccessor<Key extends KeyTerm>(
  key: KeyTerm,
  keys: readonly Key[],
  demand: SigningDemand,
  settledMs: number,
  now: EpochMs,
): Key | undefined {
  if (key.purpose === 'id') return undefined
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
