import type { StoreNeeds } from '../ports/context.ts'
import type { EpochMs } from '../base/brand.ts'
import type { UserId } from '../protocol/ids.ts'

type Needs = StoreNeeds<'findOrganization' | 'listMemberships'>

/** The name of the organization for which a new account was made. undefined: it is a member of none, or of several. */
export async function findInvitingOrganization({ store }: Needs, userId: UserId): Promise<string | undefined> {
  const [only, ...others] = await store.listMemberships(userId)
  return only === undefined || others.length > 0 ? undefined : (await store.findOrganization(only.organizationId))?.name
}

/** The name of the organization that an account joined at a time. undefined: it left, or the organization ended. */
export async function findJoinedOrganization(
  { store }: Needs,
  { userId, at }: { readonly userId: UserId; readonly at: EpochMs },
): Promise<string | undefined> {
  const joined = (await store.listMemberships(userId)).find(({ createdAt }) => createdAt === at)
  return joined && (await store.findOrganization(joined.organizationId))?.name
}
