import type { Context, StoreNeeds } from '../ports/context.ts'
import type { ApiRecord } from '../ports/records/api.ts'
import type { ClientRecord } from '../ports/records/client.ts'
import type { ProviderRecord } from '../ports/records/provider.ts'
import type { ProviderFinding } from '../ports/provider-sign-in.ts'
import { listedClients } from '../protocol/sign-in/provider.ts'
import { isConfidential } from '../protocol/client/authentication.ts'
import { isDocumentUrl, parseClientReference } from '../protocol/client/identifier.ts'
import { JWT_BEARER } from '../protocol/token/grant-types.ts'
import { sameResource } from '../protocol/token/resource.ts'

/** What there is beside the provider. */
interface Known {
  readonly providers: readonly ProviderRecord[]
  /** Those that the provider lists, if they exist. */
  readonly clients: readonly ClientRecord[]
  readonly apis: readonly Pick<ApiRecord, 'resource'>[]
}

/**
 * Looks whether the identity assertions of a provider would be accepted: for the clients and APIs of its lists, and with an issuer of its
 * own. No finding: it lists none.
 */
export async function checkAssertions(
  { store, apis }: Pick<Context, 'apis'> & StoreNeeds<'findClient' | 'listProviders'>,
  provider: Pick<ProviderRecord, 'id' | 'settings'>,
): Promise<readonly ProviderFinding[]> {
  const { assertionClients, assertionApis } = provider.settings
  if (assertionClients.length === 0) return []
  const found = await Promise.all(listedClients([provider]).map((id) => store.findClient(id)))
  const clients = found.filter((client) => client !== undefined)
  const faults = findAssertionFaults(provider, { clients, providers: await store.listProviders(), apis: await apis() })
  if (faults.length > 0) return faults.map((detail) => ({ check: 'assertions', isOk: false, detail }))
  const detail = `Clients that may present its assertions: ${assertionClients.length}; APIs: ${assertionApis.length}.`
  return [{ check: 'assertions', isOk: true, detail }]
}

/** Returns why some assertions of a provider that lists clients are refused. */
export function findAssertionFaults(
  provider: Pick<ProviderRecord, 'id' | 'settings'>,
  { providers, clients, apis }: Known,
): readonly string[] {
  const { assertionClients, assertionApis } = provider.settings
  return [
    findTwin(provider, providers),
    ...assertionClients.map((client) => findClientFault(clients, client)),
    ...assertionApis.map((api) =>
      apis.some(({ resource }) => sameResource(resource, api)) ? undefined : `The API ${api} is not declared.`,
    ),
  ].filter((fault) => fault !== undefined)
}

/** Of two providers with one issuer neither would be meant. */
function findTwin(
  { id, settings }: Pick<ProviderRecord, 'id' | 'settings'>,
  providers: readonly ProviderRecord[],
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
function findClientFault(clients: readonly ClientRecord[], identifier: string): string | undefined {
  const id = parseClientReference(identifier)
  const client = clients.find((one) => one.id === id)
  if (client === undefined) {
    return isDocumentUrl(identifier) ? undefined : `The client ${identifier} does not exist.`
  }
  if (client.disabledAt !== undefined) return `The client ${identifier} is disabled.`
  if (!isConfidential(client) && client.document === undefined)
    return `The client ${identifier} does not authenticate and has no metadata document.`
  return client.metadata.grant_types.includes(JWT_BEARER)
    ? undefined
    : `The client ${identifier} is not registered for the grant type ${JWT_BEARER}.`
}
