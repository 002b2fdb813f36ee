import type { EpochMs } from './brand.ts'
import { invalidClient, invalidRequest } from './errors.ts'
import { parseClientId, type ClientId } from './ids.ts'
import { decode, type Parameters } from './message.ts'
import { sameText, type SecretHash, type Secrets } from './secrets.ts'
import { problem } from './validation.ts'

/** The client authentication of a request. RFC 6749 §2.3.1, RFC 7591 §2 (`none`). */
export type ClientCredentials =
  | { readonly kind: 'none'; readonly id: ClientId; readonly usedBasic: false }
  | { readonly kind: 'secret'; readonly id: ClientId; readonly secret: string; readonly usedBasic: boolean }

/** The id and secret of a request, not verified yet. */
export interface PresentedCredentials {
  readonly id: string
  /** undefined: the request has no secret. */
  readonly secret: string | undefined
  readonly usedBasic: boolean
}

/**
 * Reads the client's credentials from the Authorization header or the form.
 *
 *  RFC 6749 §2.3    A request must not use more than one method.
 *  RFC 6749 §2.3.1  Basic: the id and the secret are form-urlencoded before they are joined. Some clients do not encode them.
 *                   Ids and secrets of this server are the same with and without the encoding.
 *
 * @throws OAuthError invalid_client, invalid_request
 */
export function readClientCredentials(authorization: string | undefined, form: Parameters): ClientCredentials {
  const { id: text, secret, usedBasic } = readCredentials(authorization, form)
  const id = parseClientId(text)
  if (id === undefined) throw invalidClient('client_unknown', usedBasic)
  if (secret !== undefined && secret !== '') return { kind: 'secret', id, secret, usedBasic }
  if (usedBasic) throw invalidClient('client_secret_missing', true)
  return { kind: 'none', id, usedBasic: false }
}

/**
 * Reads the caller's id and secret from the Authorization header or the form, without checking their syntax.
 *
 * @throws OAuthError invalid_client, invalid_request
 */
export function readCredentials(authorization: string | undefined, form: Parameters): PresentedCredentials {
  if (authorization !== undefined) return readBasic(authorization, form)
  const id = form.get('client_id')
  if (id === undefined) throw invalidClient('client_missing', false)
  return { id, secret: form.get('client_secret'), usedBasic: false }
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
  const previousHash = previousSecret !== undefined && now < previousSecret.until ? previousSecret.hash : secretHash
  const isCurrent = sameText(secretHash, opened.hash)
  const isPrevious = sameText(previousHash, opened.hash)
  return isCurrent || isPrevious
}

function readBasic(authorization: string, form: Parameters): PresentedCredentials {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1]
  if (encoded === undefined) throw invalidClient('basic_malformed', true)
  if (form.get('client_secret') !== undefined) {
    const msg = 'The client already authenticated in the Authorization header.'
    throw invalidRequest('two_client_authentications', {
      problems: [problem(['body', 'client_secret'], 'value_error', msg, null, {})],
    })
  }
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
  return { id, secret, usedBasic: true }
}
