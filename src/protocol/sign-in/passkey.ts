import { hash } from 'node:crypto'
import type { Brand } from '../../base/brand.ts'
import { isObject, parseJson } from '../../base/json.ts'
import type { Parameters } from '../../base/message.ts'
import { MAXIMA } from '../../base/maxima.ts'

/** Names a passkey of a user: 128 bits of the digest of the credential id, which may have 1,023 bytes. */
export type PasskeyId = Brand<string, 'PasskeyId'>

/** The most passkeys of a user. */
export const PASSKEY_LIMIT = MAXIMA.passkeys.most

const ID_LENGTH = 22
export const PASSKEY_ID_FORM = /^[A-Za-z0-9_-]{22}$/

/** `credentialId`: WebAuthn Level 3 §4, in base64url. */
export function passkeyIdOf(credentialId: string): PasskeyId {
  return hash('sha256', Buffer.from(credentialId, 'base64url'), 'base64url').slice(0, ID_LENGTH) as PasskeyId
}

/**
 * The lengths of the fields of an answer, in base64url: of the credential id 1,023 bytes (WebAuthn Level 3 §7.1), of the attestation object
 * 8 KiB, because some authenticators send certificates, unasked for and not read, and of each other field 3 KiB.
 */
const FIELD_LENGTH = 4096
const LENGTHS: Partial<Record<PasskeyField, number>> = { credential: 1364, attestationObject: 10_923 }
const FIELD = /^[A-Za-z0-9_-]+$/

/** The members of the answers of a browser that a form has. */
export type PasskeyField =
  | 'credential'
  | 'clientDataJSON'
  | 'authenticatorData'
  | 'attestationObject'
  | 'signature'
  | 'userHandle'

/** Reads a field of an answer. undefined: it is missing, too long or not base64url. */
export function readPasskeyField(params: Pick<Parameters, 'get'>, name: PasskeyField): string | undefined {
  const text = params.get(name)
  const longest = LENGTHS[name] ?? FIELD_LENGTH
  return text !== undefined && text.length <= longest && FIELD.test(text) ? text : undefined
}

/**
 * The RP ID (WebAuthn Level 3 §4): the host of the issuer. Never of a request. undefined: the host is an address, for which browsers make
 * no passkeys.
 */
export function rpIdOf(issuer: string): string | undefined {
  const { hostname } = new URL(issuer)
  return /^\[|^[\d.]+$/.test(hostname) ? undefined : hostname
}

/** What the client data of an answer must say. */
export interface ClientDataExpectation {
  readonly type: 'webauthn.create' | 'webauthn.get'
  readonly issuer: string
}

export type ReadClientData =
  /** `challenge`: as it is in the client data, in base64url; its meaning is not checked. */
  | { readonly kind: 'read'; readonly challenge: string }
  | { readonly kind: 'refused'; readonly check: 'client-data' | 'type' | 'origin' | 'cross-origin' }

/**
 * Reads the client data of an answer: WebAuthn Level 3 §7.1 steps 5 to 11, §7.2 steps 8 to 14. Stricter than the specification: a page that
 * is embedded in another site gets no answer, whether or not the browser names the other site.
 */
export function readClientData(text: string, { type, issuer }: ClientDataExpectation): ReadClientData {
  const data = parseJson(Buffer.from(text, 'base64url').toString())
  if (!isObject(data) || typeof data['challenge'] !== 'string' || !FIELD.test(data['challenge']))
    return { kind: 'refused', check: 'client-data' }
  if (data['type'] !== type) return { kind: 'refused', check: 'type' }
  if (data['origin'] !== new URL(issuer).origin) return { kind: 'refused', check: 'origin' }
  const isEmbedded = (data['crossOrigin'] ?? false) !== false || data['topOrigin'] !== undefined
  return isEmbedded ? { kind: 'refused', check: 'cross-origin' } : { kind: 'read', challenge: data['challenge'] }
}
