import { createPublicKey, type KeyObject } from 'node:crypto'
import * as z from 'zod'
import { parseJson } from '../../base/json.ts'
import { checkOutboundUrl, type OutboundPolicy } from '../uri/outbound-url.ts'
import { problem, type Problem } from '../../base/validation.ts'
import { MAXIMA } from '../../base/maxima.ts'

/** The algorithms with which a client may sign assertions. RFC 7518 §3.1, RFC 8037 §3.1, RFC 9864 §2.2. */
export const ASSERTION_ALGORITHMS = ['ES256', 'EdDSA', 'Ed25519', 'PS256', 'RS256', 'ES384'] as const
export type AssertionAlgorithm = (typeof ASSERTION_ALGORITHMS)[number]
/** RFC 9864 §2.2: both are the same algorithm with an Ed25519 key. The first name is the older one. */
export const ED25519_NAMES: readonly string[] = ['EdDSA', 'Ed25519'] satisfies readonly AssertionAlgorithm[]

/** The keys of a client that authenticates with `private_key_jwt`, as registered. RFC 7591 §2: it has either `jwks` or `jwks_uri`. */
export interface RegisteredKeys {
  readonly jwks?: { readonly keys: readonly PublicJwk[] }
  readonly jwks_uri?: string
  /** Absent: each of ASSERTION_ALGORITHMS. */
  readonly token_endpoint_auth_signing_alg?: AssertionAlgorithm
}

/** The same, by where the keys are. */
export type ClientKeys = (JwkSet | { readonly kind: 'jwks_uri'; readonly uri: string }) & {
  readonly algorithm: AssertionAlgorithm | undefined
}

/** Public keys for signatures. RFC 7517 §5. */
export interface JwkSet {
  readonly kind: 'jwks'
  readonly jwks: readonly PublicJwk[]
}

/** The members of a registration about keys, as sent. */
export interface KeyFields {
  readonly jwks?: unknown
  readonly jwks_uri?: unknown
  readonly token_endpoint_auth_signing_alg?: unknown
}

/** The most keys of a client. RFC 7517 §5 sets no limit. */
export const KEY_LIMIT = MAXIMA.clientKeys.most
/** Longer moduli and exponents make a verification slow: a caller without the key causes it too. */
const RSA_BITS = { least: 2048, most: 4096 } as const
const EXPONENT_LIMIT = 0xffff_ffffn

const number = z.string().regex(/^[A-Za-z0-9_-]+$/)
const named = { kid: z.string().min(1).max(MAXIMA.jwtId.most).exactOptional() }
/** Public keys of RFC 7518 §6 and RFC 8037 §2, each with the algorithms that it can verify. Other members are dropped. */
const publicJwk = z.union([
  z.object({ kty: z.literal('EC'), crv: z.literal('P-256'), x: number, y: number, alg: one('ES256'), ...named }),
  z.object({ kty: z.literal('EC'), crv: z.literal('P-384'), x: number, y: number, alg: one('ES384'), ...named }),
  z.object({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: number, alg: one('EdDSA', 'Ed25519'), ...named }),
  z.object({ kty: z.literal('RSA'), n: number, e: number, alg: one('PS256', 'RS256'), ...named }),
])

function one<const Names extends readonly AssertionAlgorithm[]>(...names: Names) {
  return z.enum(names).exactOptional()
}

/** A public key that verifies assertions. */
export type PublicJwk = Readonly<z.output<typeof publicJwk>>

/** RFC 7518 §6.2.2, §6.3.2 and §6.4.1: members of private and symmetric keys. */
export const SECRET_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'] as const

/**
 * Reads the keys of a registration with `private_key_jwt`. A faulty key is a fault of the registration; keys for encryption
 * are dropped. No problem repeats a key, because it may be a private one. Nothing is fetched.
 *
 * `outbound` says where the server may fetch keys; undefined: nowhere.
 */
