import type { ClientLookup } from '../ports/client-lookup.ts'
import type { Context } from '../ports/context.ts'
import type { ClientRecord } from '../ports/records/client.ts'
import { findPolicyRefusal } from './evaluate-client.ts'
import { parseClientIdentifier } from '../protocol/client/identifier.ts'
import { loadDocument } from './load-document.ts'

/**
 * Finds the client that starts something new, by its `client_id`. RFC 6749 §2.2. A metadata document is fetched if it is not
 * stored or no longer fresh. `network` is that of the caller, whose rate the request counts against.
 *
 * Where a client uses what it was allowed before, such as a refresh token, only the stored client is read. A document that cannot
 * be fetched then ends nothing.
 */
export async function findClient(context: Context, text: string, network: string): Promise<ClientLookup> {
  const identifier = parseClientIdentifier(text)
  if (identifier === undefined) return { kind: 'unknown' }
  const { id, documentUrl: url } = identifier
  const stored = await context.store.findClient(id)
  if (url === undefined) return found(stored)
  if (isCurrent(context, stored)) return usable(context, stored)
  // Of one network, whose rates decide whether the document is fetched. Requests of several networks at the same time are one all the same.
  return context.documentLoads(`${network} ${url}`, async () => {
    // A load that ended after the read above has stored the client.
    const client = await context.store.findClient(id)
    return isCurrent(context, client) ? usable(context, client) : loadDocument(context, url, client, network)
  })
}

/** A disabled client is refused whatever its document says. */
function isCurrent({ clock }: Context, client: ClientRecord | undefined): boolean {
  return client?.disabledAt !== undefined || clock() < (client?.document?.freshUntil ?? 0)
}

/** A blocked host does not decide by the freshness of its document how long it is served. */
async function usable(context: Context, client: ClientRecord | undefined): Promise<ClientLookup> {
  return (client && (await findPolicyRefusal(context, client, 'use'))) ?? found(client)
}

function found(client: ClientRecord | undefined): ClientLookup {
  return client === undefined ? { kind: 'unknown' } : { kind: 'found', client }
}
