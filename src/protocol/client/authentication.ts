import type { EpochMs } from '../../base/brand.ts'
import { parseClientAssertion, type ClientAssertion } from './assertion.ts'
import { parseClientIdentifier } from './identifier.ts'
import type { ClientMetadata } from './metadata.ts'
import { invalidClient, invalidRequest, type OAuthError } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { decode, type Parameters } from '../../base/message.ts'
import { sameText, type SecretHash, type Secrets } from '../secrets.ts'
import { problem } from '../../base/validation.ts'

/** The client authentication of a request. RFC 6749 §2.3.1, RFC 7521 §4.2, RFC 7591 §2 (`none`). */
export type ClientCredentials = { readonly id: ClientId; readonly usedBasic: boolean } & (
  | { readonly kind: 'none' }
  | { readonly kind: 'secret'; readonly secret: string }
  | { readonly kind: 'assertion'; readonly assertion: ClientAssertion }
)

/** The id and the secret or assertion of a request, not verified yet. */
export interface PresentedCredentials {
  readonly id: string
  /** undefined: the request has no secret. */
  readonly secret: string | undefined
  readonly assertion: ClientAssertion | undefined
  readonly usedBasic: boolean
}

/** Whether a client authenticates. RFC 6749 §2.1. */
export function isConfidential({ metadata }: { readonly metadata: Pick<ClientMetadata, 'authMethod'> }): boolean {
  return metadata.authMethod !== 'none'
}

/**
 * Reads the client's credentials from the Authorization header or the form.
 *
 *  RFC 6749 §2.3    A request must not use more than one method.
 *  RFC 6749 §2.3.1  Basic: the id and the secret are form-urlencoded before they are joined. Some clients do not encode them.
 *                   Ids and secrets of this server are the same with and without the encoding.
 *  RFC 7521 §4.2    With an assertion, `client_id` is optional. If it is sent, it is the client of the assertion.
 *
 * @throws OAuthError invalid_client, invalid_request
 */
export function readClientCredentials(authorization: string | undefined, form: Parameters): ClientCredentials {
  const { id: text, secret, assertion, usedBasic } = readCredentials(authorization, form)
  const id = parseClientIdentifier(text)?.id
  if (id === undefined) throw invalidClient('client_unknown', usedBasic)
  if (assertion !== undefined) return { kind: 'assertion', id, assertion, usedBasic }
  if (secret !== undefined && secret !== '') return { kind: 'secret', id, secret, usedBasic }
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
  return { id, secret: form.get('client_secret'), assertion: undefined, usedBasic: false }
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
  return { id, secret: undefined, assertion, usedBasic: false }
}

/** The stored hashes with which a client secret is compared. */
export interface KeptSecrets {
  readonly secretHash: SecretHash | undefined
  readonly previousSecret: { readonly hash: SecretHash; readonly until: EpochMs } | undefined
}

/**
 * Whether the presented secret is the client's current secret, or the previous secret during its overlap (threats.md CC-06).
 * Neither the result nor its time reveals which of them it is.
 */
export function matchesClientSecret(
  secrets: Pick<Secrets, 'verify'>,
  presented: string,
  { secretHash, previousSecret }: KeptSecrets,
  now: EpochMs,
): boolean {
  const opened = secrets.verify('client-secret', presented)
  if (opened === undefined || secretHash === undefined) return false
  if (sameText(secretHash, opened.hash)) return true
  return previousSecret !== undefined && now < previousSecret.until && sameText(previousSecret.hash, opened.hash)
}

function readBasic(authorization: string, form: Parameters): PresentedCredentials {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1]
  if (encoded === undefined) throw invalidClient('basic_malformed', true)
  if (form.get('client_secret') !== undefined) throw secondAuthentication('client_secret')
  if (hasAssertion(form)) throw secondAuthentication('client_assertion')
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  const id = colon === -1 ? undefined : decode(text.slice(0, colon))
  const secret = colon === -1 ? undefined : decode(text.slice(colon + 1))
  if (id === undefined || id === '' || secret === undefined) throw invalidClient('basic_malformed', true)
  const bodyId = form.get('client_id')
  if (bodyId !== undefined && bodyId !== id) {
    const msg = 'This is not the client of the Authorization header.'
    throw invalidRequest('two_client_authentications', {
      problems: [problem(['body', 'client_id'], 'value_error', msg, bodyId, {})],
    })
  }
  return { id, secret, assertion: undefined, usedBasic: true }
}

function secondAuthentication(field: 'client_secret' | 'client_assertion'): OAuthError {
  const msg = 'The client already authenticated by another method in this request.'
  return invalidRequest('two_client_authentications', {
    problems: [problem(['body', field], 'value_error', msg, null, {})],
  })
}
