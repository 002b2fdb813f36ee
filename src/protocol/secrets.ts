import { createSecretKey, hkdfSync, timingSafeEqual, type KeyObject } from 'node:crypto'
import type { Brand } from './brand.ts'
import { ID_LENGTH, type Random } from './ids.ts'
import { openMac } from './mac.ts'

/** Keyed hash of a credential, base64url. The store accepts only this, so a raw token cannot be saved. */
export type SecretHash = Brand<string, 'SecretHash'>

/**
 * The kinds of credential and their fields, in order: prefix, time-ordered id, generation, 256 random bits, tag. Fields
 * have fixed widths and no separators, so there is one way to read a credential and any edit breaks its tag.
 */
const KINDS = {
  'client-secret': { prefix: 'gcs_', generations: false },
  'management-token': { prefix: 'gmt_', generations: false },
  'authorization-code': { prefix: 'gac_', generations: false },
  'refresh-token': { prefix: 'grt_', generations: true },
  'access-token': { prefix: 'gat_', generations: false },
  'api-secret': { prefix: 'gas_', generations: false },
  'admin-token': { prefix: 'gad_', generations: false },
  session: { prefix: 'gss_', generations: false },
  browser: { prefix: 'gbr_', generations: false },
} as const

export type CredentialKind = keyof typeof KINDS

/** A credential at the moment it is made: the text for its holder, the hash for the store. */
export interface MintedCredential {
  readonly token: string
  readonly hash: SecretHash
}

/** A credential that carries our tag: we issued it once, whatever became of it since. */
export interface ParsedCredential {
  /** Finds the row; see ids.ts. */
  readonly id: string
  /** 0 for kinds that do not rotate. */
  readonly generation: number
  readonly hash: SecretHash
}

/** Everything that is keyed by the root secret (decisions.md D5). Each purpose has its own derived key. */
export interface Secrets {
  /** A fresh credential of a kind, with the id that finds its row. */
  readonly mint: (kind: CredentialKind, id: string, random: Random) => MintedCredential
  /** A credential that is the same whenever it is made from the same parts, and that only the root secret can make. */
  readonly derive: (kind: CredentialKind, id: string, parts: readonly string[]) => MintedCredential
  /** undefined: not of this kind, or not made by us. Costs no look-up. */
  readonly verify: (kind: CredentialKind, text: string) => ParsedCredential | undefined
  /**
   * The refresh token that follows `presented`. Derived under the root secret, so a retry gets the same answer without the
   * answer being stored, and neither the database nor the old token alone gives it away (decisions.md D5).
   */
  readonly deriveSuccessor: (presented: string, opened: ParsedCredential) => MintedCredential
  /** A keyed digest over parts that no part can imitate by containing a separator; base64url, 256 bits. */
  readonly digest: (purpose: DigestPurpose, parts: readonly string[]) => string
  /** Whether `text` is that digest, in constant time. */
  readonly digestMatches: (purpose: DigestPurpose, parts: readonly string[], text: string) => boolean
  /** AES-256 key that encrypts private signing keys at rest. */
  readonly encryptionKey: KeyObject
}

export type DigestPurpose = 'credential' | 'csrf' | 'bucket' | 'shared-client' | 'store-check' | 'audit'

const GENERATION_LENGTH = 6
const SECRET_LENGTH = 43
const TAG_LENGTH = 22
const HASH_LENGTH = 43
const ALPHABET = /^[A-Za-z0-9_-]+$/

/** Derives the keys from the root secret (HKDF, RFC 5869). The root itself is not kept. */
export function openSecrets(root: string): Secrets {
  const authenticate = openMac('sha512', deriveKey(root, 'seal'))
  const successorOf = openMac('sha256', deriveKey(root, 'deriveSuccessor'))
  const digestOf = openMac('sha256', deriveKey(root, 'digest'))

  function finish(prefix: string, fields: string): MintedCredential {
    const mac = authenticate(prefix + fields)
    return { token: prefix + fields + tagOf(mac), hash: hashOf(mac) }
  }

  function digest(purpose: DigestPurpose, parts: readonly string[]): string {
    return digestOf(JSON.stringify([purpose, ...parts]))
  }

  return {
    encryptionKey: createSecretKey(deriveKey(root, 'encrypt')),
    digest,
    digestMatches: (purpose, parts, text) => sameText(digest(purpose, parts), text),
    mint(kind, id, random) {
      const { prefix, generations } = KINDS[kind]
      return finish(prefix, id + (generations ? formatGeneration(0) : '') + random(32).toString('base64url'))
    },
    derive(kind, id, parts) {
      const { prefix, generations } = KINDS[kind]
      return finish(prefix, id + (generations ? formatGeneration(0) : '') + digest('credential', [kind, id, ...parts]))
    },
    verify(kind, text) {
      const { prefix, generations } = KINDS[kind]
      const fieldsEnd = prefix.length + ID_LENGTH + (generations ? GENERATION_LENGTH : 0) + SECRET_LENGTH
      if (text.length !== fieldsEnd + TAG_LENGTH || !text.startsWith(prefix) || !ALPHABET.test(text)) return undefined
      const mac = authenticate(text.slice(0, fieldsEnd))
      if (!sameText(tagOf(mac), text.slice(fieldsEnd))) return undefined
      const idEnd = prefix.length + ID_LENGTH
      return {
        id: text.slice(prefix.length, idEnd),
        generation: generations ? Number.parseInt(text.slice(idEnd, idEnd + GENERATION_LENGTH), 16) : 0,
        hash: hashOf(mac),
      }
    },
    deriveSuccessor(presented, opened) {
      const generation = formatGeneration(opened.generation + 1)
      return finish(KINDS['refresh-token'].prefix, opened.id + generation + successorOf(presented))
    },
  }
}

/** Whether what was presented is the credential whose hash is kept. It is looked at whether or not there is such a hash. */
export function matchesCredential(
  secrets: Pick<Secrets, 'verify'>,
  kind: CredentialKind,
  presented: string | undefined,
  kept: SecretHash | undefined,
): boolean {
  const opened = presented === undefined ? undefined : secrets.verify(kind, presented)
  return opened !== undefined && kept !== undefined && sameText(kept, opened.hash)
}

/** Equality that takes the same time wherever the texts differ. */
export function sameText(expected: string, actual: string): boolean {
  const left = Buffer.from(expected)
  const right = Buffer.from(actual)
  return left.length === right.length && timingSafeEqual(left, right)
}

function deriveKey(root: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', root, 'grantor', purpose, 32))
}

/** The first 132 of 512 bits. In the credential for everybody to see; it tells nothing about the hash. */
function tagOf(mac: string): string {
  return mac.slice(0, TAG_LENGTH)
}

/** The last 256 bits, which only the store sees. */
function hashOf(mac: string): SecretHash {
  return mac.slice(-HASH_LENGTH) as SecretHash
}

function formatGeneration(generation: number): string {
  return generation.toString(16).padStart(GENERATION_LENGTH, '0')
}
