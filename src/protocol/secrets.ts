import { createSecretKey, hash, hkdfSync, timingSafeEqual, type KeyObject } from 'node:crypto'
import type { LinkPlace } from './audit/audit-link.ts'
import type { Brand, EpochMs } from '../base/brand.ts'
import { ID_LENGTH, type Random } from './ids.ts'
import { openMac } from '../base/mac.ts'
import { openRecentlyUsed } from '../base/recently-used.ts'

/** Keyed hash of a credential, base64url. The store accepts only this, so a raw token cannot be saved. */
export type SecretHash = Brand<string, 'SecretHash'>

/**
 * The kinds of credential. The fields of a credential, in order: prefix, time-ordered id, generation and time of issue, 256 random bits, tag.
 * Fields have fixed widths and no separators, so a credential can be parsed in one way only. Any change makes its tag invalid.
 */
const KINDS = {
  'client-secret': { prefix: 'gcs_', generations: false },
  'management-token': { prefix: 'gmt_', generations: false },
  'authorization-code': { prefix: 'gac_', generations: false },
  'pushed-request': { prefix: 'gpr_', generations: false },
  'device-code': { prefix: 'gdv_', generations: false },
  'refresh-token': { prefix: 'grt_', generations: true },
  'access-token': { prefix: 'gat_', generations: false },
  'api-secret': { prefix: 'gas_', generations: false },
  'admin-token': { prefix: 'gad_', generations: false },
  'delegate-token': { prefix: 'gde_', generations: false },
  'initial-token': { prefix: 'git_', generations: false },
  interaction: { prefix: 'gin_', generations: false },
  link: { prefix: 'gln_', generations: false },
  'identity-proof': { prefix: 'gup_', generations: false },
  session: { prefix: 'gss_', generations: false },
  browser: { prefix: 'gbr_', generations: false },
} as const

export type CredentialKind = keyof typeof KINDS

/** The kinds that are minted once. A refresh token is of a family. */
export type SingleKind = Exclude<CredentialKind, 'refresh-token'>

/** The kind that a text begins as, whether or not this server issued it. */
export function kindByPrefix(text: string): CredentialKind | undefined {
  return (Object.keys(KINDS) as CredentialKind[]).find((kind) => text.startsWith(KINDS[kind].prefix))
}

/** A new credential: the text for its holder and the hash for the store. */
export interface MintedCredential {
  readonly token: string
  readonly hash: SecretHash
}

/** A credential with a valid tag: this server issued it. It may be expired or revoked since. */
export interface ParsedCredential {
  /** The key of its row in the store; see ids.ts. */
  readonly id: string
  /** 0 for kinds that do not rotate. */
  readonly generation: number
  /** 0 for kinds that do not rotate: their row has it. */
  readonly issuedAt: EpochMs
  readonly hash: SecretHash
}

/**
 * The key that all others are derived from, and what is left of the master keys before it. The store keeps it, encrypted under
 * the root secret (docs/operations/secrets.md).
 */
export interface MasterKey {
  readonly root: string
  /** Oldest first. */
  readonly former: readonly FormerMasterKey[]
}

/** A master key that was replaced after a leak. No credential is verified with it. */
export interface FormerMasterKey {
  /** The key of its digests, base64url. */
  readonly digestKey: string
  /** Links of the audit from before this time may be its. */
  readonly until: EpochMs
  /**
   * The same for the chains that a clock that was ahead had written when the key was replaced: the id of each chain that had links of
   * `until` or later, and its own time. Earlier releases stored none.
   */
  readonly ahead?: Readonly<Record<string, EpochMs>>
}

