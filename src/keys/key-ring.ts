import type { KeyObject } from 'node:crypto'
import type { KeyRecord } from '../ports/records.ts'
import type { Reads } from '../ports/store.ts'
import type { EpochMs } from '../protocol/brand.ts'
import { chooseSigningKey } from '../protocol/key-rotation.ts'
import { unlockSigningKey, type SigningKey } from './signing-key.ts'
import { tokenHeader } from './token-header.ts'
import { openTokenVerifier, type TokenVerifier } from './token-verifier.ts'

/** How old a copy may be before it is read again beside the work, and before the work waits for that. */
const AGE_MS = { refreshed: 1000, most: 2000 } as const

/** The keys at one moment. Never changed, only replaced. */
export interface KeySet {
  readonly signing: SigningKey
  /** Of the tokens that it signs. */
  readonly header: string
  readonly verifier: TokenVerifier
  /** Public JWKs. */
  readonly published: readonly object[]
}

/** The keys as the store has them. */
export interface KeyRing {
  /** What is known; undefined when that is too old, and must be read first. */
  readonly known: () => KeySet | undefined
  /** Reads them again. When the store is away, answers what is known. */
  readonly read: () => Promise<KeySet>
}

export interface KeyRingOptions {
  readonly store: Pick<Reads, 'listKeys'>
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
export function openKeyRing(first: readonly KeyRecord[], options: KeyRingOptions): KeyRing {
  const { store, clock, encryptionKey, issuer, onFailure } = options
  let current = makeKeySet(first, undefined)
  let triedAt = clock()
  let isAway = false
  let reading: Promise<KeySet> | undefined

  /** What did not change stays the same object: the tokens that a verifier remembers, the key that was decrypted. */
  function makeKeySet(records: readonly KeyRecord[], before: (KeySet & { readonly ids: string }) | undefined) {
    const chosen = chooseSigningKey(records, clock())
    if (chosen === undefined) throw new Error('There is no signing key.')
    const ids = records.map(({ id }) => id).join()
    const isSame = before?.ids === ids
    return {
      ids,
      header: tokenHeader(chosen),
      signing: before?.signing.record.id === chosen.id ? before.signing : unlockSigningKey(chosen, encryptionKey),
      verifier: isSame ? before.verifier : openTokenVerifier(records, issuer),
      published: isSame ? before.published : records.map(({ publicJwk }) => JSON.parse(publicJwk) as object),
    }
  }

  async function readNow(): Promise<KeySet> {
    try {
      current = makeKeySet(await store.listKeys(), current)
      isAway = false
    } catch (cause) {
      isAway = true
      onFailure(cause)
    } finally {
      triedAt = clock()
      reading = undefined
    }
    return current
  }

  const read = (): Promise<KeySet> => (reading ??= readNow())
  return {
    read,
    known() {
      const ageMs = Math.abs(clock() - triedAt)
      if (ageMs >= AGE_MS.refreshed) void read()
      return ageMs < AGE_MS.most || isAway ? current : undefined
    },
  }
}
