import type { Context } from '../../ports/context.ts'
import type { Reply } from '../../ports/message.ts'

/** Seconds that a verifier may keep the keys. A key is published for a day before it signs. */
const MAX_AGE_SECONDS = 300

/** The public keys. RFC 7517 §5, RFC 9068 §4. */
export async function jwks({ keys }: Pick<Context, 'keys'>): Promise<Reply> {
  const published = await keys.published()
  const document = documents.get(published) ?? { keys: published }
  documents.set(published, document)
  return { kind: 'json', status: 200, body: document, maxAgeSeconds: MAX_AGE_SECONDS }
}

/** By the list of keys, which is the same list until they change: as one object the document is written once (http/reply.ts). */
const documents = new WeakMap<readonly object[], object>()
