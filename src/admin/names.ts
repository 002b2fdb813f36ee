import * as z from 'zod'
import {
  parseAdminCredentialId,
  parseClientId,
  parseOrganizationId,
  parseUserId,
  type UserId,
} from '../protocol/ids.ts'
import type { StoreNeeds } from '../ports/context.ts'
import type { TaskContext } from './task.ts'

/** The names of the ids in a list. The rows themselves have ids only. */
export const NAMES = z
  .record(z.string(), z.string())
  .describe(
    'Names by id: the e-mail address or, without one, the name of a user, the name of a client, an organization or credentials. Ids without a name, and ids of deleted records, are absent.',
  )

export type Names = Readonly<Record<string, string>>

type Needs = Pick<TaskContext, 'administrator'> &
  StoreNeeds<'findAdminCredential' | 'findClient' | 'findMembership' | 'findOrganization' | 'findUser'>

/** Looks up each id once. Administrators of one organization see the addresses of its members only. */
export async function findNames(context: Needs, ids: Iterable<string | undefined>): Promise<Names> {
  const known = [...new Set(ids)].filter((id) => id !== undefined)
  const pairs = await Promise.all(
    known.map(async (id): Promise<[string, string | undefined]> => [id, await findName(context, id)]),
  )
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => pair[1] !== undefined))
}

async function findName(context: Needs, id: string): Promise<string | undefined> {
  const { store } = context
  const [userId, clientId] = [parseUserId(id), parseClientId(id)]
  if (userId !== undefined) return findUserName(context, userId)
  if (clientId !== undefined) return (await store.findClient(clientId))?.metadata.descriptive.client_name
  const organizationId = parseOrganizationId(id)
  if (organizationId !== undefined) return (await store.findOrganization(organizationId))?.name
  const credentialId = parseAdminCredentialId(id)
  return credentialId === undefined ? undefined : (await store.findAdminCredential(credentialId))?.name
}

async function findUserName({ store, administrator }: Needs, userId: UserId): Promise<string | undefined> {
  const { organizationId } = administrator
  if (organizationId !== undefined && (await store.findMembership({ organizationId, userId })) === undefined) {
    return undefined
  }
  const user = await store.findUser(userId)
  return user?.email ?? user?.name
}
