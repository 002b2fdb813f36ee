import { createSecretKey, type KeyObject } from 'node:crypto'
import { after, type EpochMs } from '../base/brand.ts'
import type { Random } from '../protocol/ids.ts'
import { deriveKey, openMasterKey, type MasterKey, type Secrets } from '../protocol/secrets.ts'
import type { StoredMasterKey } from '../ports/records/key.ts'
import { decrypt, encrypt } from './encryption.ts'

/** The root secrets of the configuration. */
export interface RootSecrets {
  readonly current: string
  /** The secret before, while the root secret is being changed. */
  readonly previous: string | undefined
}

/** The master key of a store, and the root secret that it was found under. */
export interface UnlockedMasterKey {
  readonly masterKey: MasterKey
  readonly secrets: Secrets
  readonly under: keyof RootSecrets
  readonly rootSecret: string
}

/** For how long after its end a former master key may have signed links of the audit: nodes need seconds to notice the end. */
const NOTICE_MS = 60_000
const AAD = 'master-key'

/** Encrypts a master key under a root secret, for the store. */
export function wrapMasterKey(masterKey: MasterKey, rootSecret: string, random: Random): string {
  return encrypt(Buffer.from(JSON.stringify(masterKey)), AAD, random, wrappingKey(rootSecret))
}

export function createMasterKey(random: Random): MasterKey {
  return { root: random(32).toString('base64url'), former: [] }
}

/** The time until which the audit may have links of a master key that ends now. */
export function linksUntil(now: EpochMs): EpochMs {
  return after(now, NOTICE_MS)
}

/**
 * Makes a random master key in place of one that ends now. Of that one only the key of its digests is kept. `heads`: when the last
 * link of each chain was recorded that has links of a later time, which a clock that was ahead wrote.
 */
export function succeedMasterKey(
  { root, former }: MasterKey,
  random: Random,
  now: EpochMs,
  heads: ReadonlyMap<string, EpochMs>,
): MasterKey {
  const digestKey = deriveKey(root, 'digest').toString('base64url')
  const ahead = Object.fromEntries([...heads].map(([chain, recordedAt]) => [chain, linksUntil(recordedAt)]))
  return { ...createMasterKey(random), former: [...former, { digestKey, until: linksUntil(now), ahead }] }
}

/**
 * Returns the master key of a store that has a check or a wrapped key; undefined if it belongs to neither root secret. The
 * check is compared if there is one.
 */
export function unlockMasterKey(stored: StoredMasterKey, roots: RootSecrets): UnlockedMasterKey | undefined {
  for (const under of ['current', 'previous'] as const) {
    const rootSecret = roots[under]
    if (rootSecret === undefined) continue
    const masterKey = unwrap(stored, rootSecret)
    if (masterKey === undefined) continue
    const secrets = openMasterKey(masterKey)
    const check = masterKeyCheck(secrets)
    if (check === (stored.check ?? check)) return { masterKey, secrets, under, rootSecret }
  }
  return undefined
}

/** A fixed text, keyed with the master key. The store keeps it, so that a node can tell whether it has the right key. */
export function masterKeyCheck({ digest }: Pick<Secrets, 'digest'>): string {
  return digest('store-check', [])
}

function unwrap({ wrapped }: StoredMasterKey, rootSecret: string): MasterKey | undefined {
  if (wrapped === undefined) return { root: rootSecret, former: [] }
  try {
    return JSON.parse(decrypt(wrapped, AAD, wrappingKey(rootSecret)).toString()) as MasterKey
  } catch {
    return undefined
  }
}

function wrappingKey(rootSecret: string): KeyObject {
  return createSecretKey(deriveKey(rootSecret, 'wrap'))
}
