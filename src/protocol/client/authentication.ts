import type { EpochMs } from '../../base/brand.ts'
import { parseClientAssertion, type ClientAssertion } from './assertion.ts'
import { parseClientIdentifier } from './identifier.ts'
import type { ClientMetadata } from './members.ts'
import { invalidClient, invalidRequest, type OAuthError } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { decode, type Parameters } from '../../base/message.ts'
import { matchesCredential, sameText, type SecretHash, type Secrets } from '../secrets.ts'
import { problem } from '../../base/validation.ts'

/** The client authentication of a request. RFC 6749 §2.3.1, RFC 7521 §4.2, RFC 7591 §2 (`none`). */
export type ClientCredentials = { readonly id: ClientId; readonly usedBasic: boolean } & (
  | { readonly kind: 'none' }
  | ({ readonly kind: 'secret' } & PresentedSecret)
  | { readonly kind: 'assertion'; readonly assertion: ClientAssertion }
)

/** The secret of a request. */
export interface PresentedSecret {
  readonly secret: string
  /** The secret without the decoding of Basic, which some clients do not encode for. */
  readonly secretAsSent: string
}

/** The id and the secret or assertion of a request, not verified yet. */
export interface PresentedCredentials {
  readonly id: string
  /** undefined: the request has no secret. */
  readonly secret: string | undefined
  readonly secretAsSent: string | undefined
  readonly assertion: ClientAssertion | undefined
  readonly usedBasic: boolean
}

/** Whether a client authenticates. RFC 6749 §2.1. */
export function isConfidential({
  metadata,
}: {
  readonly metadata: Pick<ClientMetadata, 'token_endpoint_auth_method'>
}): boolean {
  return metadata.token_endpoint_auth_method !== 'none'
}

/**
 * Reads the client's credentials from the Authorization header or the form.
 *
 *  RFC 6749 §2.3    A request must not use more than one method.
 *  RFC 6749 §2.3.1  Basic: the id and the secret are form-urlencoded before they are joined. Some clients do not encode them.
 *                   Ids, and secrets of this server, are the same with and without the encoding. A secret that an operator gave may
 *                   differ, so both texts are compared. An id with a colon has to be encoded.
 *  RFC 7521 §4.2    With an assertion, `client_id` is optional. If it is sent, it is the client of the assertion.
 *
 * @throws OAuthError invalid_client, invalid_request
 */
export function readClientCredentials(authorization: string | undefined, form: Parameters): ClientCredentials {
  const { id: text, secret, secretAsSent, assertion, usedBasic } = readCredentials(authorization, form)
  const id = parseClientIdentifier(text)?.id
  if (id === undefined) throw invalidClient('client_unknown', usedBasic)
  if (assertion !== undefined) return { kind: 'assertion', id, assertion, usedBasic }
  if (secret !== undefined && secret !== '')
    return { kind: 'secret', id, secret, secretAsSent: secretAsSent ?? secret, usedBasic }
  if (usedBasic) throw invalidClient('client_secret_missing', true)
  return { kind: 'none', id, usedBasic: false }
}

/**
 * Reads the caller's id and secret or assertion from the Authorization header or the form, without checking the id's syntax.
 *
 * @throws OAuthError invalid_client, invalid_request
 */
export function readCredentials(authorization: string | undefined, form: Parameters): PresentedCredentials {
  if (authorization !== undefined) return readBasic(authorization, form)
  if (hasAssertion(form)) return readAssertion(form)
  const id = form.get('client_id')
  if (id === undefined) throw invalidClient('client_missing', false)
  const secret = form.get('client_secret')
  return { id, secret, secretAsSent: secret, assertion: undefined, usedBasic: false }
}

function hasAssertion(form: Parameters): boolean {
  return form.get('client_assertion') !== undefined || form.get('client_assertion_type') !== undefined
}

function readAssertion(form: Parameters): PresentedCredentials {
  if (form.get('client_secret') !== undefined) throw secondAuthentication('client_secret')
  const assertion = parseClientAssertion(form.get('client_assertion_type'), form.get('client_assertion') ?? '')
  if (assertion === undefined) throw invalidClient('assertion_malformed', false)
  const { clientId: id } = assertion
  if ((form.get('client_id') ?? id) !== id) throw invalidClient('assertion_of_another_client', false)
  return { id, secret: undefined, secretAsSent: undefined, assertion, usedBasic: false }
}

/** The stored hashes with which a client secret is compared. */
export interface KeptSecrets {
  readonly id: ClientId
  readonly secretHash: SecretHash | undefined
  readonly previousSecret: { readonly hash: SecretHash; readonly until: EpochMs } | undefined
}

/**
 * Whether the presented secret is the client's current secret, or the previous secret during its overlap (threats.md CC-06).
 * Neither the result nor its time reveals which of them it is.
 */
