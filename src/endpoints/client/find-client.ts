import type { ClientLookup } from '../../ports/client-lookup.ts'
import type { Context } from '../../ports/context.ts'
import { findPolicyRefusal } from '../../principals/evaluate-client.ts'
import { parseClientIdentifier } from '../../protocol/client-identifier.ts'
import { loadDocument, type DocumentNeeds } from './load-document.ts'

/**
 * Finds the client that starts something new, by its `client_id`. RFC 6749 §2.2. A metadata document is fetched if it is not
 * stored or not fresh any more. `network` is that of the caller, whose rate the request counts against.
 *
 * Where a client uses what it was allowed before, such as a refresh token, only the stored client is read. A document that cannot
 * be fetched then ends nothing.
 */
export async function findClient(
  context: DocumentNeeds & Pick<Context, 'clock' | 'documentLoads'>,
  text: string,
  network: string,
): Promise<ClientLookup> {
  const identifier = parseClientIdentifier(text)
  if (identifier === undefined) return { kind: 'unknown' }
  const client = await context.store.findClient(identifier.id)
  const { documentUrl: url } = identifier
  const isCurrent =
    url === undefined || client?.disabledAt !== undefined || context.clock() < (client?.document?.freshUntil ?? 0)
  if (!isCurrent) return context.documentLoads(url, () => loadDocument(context, url, client, network))
  if (client === undefined) return { kind: 'unknown' }
  // A blocked host does not decide by the freshness of its document how long it is served.
  const refusal = url === undefined ? undefined : await findPolicyRefusal(context, client, 'use')
  return refusal ?? { kind: 'found', client }
}
