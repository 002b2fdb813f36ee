import { randomUUID } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { JWT_BEARER } from '../src/protocol/token/grant-types.ts'
import { makeClientKey, signJws, type ClientKey } from './client-assertion.ts'

/** What a provider with identity assertions does, without a library: for assertions that no library would sign, and for loads. */

/** The grant types of a client that signs users in, and presents assertions too. */
export const ASSERTION_GRANT_TYPES = ['authorization_code', 'refresh_token', 'client_credentials', JWT_BEARER] as const

/** For whom and for which server an assertion is. */
export interface Asserted {
  /** The issuer of the provider. */
  readonly issuer: string
  /** The issuer of the server. */
  readonly audience: string
  readonly clientId: string
  readonly nowMs: number
}

/** How an assertion differs from a good one. undefined removes a member. */
export interface DifferingAssertion {
  readonly header?: Readonly<Record<string, unknown>>
  readonly claims?: Readonly<Record<string, unknown>>
}

/** A key of a provider, named `kid`. */
export function makeProviderKey(kid: string): ClientKey {
  return makeClientKey('ES256', { kid, alg: 'ES256', use: 'sig' })
}

/** An identity assertion for Ada, valid for five minutes. draft-ietf-oauth-identity-assertion-authz-grant §3. */
export function makeIdentityAssertion(
  key: ClientKey,
  { issuer, audience, clientId, nowMs }: Asserted,
  { header = {}, claims = {} }: DifferingAssertion = {},
): string {
  const now = Math.floor(nowMs / 1000)
  const about = { iss: issuer, aud: audience, client_id: clientId, iat: now, exp: now + 300, jti: randomUUID() }
  const person = { sub: 'ada-at-idp', email: 'ada@acme.test', email_verified: true, name: 'Ada' }
  const { algorithm: alg, jwk } = key
  return signJws(key, { typ: 'oauth-id-jag+jwt', alg, kid: jwk['kid'], ...header }, { ...about, ...person, ...claims })
}

/** The form parameters of RFC 7523 §2.1. */
export function identityAssertionForm(assertion: string): Record<string, string> {
  return { grant_type: JWT_BEARER, assertion }
}

/** Answers as a provider at which no user can sign in: with its metadata, and with the keys at `/jwks`. */
export function answerAsProvider(issuer: string, keys: readonly ClientKey[]): RequestListener {
  const documents: Readonly<Record<string, unknown>> = {
    '/.well-known/openid-configuration': {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      id_token_signing_alg_values_supported: ['ES256'],
    },
    '/jwks': { keys: keys.map(({ jwk }) => jwk) },
  }
  return ({ url = '' }, response) => {
    const document = documents[url]
    response.writeHead(document === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(document ?? {}))
  }
}
