import type * as jose from 'jose'
import type { ClientSignatures, SignatureOutcome } from '../ports/client-signatures.ts'
import { algorithmsOf, type JwkSet, type PublicJwk } from '../protocol/client/keys.ts'
import type { FetchedKeys } from './fetched-keys.ts'

/** Loaded at the first assertion: most servers never receive one, and the library takes memory. */
type Jose = typeof jose
type ChooseKey = jose.CompactVerifyGetKey
type Signed = Parameters<ClientSignatures['verify']>[0]

/**
 * The most keys that are tried: the former and the next one, where a client that replaces its key gives neither a `kid`. Each costs a
 * verification, which a caller without any key causes too (threats.md CA-15).
 */
const TRIED_KEYS = 2

/**
 * Opens the verifier of what clients signed. A key is tried only with an algorithm of its type, so that a public key is never taken for the
 * secret of an HMAC (RFC 8725 §3.1).
 */
export function openClientSignatures(fetched: FetchedKeys): ClientSignatures {
  /** jose imports each key once. */
  const imported = new WeakMap<PublicJwk, ChooseKey>()

  async function tryKeys(
    { jwks }: JwkSet,
    signed: Signed,
  ): Promise<Extract<SignatureOutcome, { readonly kind: Tried }>> {
    const candidates = candidatesOf(jwks, signed)
    if (candidates.length > TRIED_KEYS) return { kind: 'ambiguous' }
    const library: Jose = await import('jose')
    for (const jwk of candidates) {
      const key = imported.get(jwk) ?? library.createLocalJWKSet({ keys: [nameless(jwk)] })
      imported.set(jwk, key)
      if (await isSigned(library, key, signed)) return { kind: 'verified' }
    }
    return { kind: 'wrong' }
  }

  return {
    async verify(signed, keys, network) {
      if (keys.kind === 'jwks') return tryKeys(keys, signed)
      const current = await fetched.current(keys.uri, network)
      if (current.kind !== 'found') return current
      const tried = await tryKeys(current.set, signed)
      if (tried.kind !== 'wrong') return tried
      // The client may have replaced its keys.
      const renewed = await fetched.renewed(keys.uri, current.set, network)
      if (renewed?.kind === 'limited') return renewed
      // Not wrong, upon which clients throw their registration away: the key may be one that the client published a moment ago.
      if (renewed?.kind === 'paused' && isUnknown(current.set, signed)) {
        return { kind: 'limited', reason: 'key-unknown', retryAfterSeconds: renewed.retryAfterSeconds }
      }
      return renewed?.kind === 'found' ? tryKeys(renewed.set, signed) : tried
    },
  }
}

type Tried = 'verified' | 'wrong' | 'ambiguous'

/**
 * The keys that may have signed. A `kid` in the header names one. Where no key has it, the keys without a `kid` are meant: a library may
 * name a key that its operator registered without a name (RFC 7515 §4.1.4: the header is a hint).
 */
function candidatesOf(jwks: readonly PublicJwk[], { algorithm, keyId }: Signed): readonly PublicJwk[] {
  const fitting = jwks.filter((jwk) => algorithmsOf(jwk).includes(algorithm))
  if (keyId === undefined) return fitting
  const isKnown = jwks.some(({ kid }) => kid === keyId)
  return fitting.filter(({ kid }) => kid === (isKnown ? keyId : undefined))
}

function isUnknown({ jwks }: JwkSet, { keyId }: Signed): boolean {
  return keyId !== undefined && !jwks.some(({ kid }) => kid === keyId)
}

/**
 * A key as jose takes it for each header. The name was compared before; jose would also compare the name of the algorithm, of which
 * Ed25519 has two (RFC 9864 §2.2).
 */
function nameless(jwk: PublicJwk): PublicJwk {
  const { kid: _kid, alg: _alg, ...key } = jwk
  return key
}

async function isSigned({ compactVerify, errors }: Jose, key: ChooseKey, { jwt, algorithm }: Signed): Promise<boolean> {
  try {
    await compactVerify(jwt, ({ alg }, token) => key({ alg }, token), { algorithms: [algorithm] })
    return true
  } catch (cause) {
    if (!(cause instanceof errors.JOSEError)) throw cause
    return false
  }
}