export function readClientKeys(
  fields: KeyFields,
  outbound: OutboundPolicy | undefined,
  fault: (problem: Problem) => void,
): RegisteredKeys {
  const algorithm = readAlgorithm(fields.token_endpoint_auth_signing_alg, fault)
  const bound = algorithm === undefined ? {} : { token_endpoint_auth_signing_alg: algorithm }
  const { jwks: set, jwks_uri: uri } = fields
  if (uri !== undefined && uri !== null && uri !== '') {
    if (set !== undefined && set !== null) fault(faultOf(['jwks'], 'Register either jwks or jwks_uri.'))
    return { jwks_uri: readUri(uri, outbound, fault), ...bound }
  }
  const jwks = readKeys(set, fault)
  if (algorithm !== undefined && jwks.length > 0 && !jwks.some((jwk) => algorithmsOf(jwk).includes(algorithm))) {
    fault(faultOf(['token_endpoint_auth_signing_alg'], `No key of the set can verify ${algorithm}.`))
  }
  return { jwks: { keys: jwks }, ...bound }
}

function readUri(sent: unknown, outbound: OutboundPolicy | undefined, fault: (problem: Problem) => void): string {
  const uri = typeof sent === 'string' ? sent : ''
  const refuse = (msg: string): void => fault(problem(['body', 'jwks_uri'], 'value_error', msg, sent, {}))
  if (outbound === undefined) refuse('This server fetches no keys. Send them in jwks.')
  else {
    const verdict = checkOutboundUrl(uri, outbound)
    if (verdict.kind === 'refused') refuse(`The URL ${verdict.reason}.`)
  }
  return uri
}

function readAlgorithm(sent: unknown, fault: (problem: Problem) => void): AssertionAlgorithm | undefined {
  if (sent === undefined || sent === null || sent === '') return undefined
  const algorithm = ASSERTION_ALGORITHMS.find((name) => name === sent)
  if (algorithm !== undefined) return algorithm
  const msg = 'Assertions are not accepted with this algorithm.'
  const expected = ASSERTION_ALGORITHMS
  fault(problem(['body', 'token_endpoint_auth_signing_alg'], 'literal_error', msg, sent, { expected }))
  return undefined
}

function readKeys(jwks: unknown, fault: (problem: Problem) => void): readonly PublicJwk[] {
  const keys = keysOf(jwks)
  if (keys === undefined) {
    const msg = 'A client with private_key_jwt registers jwks, its public keys as {"keys":[…]}, or jwks_uri.'
    fault(problem(['body', 'jwks'], jwks === undefined ? 'missing' : 'value_error', msg, null, {}))
    return []
  }
  if (keys.length > KEY_LIMIT) {
    const msg = `There are more than ${KEY_LIMIT} keys.`
    fault(problem(['body', 'jwks', 'keys'], 'too_many', msg, null, { max_length: KEY_LIMIT }))
    return []
  }
  return readEach(keys, fault)
}

function readEach(keys: readonly unknown[], fault: (problem: Problem) => void): readonly PublicJwk[] {
  const usable: PublicJwk[] = []
  for (const [index, value] of keys.entries()) {
    const reading = readPublicJwk(value)
    if (reading.kind === 'usable') usable.push(reading.jwk)
    if (reading.kind === 'refused') fault(faultOf(['jwks', 'keys', String(index)], reading.reason))
  }
  const ids = usable.flatMap(({ kid }) => (kid === undefined ? [] : [kid]))
  if (new Set(ids).size < ids.length) fault(faultOf(['jwks', 'keys'], 'Two keys have the same kid.'))
  if (usable.length === 0) fault(faultOf(['jwks', 'keys'], 'No key can be used for signatures.'))
  return usable
}

/**
 * Reads the keys for signatures of a set that was fetched. Unlike in a registration, other keys are ignored (RFC 7517 §5).
 * undefined: the text is not a set with 1 to 20 such keys.
 */
export function parseKeySet(text: string): JwkSet | undefined {
  const jwks = (keysOf(parseJson(text)) ?? []).flatMap((value) => {
    const reading = readPublicJwk(value)
    return reading.kind === 'usable' ? [reading.jwk] : []
  })
  return jwks.length === 0 || jwks.length > KEY_LIMIT ? undefined : { kind: 'jwks', jwks }
}

