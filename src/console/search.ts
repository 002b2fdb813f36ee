import type { StoreNeeds } from '../ports/context.ts'
import { isChosenId, parseGrantId, parseOrganizationId, parseUserId } from '../protocol/ids.ts'
import { chosenClientId, parseClientReference } from '../protocol/client/identifier.ts'
import { sameResource } from '../protocol/token/resource.ts'
import { linkTo, listAddress } from './links.ts'
import { organizationPath } from './sections.ts'

/**
 * Where a search leads. The exact chosen id of a client, a user or an organization, which may look like a name or a host, comes first; then
 * the identifier or a scope of an API, and a domain of an organization.
 */
export async function findSearched(
  { store }: StoreNeeds<'findClient' | 'findOrganization' | 'findUser' | 'listApis' | 'listProviders'>,
  text: string,
  section: string | undefined,
): Promise<string> {
  const sought = text.trim()
  const clientId = chosenClientId(sought)
  const userId = isChosenId(sought) ? parseUserId(sought) : undefined
  const organizationId = isChosenId(sought) ? parseOrganizationId(sought) : undefined
  const [client, user, organization] = await Promise.all([
    clientId === undefined ? undefined : store.findClient(clientId),
    userId === undefined ? undefined : store.findUser(userId),
    organizationId === undefined ? undefined : store.findOrganization(organizationId),
  ])
  if (organization !== undefined && ((client ?? user) === undefined || section === 'organizations'))
    return linkTo('organizations', organization.id)
  if (user !== undefined && (client === undefined || section === 'users')) return linkTo('users', user.id)
  if (client !== undefined) return linkTo('clients', client.id)
  return (await findDeclared({ store }, sought, section)) ?? searchAddress(sought, section, undefined)
}

/** What only an operator names. A node has all of it in memory. */
async function findDeclared(
  { store }: StoreNeeds<'listApis' | 'listProviders'>,
  sought: string,
  section: string | undefined,
): Promise<string | undefined> {
  const [apis, providers] = await Promise.all([store.listApis(), store.listProviders()])
  const named = apis.filter(
    ({ resource, scopes }) => sameResource(resource, sought) || scopes.some(({ name }) => name === sought),
  )
  const [api, ...others] = named
  if (api !== undefined) return others.length === 0 ? linkTo('apis', api.resource) : listAddress('apis', 'name', sought)
  const owner = providers.find(({ settings }) => settings.domains.includes(sought.toLowerCase()))?.settings
    .organizationId
  return owner === undefined || section === 'clients' || section === 'users'
    ? undefined
    : linkTo('organizations', owner)
}

/**
 * Where the text of a search leads by its form: an id to its object, a URI to the clients of its host or scheme, an e-mail address to its
 * user, a host to the clients that go there, and anything else to the names of the list that the person is on, or of all. With a role for one
 * organization only ids and members are found, among what is for it.
 */
export function searchAddress(text: string, section: string | undefined, organization: string | undefined): string {
  const sought = text.trim()
  if (sought === '') return '/console'
  if (organization !== undefined) return addressWithin(organization, sought)
  if (parseUserId(sought) !== undefined && !isChosenId(sought)) return linkTo('users', sought)
  if (URL.canParse(sought) && sought.includes(':/')) return listAddress('clients', 'host', placeOf(new URL(sought)))
  if (parseOrganizationId(sought) !== undefined && !isChosenId(sought)) return linkTo('organizations', sought)
  const client = chosenClientId(sought) === undefined ? parseClientReference(sought) : undefined
  if (client !== undefined) return linkTo('clients', client)
  if (parseGrantId(sought) !== undefined) return linkTo('grants', sought)
  if (sought.includes('@')) return listAddress('users', 'email_prefix', sought)
  if (section === 'users') return listAddress('users', userFilter(sought), sought)
  if (section === 'organizations' || section === 'apis' || section === 'providers')
    return listAddress(section, 'name', sought)
  if (/^(localhost|[^ ]*[.:][^ ]*)$/.test(sought)) return listAddress('clients', 'host', sought)
  return listAddress(section === 'clients' ? section : 'found', 'name', sought)
}

/** Whether a text looks like a name or like the start of an address. */
export function userFilter(text: string): 'name' | 'email_prefix' {
  return /[ A-Z]/.test(text) ? 'name' : 'email_prefix'
}

/** The filter for where a URI leads: its host, or the scheme of an app. It finds metadata documents too. */
function placeOf({ hostname, protocol }: URL): string {
  return /^https?:$/.test(protocol) ? hostname : protocol
}

function addressWithin(organization: string, sought: string): string {
  if (parseGrantId(sought) !== undefined) return `${organizationPath(organization)}/grants/${sought}`
  const client = chosenClientId(sought) === undefined ? parseClientReference(sought) : undefined
  const filter = client === undefined ? 'user_id' : 'client_id'
  return `${organizationPath(organization)}/grants?${new URLSearchParams({ [filter]: sought }).toString()}`
}
