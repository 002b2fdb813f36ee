import { exportJWK, generateKeyPair, type CryptoKey, type JWK } from 'jose'
import {
  assertionClaims,
  assertionForm,
  makeClientKey,
  signJws,
  type AssertionSigner,
  type ClientKey,
} from '../../tools/client-assertion.ts'
import { registerClient, type RegisteredClient } from '../../tools/flow.ts'
import type { TestServer } from './server.ts'

/** A client with `private_key_jwt`. */
export interface KeyClient {
  readonly client: RegisteredClient
  readonly key: ClientKey
}

/** How an assertion differs from one that the server accepts. */
export interface Differing {
  readonly header?: Readonly<Record<string, unknown>>
  readonly claims?: Readonly<Record<string, unknown>>
}

/** Registers a client with one key. */
export async function registerKeyClient(
  server: TestServer,
  metadata: object = {},
  key: ClientKey = makeClientKey('ES256'),
): Promise<KeyClient> {
  const method = { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [key.jwk] } }
  return { client: await registerClient(server, { ...method, ...metadata }), key }
}

/** A new assertion of the client. */
export function assertionOf(server: TestServer, { client, key }: KeyClient, differing: Differing = {}): string {
  const claims = assertionClaims(client.client_id, server.origin, server.clock.now())
  return signJws(key, { alg: key.algorithm, ...differing.header }, { ...claims, ...differing.claims })
}

/** The parameters with which the client authenticates, by a new assertion. */
export function authentication(server: TestServer, client: KeyClient, differing?: Differing): Record<string, string> {
  return assertionForm(assertionOf(server, client, differing))
}

/** A key as libraries take it, and its public part, named `one`. */
export async function cryptoKey(
  algorithm: AssertionSigner,
): Promise<{ readonly privateKey: CryptoKey; readonly jwk: JWK }> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid: 'one' } }
}
