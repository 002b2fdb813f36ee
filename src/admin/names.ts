import { listedNameOf } from '../protocol/client/identity.ts'
import * as z from 'zod'
import {
  parseAdminCredentialId,
  parseUserId,
  type AdminCredentialId,
  type ClientId,
  type OrganizationId,
  type UserId,
} from '../protocol/ids.ts'
import { callUser } from '../protocol/sign-in/account.ts'
import type { TaskContext } from './task.ts'

/** The names of the ids in a list. The rows themselves have ids only. */
export const NAMES = z
  .record(z.string(), z.string())
  .describe(
    'Names by id: the e-mail address of a user or, without one, "a user named …", the name of a client with those in other languages, of an organization or credentials. Ids without a name, and ids of deleted records, are absent.',
  )

export type Names = Readonly<Record<string, string>>

/** The ids of a list, by the kind of what they name: a user and an organization may have one chosen id. */
interface Named {
  readonly users?: Iterable<UserId | undefined>
  readonly clients?: Iterable<ClientId | undefined>
  readonly organizations?: Iterable<OrganizationId | undefined>
  /** The ids of credentials, or of users of the console. */
  readonly actors?: Iterable<string | undefined>
}

/** Looks up each id once. Administrators of one organization see the addresses of its members only. */
export async function findNames(
  context: TaskContext,
  { users = [], clients = [], organizations = [], actors = [] }: Named,
): Promise<Names> {
  const { store } = context
  const [credentials, persons] = partition(actors)
  const found = await Promise.all([
    ...each([...users, ...persons], (id) => findUserName(context, id)),
    ...each(clients, async (id) => {
      const client = await store.findClient(id)
      return client && listedNameOf(client.metadata)
    }),
    ...each(organizations, async (id) => (await store.findOrganization(id))?.name),
    ...each(credentials, async (id) => (await store.findAdminCredential(id))?.name),
  ])
  const names = new Map<string, string>()
  for (const [id, name] of found) {
    const other = names.get(id)
    if (name !== undefined) names.set(id, other === undefined ? name : `${other} / ${name}`)
  }
  return Object.fromEntries(names)
}

function partition(actors: Iterable<string | undefined>): readonly [readonly AdminCredentialId[], readonly UserId[]] {
  const known = [...actors].filter((actor) => actor !== undefined)
  return [
    known.map(parseAdminCredentialId).filter((id) => id !== undefined),
    known.map(parseUserId).filter((id) => id !== undefined),
  ]
}

function each<Id extends string>(
  ids: Iterable<Id | undefined>,
  find: (id: Id) => Promise<string | undefined>,
): readonly Promise<readonly [string, string | undefined]>[] {
  const known = [...new Set(ids)].filter((id) => id !== undefined)
  return known.map(async (id) => [id, await find(id)] as const)
}

async function findUserName({ store, administrator }: TaskContext, userId: UserId): Promise<string | undefined> {
  const { organizationId } = administrator
  if (organizationId !== undefined && (await store.findMembership({ organizationId, userId })) === undefined) {
    return undefined
  }
  const user = await store.findUser(userId)
  return user && callUser(user)
}
