import type { StoreNeeds } from '../ports/context.ts'
import { isChosenId, parseGrantId, parseOrganizationId, parseUserId } from '../protocol/ids.ts'
import { chosenClientId, parseClientReference } from '../protocol/client/identifier.ts'
import { linkTo, listAddress } from './links.ts'
import { organizationPath } from './sections.ts'

/** Where a search leads. The exact chosen id of a client, a user or an organization, which may look like a name or a host, comes first. */
export async function findSearched(
  { store }: StoreNeeds<'findClient' | 'findOrganization' | 'findUser'>,
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
  return client === undefined ? searchAddress(sought, section, undefined) : linkTo('clients', client.id)
}

/**
 * Where the text of a search leads by its form: an id to its object, a URI to the clients of its host or scheme, an e-mail address to its
 * user, a host to the clients that go there, and anything else to the names of the screen that the person is on. With a role for one
 * organization only ids are found, among what is for it.
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
  if (section === 'users') return listAddress('users', /[ A-Z]/.test(sought) ? 'name' : 'email_prefix', sought)
  return listAddress('clients', /^(localhost|[^ ]*[.:][^ ]*)$/.test(sought) ? 'host' : 'name', sought)
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
