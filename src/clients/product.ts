import type { Context } from '../ports/context.ts'
import type { ProductView } from '../ports/pages/parts.ts'
import type { ClientRecord } from '../ports/records/client.ts'
import { clientNames } from '../protocol/client/identity.ts'
import { findProductUri } from '../protocol/client/policy.ts'
import type { ClientId } from '../protocol/ids.ts'

/**
 * The product in which a journey ends: the client as the policy of the server allows it now. undefined: pages may not lead to the client, or not
 * any longer. No address of a request is ever used (threats.md LNK-10).
 */
export async function findProduct(context: Context, id: ClientId | undefined): Promise<ProductView | undefined> {
  const client = id === undefined ? undefined : await context.store.findClient(id)
  return client && productOf(context, client)
}

/** The product of a client. */
export async function productOf(
  { clientPolicy, issuer }: Context,
  client: ClientRecord,
): Promise<ProductView | undefined> {
  if (client.disabledAt !== undefined) return undefined
  const uri = findProductUri(await clientPolicy(), client)
  if (uri === undefined) return undefined
  const url = new URL(uri)
  // OpenID Connect Core 1.0 §4: the client learns at which server its user is.
  if (uri === client.metadata.initiate_login_uri) url.searchParams.set('iss', issuer)
  return { uri: url.href, name: clientNames(client.metadata) }
}
