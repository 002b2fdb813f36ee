import type { Context } from '../../../ports/context.ts'
import type { IdentityProofRecord } from '../../../ports/records/provider.ts'
import { openOfUser } from '../../../protocol/sign-in/link.ts'
import { sameText, type SecretHash } from '../../../protocol/secrets.ts'

/** A proof that the sign-in page has in its forms, with its credential. */
export interface OpenProof {
  readonly proof: IdentityProofRecord
  readonly token: string
}

/** The name of the field with the credential. */
export const PROOF_FIELD = 'connect'

/** Finds the proof of a credential, if it is valid in this browser (threats.md UP-04). */
export async function findProof(
  context: Context,
  token: string | undefined,
  browserHash: SecretHash,
): Promise<OpenProof | undefined> {
  const opened = token === undefined ? undefined : openOfUser(context.secrets, 'identity-proof', token)
  if (opened === undefined || token === undefined) return undefined
  const proof = await context.store.findIdentityProof(opened.userId)
  const isValid =
    proof !== undefined &&
    sameText(proof.hash, opened.hash) &&
    sameText(proof.browserHash, browserHash) &&
    proof.expiresAt > context.clockCheck.now()
  return isValid ? { proof, token } : undefined
}
