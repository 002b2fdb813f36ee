import type { Context, StoreNeeds } from '../../ports/context.ts'
import type { ProviderRecord } from '../../ports/records/provider.ts'
import type { ProviderFinding } from '../../ports/upstream.ts'
import { isDocumentUrl, parseClientReference } from '../../protocol/client/identifier.ts'
import { JWT_BEARER } from '../../protocol/token/grant-types.ts'
import { sameResource } from '../../protocol/token/resource.ts'

type Needs = Pick<Context, 'apis'> & StoreNeeds<'findClient' | 'listProviders'>

/**
 * Looks whether the identity assertions of a provider would be accepted: for the clients and APIs of its lists, and with an issuer of its
 * own. No finding: it lists none.
 */
export async function checkAssertions(
  context: Needs,
  provider: Pick<ProviderRecord, 'id' | 'settings'>,
): Promise<readonly ProviderFinding[]> {
  const { assertionClients: clients, assertionApis: apis } = provider.settings
  if (clients.length === 0) return []
  const declared = await context.apis()
  const faults = [
    findTwin(provider, await context.store.listProviders()),
    ...(await Promise.all(clients.map((client) => findClientFault(context, client)))),
    ...apis.map((api) =>
      declared.some(({ resource }) => sameResource(resource, api)) ? undefined : `The API ${api} is not declared.`,
    ),
  ].filter((fault) => fault !== undefined)
  if (faults.length > 0) return faults.map((detail) => ({ check: 'assertions', isOk: false, detail }))
  const detail = `Clients that may present its assertions: ${clients.length}; APIs: ${apis.length}.`
  return [{ check: 'assertions', isOk: true, detail }]
}

/** Of two providers with one issuer neither would be meant. */
export function findTwin(
  { id, settings }: Pick<ProviderRecord, 'id' | 'settings'>,
  providers: readonly Pick<ProviderRecord, 'id' | 'settings' | 'disabledAt'>[],
): string | undefined {
  const twin = providers.find(
    (other) =>
      other.id !== id &&
      other.disabledAt === undefined &&
      other.settings.assertionClients.length > 0 &&
      other.settings.issuer === settings.issuer,
  )
  return twin === undefined
    ? undefined
    : `The provider ${twin.id} lists clients too and has the same issuer, so the assertions of neither are accepted.`
}

/** A client with a metadata document may come later. */
async function findClientFault({ store }: Needs, identifier: string): Promise<string | undefined> {
  const id = parseClientReference(identifier)
  const client = id === undefined ? undefined : await store.findClient(id)
  if (client === undefined) {
    return isDocumentUrl(identifier) ? undefined : `The client ${identifier} does not exist.`
  }
  if (client.disabledAt !== undefined) return `The client ${identifier} is disabled.`
  return client.metadata.grantTypes.includes(JWT_BEARER)
    ? undefined
    : `The client ${identifier} is not registered for the grant type ${JWT_BEARER}.`
}
