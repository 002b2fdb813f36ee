import { compactVerify, createLocalJWKSet, errors, type CryptoKey } from 'jose'
import type { ClientSignatures } from '../ports/client-signatures.ts'
import type { ClientKeys } from '../protocol/client-keys.ts'

/**
 * Opens the verifier of what clients signed. jose chooses the key by `kid`, type and algorithm, so that a public key is never
 * taken for the secret of an HMAC (RFC 8725 §3.1).
 */
export function openClientSignatures(): ClientSignatures {
  /** jose imports each key of a set once. */
  const sets = new WeakMap<ClientKeys, LocalSet>()

  function setOf(keys: ClientKeys): LocalSet {
    const known = sets.get(keys) ?? createLocalJWKSet({ keys: [...keys.jwks] })
    sets.set(keys, known)
    return known
  }

  return {
    async verify({ jwt, algorithm }, keys) {
      const options = { algorithms: [algorithm] }
      try {
        await compactVerify(jwt, setOf(keys), options)
        return true
      } catch (cause) {
        if (!(cause instanceof errors.JOSEError)) throw cause
        // Without `kid`, several keys of the client may fit.
        return cause instanceof errors.JWKSMultipleMatchingKeys && verifiesOne(jwt, cause, options)
      }
    },
  }
}

type LocalSet = ReturnType<typeof createLocalJWKSet>

async function verifiesOne(
  jwt: string,
  candidates: AsyncIterable<CryptoKey>,
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
