import { constants, generateKeyPairSync, randomUUID, sign, type KeyObject } from 'node:crypto'

/** What a client with `private_key_jwt` does, without a library: for assertions that no library would sign, and for loads. */

export type AssertionSigner = keyof typeof SIGNING

/** A key of a client. */
export interface ClientKey {
  readonly algorithm: AssertionSigner
  readonly privateKey: KeyObject
  /** The public key, for a registration. */
  readonly jwk: Readonly<Record<string, unknown>>
}

interface Signing {
  readonly generate: () => { readonly privateKey: KeyObject; readonly publicKey: KeyObject }
  readonly digest: 'sha256' | 'sha384' | null
  readonly options: object
}

const PSS = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }
const SIGNING = {
  ES256: ec('P-256', 'sha256'),
  ES384: ec('P-384', 'sha384'),
  EdDSA: { generate: () => generateKeyPairSync('ed25519'), digest: null, options: {} },
  Ed25519: { generate: () => generateKeyPairSync('ed25519'), digest: null, options: {} },
  PS256: { generate: rsa, digest: 'sha256', options: PSS },
  RS256: { generate: rsa, digest: 'sha256', options: {} },
} as const satisfies Readonly<Record<string, Signing>>

function ec(namedCurve: string, digest: 'sha256' | 'sha384'): Signing {
  return {
    generate: () => generateKeyPairSync('ec', { namedCurve }),
    digest,
    options: { dsaEncoding: 'ieee-p1363' },
  }
}

function rsa(): ReturnType<Signing['generate']> {
  return generateKeyPairSync('rsa', { modulusLength: 2048 })
}

export function makeClientKey(algorithm: AssertionSigner, members: Readonly<Record<string, unknown>> = {}): ClientKey {
  const { privateKey, publicKey } = SIGNING[algorithm].generate()
  return { algorithm, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), ...members } }
}

/** A compact JWS with this header and these claims. RFC 7515 §7.1. */
export function signJws({ algorithm, privateKey }: ClientKey, header: object, claims: object): string {
  const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  const { digest, options } = SIGNING[algorithm]
  return `${signed}.${sign(digest, Buffer.from(signed), { key: privateKey, ...options }).toString('base64url')}`
}

/** The claims of RFC 7523 §3, valid for a minute. */
export function assertionClaims(clientId: string, audience: string, nowMs: number): Readonly<Record<string, unknown>> {
  const now = Math.floor(nowMs / 1000)
  return { iss: clientId, sub: clientId, aud: audience, exp: now + 60, iat: now, jti: randomUUID() }
}

/** The form parameters of RFC 7523 §2.2. */
export function assertionForm(jwt: string): Record<string, string> {
  return {
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: jwt,
  }
}
