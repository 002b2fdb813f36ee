import type { KeyObject } from 'node:crypto'
import type { KeyRecord, SigningAlgorithm } from '../ports/records/key.ts'
import type { Reads } from '../ports/store.ts'
import type { EpochMs } from '../protocol/brand.ts'
import { chooseServerKey, chooseStartedKey } from '../protocol/key-rotation.ts'
import { unlockSigningKey, type SigningKey } from './signing-key.ts'
import { tokenHeaders, type TokenHeaders } from './token-header.ts'
import { openTokenVerifier, type TokenVerifier } from './token-verifier.ts'

/**
 * How old a copy may be: before it is read again beside the work, before the work waits for that, and when the store is away.
 * A key is kept for an hour longer than its tokens live.
 */
const AGE_MS = { refreshed: 1000, awaited: 2000, away: 60 * 60 * 1000 } as const

/** A key that signs, and the headers of what it signs. */
export interface Signer extends SigningKey {
  readonly headers: TokenHeaders
}

/** The keys at one moment. Never changed, only replaced. */
export interface KeySet {
  /** For whoever asks for no algorithm, or for one that has no key yet whose turn has come. */
  readonly signing: Signer
  readonly byAlgorithm: ReadonlyMap<SigningAlgorithm, Signer>
  readonly verifier: TokenVerifier
  /** Public JWKs. */
  readonly published: readonly object[]
}

/** The keys as the store has them, as far as is known. */
export interface KeyRing {
  /** What is known; undefined when that is too old, and must be read first. */
  readonly known: () => KeySet | undefined
  /** Reads them again. When the store is away, answers what is known, and rejects when that is older than an hour. */
  readonly read: () => Promise<KeySet>
  /** What is known, however old. */
  readonly last: () => KeySet
}

/** What the store says of keys. */
export interface KnownKeys {
  readonly records: readonly KeyRecord[]
  /** What signed for the server last. */
  readonly before: SigningAlgorithm | undefined
}

export interface KeyRingOptions {
  readonly store: Pick<Reads, 'findServerAlgorithm' | 'listKeys'>
  /** The server's own. */
  readonly algorithm: SigningAlgorithm
  readonly clock: () => EpochMs
  readonly encryptionKey: KeyObject
  readonly issuer: string
  /** Told what kept the keys from being read. */
  readonly onFailure: (cause: unknown) => void
}

/**
 * Follows the keys in the store: whoever needs them reads them again when they are a second old, once for all, and under load
 * nobody waits for that. A process that stood still for days reads them before it signs. While the store is away nobody
 * waits for it.
 */
export function openKeyRing(first: KnownKeys, options: KeyRingOptions): KeyRing {
  const { store, algorithm, clock, encryptionKey, issuer, onFailure } = options
  let current = makeKeySet(first, undefined)
  let readAt = clock()
  let triedAt = readAt
  let isAway = false
  let reading: Promise<KeySet> | undefined

  /** What did not change stays the same object: the tokens that a verifier remembers, the key that was decrypted. */
  function makeKeySet({ records, before }: KnownKeys, last: (KeySet & { readonly ids: string }) | undefined) {
    const now = clock()
    const chosen = chooseServerKey(records, { own: algorithm, before }, now)
    if (chosen === undefined) throw new Error('There is no signing key.')
    const ids = records.map(({ id }) => id).join()
    const isSame = last?.ids === ids
    const known = last === undefined ? [] : [last.signing, ...last.byAlgorithm.values()]
    const signerOf = (record: KeyRecord): Signer =>
      known.find((signer) => signer.record.id === record.id) ?? {
        ...unlockSigningKey(record, encryptionKey),
        headers: tokenHeaders(record),
      }
    const algorithms = [...new Set(records.map((record) => record.algorithm))]
    const started = algorithms.flatMap((one) => chooseStartedKey(records, one, now) ?? [])
    return {
      ids,
      signing: signerOf(chosen),
      byAlgorithm: new Map(started.map((record) => [record.algorithm, signerOf(record)])),
      verifier: isSame ? last.verifier : openTokenVerifier(records, issuer),
      published: isSame ? last.published : records.map(({ publicJwk }) => JSON.parse(publicJwk) as object),
    }
  }

  async function readNow(): Promise<KeySet> {
    try {
      const [records, before] = await Promise.all([store.listKeys(), store.findServerAlgorithm()])
      current = makeKeySet({ records, before }, current)
      readAt = clock()
      isAway = false
    } catch (cause) {
      isAway = true
      onFailure(cause)
      if (Math.abs(clock() - readAt) >= AGE_MS.away) throw cause
    } finally {
      triedAt = clock()
      reading = undefined
    }
    return current
  }

  const read = (): Promise<KeySet> => (reading ??= readNow())
  return {
    read,
    last: () => current,
    known() {
      // Read once: on some machines reading the clock is the dearest step of this.
      const now = clock()
      if (Math.abs(now - triedAt) >= AGE_MS.refreshed) void read().then(undefined, () => undefined)
      return Math.abs(now - readAt) < (isAway ? AGE_MS.away : AGE_MS.awaited) ? current : undefined
    },
  }
}