/** The keys of a JWK Set; undefined if the value is not one. RFC 7517 §5. */
function keysOf(jwks: unknown): readonly unknown[] | undefined {
  const keys: unknown = typeof jwks === 'object' && jwks !== null && 'keys' in jwks ? jwks.keys : undefined
  return Array.isArray(keys) ? keys : undefined
}

/** The result of reading a key. */
type JwkReading =
  | { readonly kind: 'usable'; readonly jwk: PublicJwk }
  /** RFC 7517 §4.2 and §4.3: the key says that it is for something else, such as encryption. */
  | { readonly kind: 'other-use' }
  | { readonly kind: 'refused'; readonly reason: string }

function readPublicJwk(value: unknown): JwkReading {
  const reading = readJwkMembers(value)
  if (reading.kind !== 'usable') return reading
  const imported = importPublicJwk(reading.jwk, RSA_BITS.most)
  return typeof imported === 'string' ? { kind: 'refused', reason: imported } : reading
}

/** Reads the members of a public key for signatures. RFC 7517 §4. Whether its numbers are those of a key, `importPublicJwk` says. */
export function readJwkMembers(value: unknown): JwkReading {
  if (typeof value !== 'object' || value === null) return { kind: 'refused', reason: 'A key must be an object.' }
  const members = value as Readonly<Record<string, unknown>>
  if (SECRET_MEMBERS.some((name) => name in members)) {
    return { kind: 'refused', reason: 'This is not a public key. Replace the key: its private part was sent.' }
  }
  const { use, key_ops: operations } = members
  if ((use ?? 'sig') !== 'sig' || (Array.isArray(operations) && !operations.includes('verify'))) {
    return { kind: 'other-use' }
  }
  const { success, data: jwk } = publicJwk.safeParse(value)
  if (success) return { kind: 'usable', jwk }
  const reason =
    'A key must be an EC key on P-256 or P-384, an Ed25519 key or an RSA key, and its alg one that it can verify.'
  return { kind: 'refused', reason }
}

/** Returns the key, or why it cannot be used. OpenSSL checks that a point is on its curve. `rsaBits`: the longest RSA key. */
export function importPublicJwk(jwk: PublicJwk, rsaBits: number): KeyObject | string {
  try {
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    const { modulusLength, publicExponent } = key.asymmetricKeyDetails ?? {}
    if (modulusLength === undefined || publicExponent === undefined) return key
    if (modulusLength < RSA_BITS.least || modulusLength > rsaBits) {
      return `An RSA key must have ${RSA_BITS.least} to ${rsaBits} bits.`
    }
    const isUsual = publicExponent >= 3n && publicExponent <= EXPONENT_LIMIT && publicExponent % 2n === 1n
    return isUsual ? key : 'The exponent of an RSA key must be odd, and from 3 to 4294967295.'
  } catch {
    return 'The numbers of this key are not those of a public key.'
  }
}

/** Whether both names are of one algorithm. */
export function isSameAlgorithm(name: AssertionAlgorithm, other: AssertionAlgorithm): boolean {
  return name === other || (ED25519_NAMES.includes(name) && ED25519_NAMES.includes(other))
}

/** The algorithms whose signatures the key can verify. */
export function algorithmsOf({ kty, alg, ...jwk }: PublicJwk): readonly string[] {
  if (kty === 'OKP') return ED25519_NAMES
  if (alg !== undefined) return [alg]
  if (kty === 'RSA') return ['PS256', 'RS256']
  return 'crv' in jwk && jwk.crv === 'P-384' ? ['ES384'] : ['ES256']
}

function faultOf(path: readonly string[], msg: string): Problem {
  return problem(['body', ...path], 'value_error', msg, null, {})
}

/** The keys of a client; undefined if it has none. */
export function clientKeys({
  jwks,
  jwks_uri: uri,
  token_endpoint_auth_signing_alg: algorithm,
}: RegisteredKeys): ClientKeys | undefined {
  if (jwks !== undefined) return { kind: 'jwks', jwks: jwks.keys, algorithm }
  return uri === undefined ? undefined : { kind: 'jwks_uri', uri, algorithm }
}
