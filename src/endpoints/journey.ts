import { findProduct } from '../clients/product.ts'
import type { Context } from '../ports/context.ts'
import type { Reply, Request } from '../ports/message.ts'
import type { ProductView } from '../ports/pages/parts.ts'
import type { LinkRecord } from '../ports/records/user.ts'
import { clientNames } from '../protocol/client/identity.ts'
import { findConsole } from './account/frame.ts'
import { findInteraction, type Interaction } from './authorization/interaction.ts'
import { PATHS, pageAddress } from './paths.ts'

/** What a link says of the journey that it is a part of. */
type Led = Pick<LinkRecord, 'clientId' | 'authorizationId'>

/** The request in which the user asked for a link, if this browser began it and it still waits. The client is the one that the link names. */
export async function findAsking(
  context: Context,
  request: Request,
  { authorizationId, clientId }: Led,
): Promise<Interaction | undefined> {
  if (authorizationId === undefined) return undefined
  const found = await findInteraction(context, request, authorizationId)
  if ('kind' in found || found.authorization.status.kind !== 'pending') return undefined
  return found.client.id === clientId ? found : undefined
}

/**
 * Where the user of a link goes on: to the request in which the user asked for it, and otherwise to the product of the client that it names, as
 * this is now. undefined: to that of the operator, if there is one. Nothing of it is in the address of the link (threats.md LNK-10).
 */
export async function findJourneyEnd(context: Context, request: Request, led: Led): Promise<ProductView | undefined> {
  const asking = await findAsking(context, request, led)
  if (asking === undefined) return findProduct(context, led.clientId)
  const { uiLocales } = request
  const uri = pageAddress(context.issuer, PATHS.signIn, { authorization: asking.authorization.id, uiLocales })
  return { uri, name: clientNames(asking.client.metadata) }
}

/** The answer to a person who used a link by a sign-in at a provider: the way to the product instead of the account. A page of a second step stays. */
export async function offerProduct(context: Context, request: Request, link: LinkRecord, reply: Reply): Promise<Reply> {
  const product = reply.kind === 'redirect' ? await findJourneyEnd(context, request, link) : undefined
  if (reply.kind !== 'redirect' || product === undefined) return reply
  const { location: accountUri, ...rest } = reply
  const consoleUri = await findConsole(context, link.userId)
  const page = { kind: 'account-link-used', method: 'provider', product, accountUri, consoleUri } as const
  return { ...rest, kind: 'page', status: 200, page }
}
