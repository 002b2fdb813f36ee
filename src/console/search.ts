import type { StoreNeeds } from '../ports/context.ts'
import { isChosenId, parseGrantId, parseUserId } from '../protocol/ids.ts'
import { chosenClientId, parseClientReference } from '../protocol/client/identifier.ts'
import { linkTo } from './parts.ts'

/** Where a search leads. The exact chosen id of a client or a user, which may look like a name or a host, comes first. */
export async function findSearched(
  { store }: StoreNeeds<'findClient' | 'findUser'>,
  text: string,
  section: string | undefined,
): Promise<string> {
  const sought = text.trim()
  const clientId = chosenClientId(sought)
  const userId = isChosenId(sought) ? parseUserId(sought) : undefined
  const [client, user] = await Promise.all([
    clientId === undefined ? undefined : store.findClient(clientId),
    userId === undefined ? undefined : store.findUser(userId),
  ])
  if (user !== undefined && (client === undefined || section === 'users')) return linkTo('users', user.id)
  return client === undefined ? searchAddress(sought, section) : linkTo('clients', client.id)
}

/**
 * Where the text of a search leads by its form: an id or the address of a metadata document to its object, an e-mail address to its user, a
 * host to the clients that go there, and anything else to the names of the screen that the person is on.
 */
export function searchAddress(text: string, section: string | undefined): string {
  const sought = text.trim()
  if (sought === '') return '/console'
  if (parseUserId(sought) !== undefined && !isChosenId(sought)) return linkTo('users', sought)
  const client = chosenClientId(sought) === undefined ? parseClientReference(sought) : undefined
  if (client !== undefined) return linkTo('clients', client)
  if (parseGrantId(sought) !== undefined) return linkTo('grants', sought)
  if (sought.includes('@')) return listAddress('users', 'email_prefix', sought)
  if (section === 'users') return listAddress('users', /[ A-Z]/.test(sought) ? 'name' : 'email_prefix', sought)
  return listAddress('clients', /^[^ ]*[.:][^ ]*$/.test(sought) ? 'host' : 'name', sought)
}

function listAddress(list: 'clients' | 'users', filter: string, text: string): string {
  return `/console/${list}?${new URLSearchParams({ [filter]: text }).toString()}`
}
