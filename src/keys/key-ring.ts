import type { KeyObject } from 'node:crypto'
import type { KeyPurpose, KeyRecord, SigningAlgorithm } from '../ports/records/key.ts'
import type { Reads } from '../ports/store.ts'
import type { EpochMs } from '../base/brand.ts'
import { chooseIdTokenKey, chooseServerKey, chooseStartedKey } from '../protocol/key-rotation.ts'
import { unlockSigningKey, type SigningKey } from './signing-key.ts'
import { tokenHeaders, type TokenHeaders } from './token-header.ts'
import { openIdTokenVerifier, openTokenVerifier, type IdTokenVerifier, type TokenVerifier } from './token-verifier.ts'

/**
 * The greatest age of the copy of the keys. After `refreshed` they are read again in the background. After `awaited` a request
 * waits for that. An answer of the store that takes `answered`, longer than a driver waits, is not used. While the store is unavailable the copy is used until `away`: a key is kept for an hour after its last token
 * has expired.
 */
const AGE_MS = { refreshed: 1000, awaited: 2000, answered: 5000, away: 60 * 60 * 1000 } as const

/** A key that signs, and the headers of the tokens that it signs. */
export interface Signer extends SigningKey {
  readonly headers: TokenHeaders
}

/** The keys at one time. A key set is never changed, only replaced. */
export interface KeySet {
  /** The server's key: for APIs that chose no algorithm, and for algorithms that have no active key yet. */
  readonly signing: Signer
  readonly byAlgorithm: ReadonlyMap<SigningAlgorithm, Signer>
  readonly verifier: TokenVerifier
  /** The keys that sign ID tokens. */
  readonly idTokens: ReadonlyMap<SigningAlgorithm, Signer>
  readonly idTokenVerifier: IdTokenVerifier
  /** Public JWKs. */
  readonly published: readonly object[]
}

/** A copy of the keys in the store. */
export interface KeyRing {
  /** The copy; undefined when it is too old and the keys must be read first. */
  readonly known: () => KeySet | undefined
  /**
   * Reads the keys again. While the store is unavailable it returns the copy, and rejects when that is older than an hour.
   */
  readonly read: () => Promise<KeySet>
  /** The copy, however old. */
  readonly last: () => KeySet
  /** Whether the last read has failed. */
  readonly isAway: () => boolean
}

/** The keys as they are stored. */
export interface KnownKeys {
  readonly records: readonly KeyRecord[]
  /** The algorithm of the key that last signed for the server. */
  readonly before: SigningAlgorithm | undefined
}

export interface KeyRingOptions {
  readonly store: Pick<Reads, 'findServerAlgorithm' | 'listKeys'>
  /** The algorithm that the server is configured with. */
  readonly algorithm: SigningAlgorithm
  readonly clock: () => EpochMs
  readonly encryptionKey: KeyObject
  readonly issuer: string
  /** Called with the error when the keys cannot be read. */
  readonly onFailure: (cause: unknown) => void
}

/**
 * Opens a copy of the keys in the store. When the copy is a second old, the next request that needs it starts one read for all
 * requests, and under load no request waits for it. A process that was suspended for days reads the keys before it signs.
 * While the store is unavailable no request waits for it.
 */
export function openKeyRing(first: KnownKeys, options: KeyRingOptions): KeyRing {
  const { store, algorithm, clock, encryptionKey, issuer, onFailure } = options
  let current = makeKeySet(first, undefined)
  let readAt = clock()
  let triedAt = readAt
  let isAway = false
  let reading: Promise<KeySet> | undefined

  /** Keeps the objects that did not change: the verifier with its cached tokens, and the decrypted keys. */
  function makeKeySet({ records, before }: KnownKeys, last: (KeySet & { readonly ids: string }) | undefined) {
    const now = clock()
    const chosen = chooseServerKey(records, { own: algorithm, before }, now)
    if (chosen === undefined) throw new Error('There is no signing key.')
    const ids = records.map(({ id }) => id).join()
    const isSame = last?.ids === ids
    const known = last === undefined ? [] : [last.signing, ...last.byAlgorithm.values(), ...last.idTokens.values()]
    const signerOf = (record: KeyRecord): Signer =>
      known.find((signer) => signer.record.id === record.id) ?? {
        ...unlockSigningKey(record, encryptionKey),
        headers: tokenHeaders(record),
      }
    const signersOf = (chosenKeys: readonly KeyRecord[]) =>
      new Map(chosenKeys.map((record) => [record.algorithm, signerOf(record)]))
    const of = (purpose: KeyPurpose) => records.filter((record) => record.purpose === purpose)
    const algorithms = [...new Set(records.map((record) => record.algorithm))]
    const started = algorithms.flatMap((one) => chooseStartedKey(records, one, now) ?? [])
    const forIdTokens = algorithms.flatMap((one) => chooseIdTokenKey(records, one, now) ?? [])
    return {
      ids,
      signing: signerOf(chosen),
      byAlgorithm: signersOf(started),
      verifier: isSame ? last.verifier : openTokenVerifier(of('access'), issuer),
      idTokens: signersOf(forIdTokens),
      idTokenVerifier: isSame ? last.idTokenVerifier : openIdTokenVerifier(of('id')),
      published: isSame ? last.published : records.map(({ publicJwk }) => JSON.parse(publicJwk) as object),
    }
  }

  /** An answer from before the process was suspended may be days old. */
  async function askStore(): Promise<KnownKeys> {
    for (;;) {
      const askedAt = clock()
      const [records, before] = await Promise.all([store.listKeys(), store.findServerAlgorithm()])
      if (Math.abs(clock() - askedAt) < AGE_MS.answered) return { records, before }
    }
  }

  async function readNow(): Promise<KeySet> {
    try {
      current = makeKeySet(await askStore(), current)
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
    isAway: () => isAway,
    known() {
      // Read once: on some machines reading the clock is the most expensive step of this function.
      const now = clock()
      if (Math.abs(now - triedAt) >= AGE_MS.refreshed) void read().then(undefined, () => undefined)
      return Math.abs(now - readAt) < (isAway ? AGE_MS.away : AGE_MS.awaited) ? current : undefined
    },
  }
}