export function matchesClientSecret(
  secrets: Pick<Secrets, 'digest' | 'verify'>,
  { secret, secretAsSent }: PresentedSecret,
  client: KeptSecrets,
  now: EpochMs,
): boolean {
  return (
    matchesKept(secrets, secret, client, now) ||
    (secretAsSent !== secret && matchesKept(secrets, secretAsSent, client, now))
  )
}

function matchesKept(
  secrets: Pick<Secrets, 'digest' | 'verify'>,
  text: string,
  { id, secretHash, previousSecret }: KeptSecrets,
  now: EpochMs,
): boolean {
  if (secretHash === undefined) return false
  if (matchesSecretHash(secrets, id, text, secretHash)) return true
  return (
    previousSecret !== undefined &&
    now < previousSecret.until &&
    matchesSecretHash(secrets, id, text, previousSecret.hash)
  )
}

/** The hash of a secret that an operator gave begins with it, because it is of another kind than that of a secret of this server. */
const GIVEN = 'given:'

/** Whether the text is the secret of the client whose hash is stored. Never for a `slow:` one, which `matchesSlowSecret` verifies. */
export function matchesSecretHash(
  secrets: Pick<Secrets, 'digest' | 'verify'>,
  id: ClientId,
  text: string,
  hash: SecretHash,
): boolean {
  if (isGivenSecret(hash)) return sameText(hashGivenSecret(secrets, id, text), hash)
  return matchesCredential(secrets, 'client-secret', text, hash)
}

/** Returns the hash of a secret that an operator gives a client. It cannot be guessed, so a keyed digest is enough. */
export function hashGivenSecret({ digest }: Pick<Secrets, 'digest'>, id: ClientId, secret: string): SecretHash {
  return `${GIVEN}${digest('given-secret', [id, secret])}` as SecretHash
}

/** Whether a hash is that of a secret that an operator gave. */
export function isGivenSecret(hash: SecretHash): boolean {
  return hash.startsWith(GIVEN)
}

/** The hash of a secret that another system has made begins with it. Only an import stores one. */
export const SLOW = 'slow:'

/** Returns the hash of a secret of which only the hash of another system is known, as `Passwords.verify` reads it. */
export function slowSecretHash(foreign: string): SecretHash {
  return `${SLOW}${foreign}` as SecretHash
}

/** Whether a hash is of another system, and so takes long to verify. */
export function isSlowSecret(hash: SecretHash): boolean {
  return hash.startsWith(SLOW)
}

/** The hash as the other system has made it. */
export function foreignHashOf(hash: SecretHash): string {
  return hash.slice(SLOW.length)
}

/** The `slow:` hash of a valid secret of the client. There is one at most, because only an import stores it. */
export function findSlowSecret({ secretHash, previousSecret }: KeptSecrets, now: EpochMs): SecretHash | undefined {
  if (secretHash !== undefined && isSlowSecret(secretHash)) return secretHash
  const isValid = previousSecret !== undefined && now < previousSecret.until && isSlowSecret(previousSecret.hash)
  return isValid ? previousSecret.hash : undefined
}

/** 16 to 256 printable characters. */
export const GIVEN_SECRET_FORM = /^[\x21-\x7e]{16,256}$/

/**
 * Whether a secret may be guessed. A right secret is accepted however many wrong ones were sent, which is safe only for
 * one that cannot be.
 */
export function isGuessable(secret: string): boolean {
  return new Set(secret).size < 8
}

function readBasic(authorization: string, form: Parameters): PresentedCredentials {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1]
  if (encoded === undefined) throw invalidClient('basic_malformed', true)
  if (form.get('client_secret') !== undefined) throw secondAuthentication('client_secret')
  if (hasAssertion(form)) throw secondAuthentication('client_assertion')
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  const id = colon === -1 ? undefined : decode(text.slice(0, colon))
  const secretAsSent = colon === -1 ? undefined : text.slice(colon + 1)
  // A text that is not the encoding of another one was not encoded.
  const secret = secretAsSent === undefined ? undefined : (decode(secretAsSent) ?? secretAsSent)
  if (id === undefined || id === '' || secret === undefined) throw invalidClient('basic_malformed', true)
  const bodyId = form.get('client_id')
  if (bodyId !== undefined && bodyId !== id) {
    const msg = 'This is not the client of the Authorization header.'
    throw invalidRequest('two_client_authentications', {
      problems: [problem(['body', 'client_id'], 'value_error', msg, bodyId, {})],
    })
  }
  return { id, secret, secretAsSent, assertion: undefined, usedBasic: true }
}

function secondAuthentication(field: 'client_secret' | 'client_assertion'): OAuthError {
  const msg = 'The client already authenticated by another method in this request.'
  return invalidRequest('two_client_authentications', {
    problems: [problem(['body', field], 'value_error', msg, null, {})],
  })
}
