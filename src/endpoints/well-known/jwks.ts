import type { Context } from '../../ports/context.ts'
import type { Reply } from '../../ports/message.ts'

/** Seconds that a verifier may cache the keys. A key is published a day before it signs. A set that lacks keys is not cached. */
const MAX_AGE_SECONDS = 300

/** Returns the public keys. RFC 7517 §5, RFC 9068 §4. */
export async function jwks({ keys }: Pick<Context, 'keys'>): Promise<Reply> {
  const { keys: published, isComplete } = await keys.published()
  const document = documents.get(published) ?? { keys: published }
  documents.set(published, document)
  return { kind: 'json', status: 200, body: document, ...(isComplete ? { maxAgeSeconds: MAX_AGE_SECONDS } : {}) }
}

/** Documents by list of keys. The list is the same object until a key changes, so `http/reply.ts` serializes each document once. */
const documents = new WeakMap<readonly object[], object>()
