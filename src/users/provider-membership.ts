import type { Context } from '../ports/context.ts'
import type { ProviderRecord } from '../ports/records/provider.ts'
import type { UserRecord } from '../ports/records/user.ts'
import type { OrganizationId, UserId } from '../protocol/ids.ts'

/**
 * Makes a user a member of the organization of a provider, if it has one. The caller has found that the user belongs (threats.md UP-22). A
 * membership that is disabled stays so.
 */
export async function joinOrganization(
  { clockCheck, store }: Context,
  { settings: { organizationId } }: Pick<ProviderRecord, 'settings'>,
  userId: UserId,
): Promise<void> {
  if (organizationId === undefined) return
  const [membership, organization] = await Promise.all([
    store.findMembership({ userId, organizationId }),
    store.findOrganization(organizationId),
  ])
  if (membership !== undefined || organization === undefined) return
  const now = clockCheck.now()
  await store.addMember({
    userId,
    organizationId,
    createdAt: now,
    disabledAt: undefined,
    notBefore: now,
    mails: [],
  })
}

/** The organizations of which a user is an enabled member. */
export async function organizationsOf(
  { store }: Context,
  { id }: Pick<UserRecord, 'id'>,
): Promise<readonly OrganizationId[]> {
  const memberships = await store.listMemberships(id)
  return memberships.flatMap(({ organizationId, disabledAt }) => (disabledAt === undefined ? [organizationId] : []))
}