/** All functions that need the master key (decision 0003). Each purpose has its own derived key. */
export interface Secrets {
  /** Makes a new random credential. `id` is the key of its row. */
  readonly mint: (kind: SingleKind, id: string, random: Random) => MintedCredential
  /** Makes the first refresh token of a family, with the random bits that all of them have. */
  readonly mintFamily: (id: string, issuedAt: EpochMs, random: Random) => MintedCredential
  /** Makes a credential from `parts` and the master key. The same parts always give the same credential. */
  readonly derive: (kind: SingleKind, id: string, parts: readonly string[]) => MintedCredential
  /** Returns undefined if the text is not a credential of this kind, or was not issued by this server. Does not query the store. */
  readonly verify: (kind: CredentialKind, text: string) => ParsedCredential | undefined
  /**
   * The refresh token of another generation of the family of `presented`, issued at `issuedAt`. Its tag is made with the master key, so a
   * retry gets the same token although no token is stored. Neither the database nor another token of the family reveals it (decision 0004).
   */
  readonly atGeneration: (presented: string, at: FamilyPlace) => MintedCredential
  /** A keyed digest of a list of parts, 256 bits in base64url. Different lists have different digests, whatever the parts contain. */
  readonly digest: (purpose: DigestPurpose, parts: readonly string[]) => string
  /** Whether `text` is the digest of `parts`. Compares in constant time. */
  readonly digestMatches: (purpose: DigestPurpose, parts: readonly string[], text: string) => boolean
  /** Whether `text` is the digest of a link of the audit: of this master key, or of the one in use when it was recorded. */
  readonly auditDigestMatches: (
    parts: readonly string[],
    place: Pick<LinkPlace, 'chainId' | 'recordedAt'>,
    text: string,
  ) => boolean
  /**
   * A keyed digest of the network of a caller, in 8 characters: equal for equal networks, and no address at rest (decision 0054). '' for
   * undefined, a network that is unknown.
   */
  readonly networkTag: (network: string | undefined) => string
  /** AES-256 key that encrypts private signing keys at rest. */
  readonly encryptionKey: KeyObject
}

/** Which token of a family, and when it was issued. The time is in the token, under its tag. */
export interface FamilyPlace {
  readonly generation: number
  readonly issuedAt: EpochMs
}

export type DigestPurpose =
  | 'credential'
  | 'csrf'
  | 'bucket'
  | 'shared-client'
  | 'client-assertion'
  | 'assertion-grant'
  | 'session-id'
  | 'upstream'
  | 'sealed'
  | 'recovery-code'
  | 'email-code'
  | 'mailed-code'
  | 'store-check'
  | 'audit'
  | 'backup'
  | 'interaction'
  | 'era'
  | 'dpop-nonce'
  | 'user-code'
  | 'console'
  | 'given-secret'
  | 'network'

/** Verified client secrets that a process remembers, at least; about 400 B each. */
const VERIFIED_SECRETS = 5000
/** Networks whose tags a process remembers, at least. */
const TAGGED_NETWORKS = 2000
const NETWORK_TAG_LENGTH = 8
const GENERATION_LENGTH = 6
/** Milliseconds in hexadecimal digits, until the year 2527. */
const ISSUED_LENGTH = 11
const SECRET_LENGTH = 43
const TAG_LENGTH = 22
const PLACE_LENGTH = GENERATION_LENGTH + ISSUED_LENGTH
const FAMILY_PREFIX = KINDS['refresh-token'].prefix
const PLACE_START = FAMILY_PREFIX.length + ID_LENGTH
const PLACE_END = PLACE_START + PLACE_LENGTH
const ALPHABET = /^[A-Za-z0-9_-]+$/

/** Opens the secrets of a master key that has no former one. */
export function openSecrets(root: string): Secrets {
  return openMasterKey({ root, former: [] })
}

