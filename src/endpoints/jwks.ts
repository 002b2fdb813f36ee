import type { Context } from '../ports/context.ts'
import type { Reply } from '../ports/message.ts'

/** Seconds that a verifier may keep the keys. */
const MAX_AGE_SECONDS = 300

/** The public keys. RFC 7517 §5, RFC 9068 §4. */
export async function jwks({ tokens }: Pick<Context, 'tokens'>): Promise<Reply> {
  return { kind: 'json', status: 200, body: { keys: tokens.publicKeys() }, maxAgeSeconds: MAX_AGE_SECONDS }
}
