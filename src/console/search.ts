import type { StoreNeeds } from '../ports/context.ts'
import { parseGroupId } from '../protocol/access/group.ts'
import { isChosenId, parseGrantId, parseOrganizationId, parseUserId, type UserId } from '../protocol/ids.ts'
import { chosenClientId, parseClientReference } from '../protocol/client/identifier.ts'
import { normalizeEmail } from '../protocol/sign-in/email-address.ts'
import { sameResource } from '../protocol/token/resource.ts'
import { foundAddress, linkTo, listAddress } from './links.ts'
import { organizationPath } from './sections.ts'

/**
 * Where a search leads. The exact chosen id of a client, a user, an organization or a group, which may look like a name or a host, comes first; then
 * the address of a user, the identifier or a scope of an API, and a domain of an organization.
 */
export async function findSearched(
  {
    store,
  }: StoreNeeds<
    'findClient' | 'findGroup' | 'findOrganization' | 'findUser' | 'findUserByEmail' | 'listApis' | 'listProviders'
  >,
  text: string,
  section: string | undefined,
): Promise<string> {
  const sought = text.trim()
  const clientId = chosenClientId(sought)
  const userId = isChosenId(sought) ? parseUserId(sought) : undefined
  const organizationId = isChosenId(sought) ? parseOrganizationId(sought) : undefined
  const groupId = parseGroupId(sought)
  const [client, user, organization, group] = await Promise.all([
    clientId === undefined ? undefined : store.findClient(clientId),
    findUserCalled({ store }, userId, sought),
    organizationId === undefined ? undefined : store.findOrganization(organizationId),
    groupId === undefined ? undefined : store.findGroup(groupId),
  ])
  if (group !== undefined && ((client ?? user ?? organization) === undefined || section === 'groups'))
    return linkTo('groups', group.id)
  if (organization !== undefined && ((client ?? user) === undefined || section === 'organizations'))
    return linkTo('organizations', organization.id)
  if (user !== undefined && (client === undefined || section === 'users')) return linkTo('users', user.id)
  if (client !== undefined) return linkTo('clients', client.id)
  return (await findDeclared({ store }, sought, section)) ?? searchAddress(sought, undefined)
}

/** The user with an id, or otherwise with an address. */
async function findUserCalled(
  { store }: StoreNeeds<'findUser' | 'findUserByEmail'>,
  id: UserId | undefined,
  sought: string,
) {
  const email = normalizeEmail(sought)
  const user = id === undefined ? undefined : await store.findUser(id)
  return user ?? (email === '' ? undefined : store.findUserByEmail(email))
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

/** The id of a request, as an error page shows it. The audit has its events; of a refusal that changed nothing only the log has a line. */
const REQUEST_ID_FORM = /^[\w-]{8}-[0-9a-z]{8}$/

/**
 * Where a search leads by the text alone: an id to its object, a URI to the clients of its host or scheme, and each other text to all that
 * has it. With a role for one organization that is what is for the organization.
 */
export function searchAddress(text: string, organization: string | undefined): string {
  const sought = text.trim()
  if (sought === '') return '/console'
  if (organization !== undefined) return addressWithin(organization, sought)
  if (parseUserId(sought) !== undefined && !isChosenId(sought)) return linkTo('users', sought)
  if (URL.canParse(sought) && sought.includes(':/')) return listAddress('clients', 'host', placeOf(new URL(sought)))
  if (parseOrganizationId(sought) !== undefined && !isChosenId(sought)) return linkTo('organizations', sought)
  const client = chosenClientId(sought) === undefined ? parseClientReference(sought) : undefined
  if (client !== undefined) return linkTo('clients', client)
  if (parseGrantId(sought) !== undefined) return linkTo('grants', sought)
  if (REQUEST_ID_FORM.test(sought)) return listAddress('audit', 'request_id', sought)
  return foundAddress(undefined, sought)
}

/** The filter for where a URI leads: its host, or the scheme of an app. It finds metadata documents too. */
function placeOf({ hostname, protocol }: URL): string {
  return /^https?:$/.test(protocol) ? hostname : protocol
}

function addressWithin(organization: string, sought: string): string {
  const grants = `${organizationPath(organization)}/grants`
  if (parseGrantId(sought) !== undefined) return `${grants}/${sought}`
  const filters = {
    client_id: chosenClientId(sought) === undefined ? parseClientReference(sought) : undefined,
    user_id: isChosenId(sought) ? undefined : parseUserId(sought),
  }
  const found = Object.entries(filters).find(([, id]) => id !== undefined)
  if (found === undefined) return foundAddress(organization, sought)
  return `${grants}?${new URLSearchParams({ [found[0]]: sought }).toString()}`
}