/** Derives the keys from the master key (HKDF, RFC 5869). The master key itself is not kept. */
export function openMasterKey({ root, former }: MasterKey): Secrets {
  const authenticate = openMac(deriveKey(root, 'seal'))
  const digestOf = openMac(deriveKey(root, 'digest'))
  const formerDigests = former.map(({ digestKey, until, ahead }) => ({
    until,
    ahead,
    digestOf: openMac(readKey(digestKey)),
  }))
  /**
   * Client secrets whose tag was right, by their SHA-256: a client sends the same one with every request. An entry never has to be removed,
   * because it says only that this server issued the secret. Whether the client still has it is compared with the store.
   */
  const verified = openRecentlyUsed<ParsedCredential>(VERIFIED_SECRETS)
  const networkTags = openRecentlyUsed<string>(TAGGED_NETWORKS)
  // Look-ups keep their first key: a client that registers again after a leak finds the client that it shares.
  const lookupOf = formerDigests[0]?.digestOf ?? digestOf

  function finish(prefix: string, fields: string): MintedCredential {
    const mac = authenticate(prefix + fields)
    return { token: prefix + fields + tagOf(mac), hash: hashOf(mac) }
  }

  function digest(purpose: DigestPurpose, parts: readonly string[]): string {
    return (purpose === 'shared-client' ? lookupOf : digestOf)(JSON.stringify([purpose, ...parts]))
  }

  return {
    encryptionKey: createSecretKey(deriveKey(root, 'encrypt')),
    digest,
    digestMatches: (purpose, parts, text) => sameText(digest(purpose, parts), text),
    auditDigestMatches(parts, { chainId, recordedAt }, text) {
      const valid = formerDigests.filter(({ until, ahead }) => recordedAt < Math.max(until, ahead?.[chainId] ?? 0))
      const digested = JSON.stringify(['audit', ...parts])
      return [digestOf, ...valid.map((one) => one.digestOf)].some((one) => sameText(one(digested), text))
    },
    networkTag: (network) =>
      network === undefined
        ? ''
        : networkTags.getOrMake(network, () => digest('network', [network]).slice(0, NETWORK_TAG_LENGTH)),
    mint: (kind, id, random) => finish(KINDS[kind].prefix, id + random(32).toString('base64url')),
    mintFamily: (id, issuedAt, random) =>
      finish(FAMILY_PREFIX, id + formatPlace({ generation: 0, issuedAt }) + random(32).toString('base64url')),
    derive: (kind, id, parts) => finish(KINDS[kind].prefix, id + digest('credential', [kind, id, ...parts])),
    verify(kind, text) {
      if (kind !== 'client-secret') return verify(kind, text)
      const key = hash('sha256', text, 'base64url')
      const known = verified.get(key)
      if (known !== undefined) return known
      const parsed = verify(kind, text)
      if (parsed !== undefined) verified.set(key, parsed)
      return parsed
    },
    atGeneration: (presented, at) =>
      finish(
        FAMILY_PREFIX,
        presented.slice(FAMILY_PREFIX.length, PLACE_START) + formatPlace(at) + presented.slice(PLACE_END, -TAG_LENGTH),
      ),
  }

  function verify(kind: CredentialKind, text: string): ParsedCredential | undefined {
    const { prefix, generations } = KINDS[kind]
    const fieldsEnd = prefix.length + ID_LENGTH + (generations ? PLACE_LENGTH : 0) + SECRET_LENGTH
    if (text.length !== fieldsEnd + TAG_LENGTH || !text.startsWith(prefix) || !ALPHABET.test(text)) return undefined
    const mac = authenticate(text.slice(0, fieldsEnd))
    if (!sameText(tagOf(mac), text.slice(fieldsEnd))) return undefined
    const idEnd = prefix.length + ID_LENGTH
    const generationEnd = idEnd + GENERATION_LENGTH
    return {
      id: text.slice(prefix.length, idEnd),
      generation: generations ? Number.parseInt(text.slice(idEnd, generationEnd), 16) : 0,
      issuedAt: (generations
        ? Number.parseInt(text.slice(generationEnd, generationEnd + ISSUED_LENGTH), 16)
        : 0) as EpochMs,
      hash: hashOf(mac),
    }
  }
}

/**
 * Whether the presented text is the credential whose hash is stored. The tag is also verified if no hash is stored, so that
 * the response time does not reveal which ids exist.
 */
export function matchesCredential(
  secrets: Pick<Secrets, 'verify'>,
  kind: CredentialKind,
  presented: string | undefined,
  kept: SecretHash | undefined,
): boolean {
  const opened = presented === undefined ? undefined : secrets.verify(kind, presented)
  return opened !== undefined && kept !== undefined && sameText(kept, opened.hash)
}

/** Compares two texts in a time that does not depend on where they differ. */
export function sameText(expected: string, actual: string): boolean {
  const left = Buffer.from(expected)
  const right = Buffer.from(actual)
  return left.length === right.length && timingSafeEqual(left, right)
}

/** HKDF (RFC 5869) of a root secret or master key. The names of the purposes never change: stored data depends on them. */
export function deriveKey(root: string, purpose: 'seal' | 'digest' | 'encrypt' | 'wrap'): Buffer {
  return Buffer.from(hkdfSync('sha256', root, 'grantor', purpose, 32))
}

function readKey(text: string): Buffer {
  return Buffer.from(text, 'base64url')
}

/** The first 132 of 256 bits. The tag is part of the credential and reveals nothing about the hash. */
function tagOf(mac: string): string {
  return mac.slice(0, TAG_LENGTH)
}

/** The other 124 bits, which only the store gets. */
function hashOf(mac: string): SecretHash {
  return mac.slice(TAG_LENGTH) as SecretHash
}

/** `toString(16)` divides for each digit, which takes three times as long. */
function formatPlace({ generation, issuedAt }: FamilyPlace): string {
  place.writeUIntBE(generation, 0, 3)
  place.writeUIntBE(issuedAt, 3, 6)
  const digits = place.toString('hex')
  return digits.slice(0, GENERATION_LENGTH) + digits.slice(-ISSUED_LENGTH)
}

/** 3 bytes of a generation, and 6 of a time. */
const place = Buffer.alloc(9)
