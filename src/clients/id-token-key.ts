import type { Context } from '../ports/context.ts'
import type { ClientMetadata } from '../protocol/client/metadata.ts'

/**
 * Publishes a key of the algorithm that a client registered for its ID tokens, so that verifiers know the key before it signs. Only what the
 * client asks for: a key that no client uses may still be one that a verifier of another client cannot read, and with it the whole set.
 */
export async function publishIdTokenKey(
  { keys }: Pick<Context, 'keys'>,
  { idTokenAlgorithm }: Pick<ClientMetadata, 'idTokenAlgorithm'>,
): Promise<void> {
  if (idTokenAlgorithm !== undefined) await keys.ensureIdTokenKey(idTokenAlgorithm)
}
