import type * as jose from 'jose'
import type { ClientSignatures, SignatureOutcome } from '../ports/client-signatures.ts'
import type { JwkSet, PublicJwk } from '../protocol/client/keys.ts'
import type { FetchedKeys } from './fetched-keys.ts'

/** Loaded at the first assertion: most servers never receive one, and the library takes memory. */
type Jose = typeof jose
type ChooseKey = jose.CompactVerifyGetKey
type Signed = Parameters<ClientSignatures['verify']>[0]

const VERIFIED: SignatureOutcome = { kind: 'verified' }
const WRONG: SignatureOutcome = { kind: 'wrong' }

/**
 * Opens the verifier of what clients signed. jose chooses the key by `kid`, type and algorithm, so that a public key is never
 * taken for the secret of an HMAC (RFC 8725 §3.1).
 */
export function openClientSignatures(fetched: FetchedKeys): ClientSignatures {
  /** jose imports each key of a set once. */
  const sets = new WeakMap<JwkSet, ChooseKey>()

  async function isSignedBy(set: JwkSet, signed: Signed): Promise<boolean> {
    const library: Jose = await import('jose')
    const known = sets.get(set) ?? openSet(library, set)
    sets.set(set, known)
    return isSigned(library, known, signed)
  }

  return {
    async verify(signed, keys, network) {
      if (keys.kind === 'jwks') return (await isSignedBy(keys, signed)) ? VERIFIED : WRONG
      const current = await fetched.current(keys.uri, network)
      if (current.kind !== 'found') return current
      if (await isSignedBy(current.set, signed)) return VERIFIED
      // The client may have replaced its keys.
      const renewed = await fetched.renewed(keys.uri, current.set, network)
      if (renewed?.kind === 'limited') return renewed
      return renewed?.kind === 'found' && (await isSignedBy(renewed.set, signed)) ? VERIFIED : WRONG
    },
  }
}

/**
 * The keys of a client, of which jose takes those whose `kid` is that of the header. Where no key has it, the keys without a `kid` are
 * meant: a library may name a key that its operator registered without a name (RFC 7515 §4.1.4: the header is a hint).
 */
function openSet({ createLocalJWKSet }: Jose, { jwks }: JwkSet): ChooseKey {
  const keys = jwks.map(forEitherName)
  const all = createLocalJWKSet({ keys })
  const unnamed = createLocalJWKSet({ keys: keys.filter(({ kid }) => kid === undefined) })
  return (header, token) => {
    const { kid, ...rest } = header
    return kid === undefined || keys.some((key) => key.kid === kid) ? all(header, token) : unnamed(rest, token)
  }
}

/** RFC 9864 §2.2: jose would compare the name that the key has with that in the header. */
function forEitherName(jwk: PublicJwk): PublicJwk {
  if (jwk.kty !== 'OKP') return jwk
  const { alg: _, ...nameless } = jwk
  return nameless
}

async function isSigned(library: Jose, set: ChooseKey, { jwt, algorithm }: Signed): Promise<boolean> {
  const { compactVerify, errors } = library
  const options = { algorithms: [algorithm] }
  try {
    await compactVerify(jwt, set, options)
    return true
  } catch (cause) {
    if (!(cause instanceof errors.JOSEError)) throw cause
    // Without `kid`, several keys of the client may fit.
    return cause instanceof errors.JWKSMultipleMatchingKeys && isSignedByOne(library, cause, jwt, options)
  }
}

async function isSignedByOne(
  { compactVerify, errors }: Jose,
  candidates: AsyncIterable<jose.CryptoKey>,
  jwt: string,
  options: { readonly algorithms: string[] },
): Promise<boolean> {
  for await (const key of candidates) {
    try {
      await compactVerify(jwt, key, options)
      return true
    } catch (cause) {
      if (!(cause instanceof errors.JOSEError)) throw cause
    }
  }
  return false
}
