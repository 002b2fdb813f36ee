import type { Context, StoreNeeds } from '../ports/context.ts'
import type { RoleRecord } from '../ports/records/role.ts'
import type { LinkRecord } from '../ports/records/user.ts'
import { consoleAddress } from '../protocol/client/console.ts'
import type { UserId } from '../protocol/ids.ts'

/** Whether a role counts: that of the demo user does only while the issuer is a loopback address. */
export function roleCounts(
  { isLoopbackOnly }: Pick<RoleRecord, 'isLoopbackOnly'>,
  { isLoopbackIssuer }: { readonly isLoopbackIssuer: boolean },
): boolean {
  return isLoopbackIssuer || !isLoopbackOnly
}

/**
 * Whether who made a link has the role still with which it was made, and an account that went on, or its credentials were not revoked. A
 * person who left may have kept the link, or sent it to a mailbox of their own, and it would open the account of another administrator
 * (threats.md LNK-08, LNK-09).
 */
export async function isMakerThere(
  { settings, store }: Pick<Context, 'settings'> & StoreNeeds<'findAdminCredential' | 'findRole' | 'findUser'>,
  { madeBy, madeWith }: Pick<LinkRecord, 'madeBy' | 'madeWith'>,
): Promise<boolean> {
  if (madeWith !== undefined) {
    const credential = await store.findAdminCredential(madeWith)
    return credential !== undefined && credential.revokedAt === undefined
  }
  if (madeBy === undefined) return true
  const { userId, roleSince, notBefore } = madeBy
  const [role, user] = await Promise.all([store.findRole(userId), store.findUser(userId)])
  if (role?.setAt !== roleSince || !roleCounts(role, settings)) return false
  return user?.notBefore === notBefore && user.disabledAt === undefined
}

/** Where browsers reach the console; undefined: there is none, or another program has its port. */
export function consoleOf({ isAdminTaken, settings: { consoleUrl } }: Context): string | undefined {
  return consoleUrl === undefined || isAdminTaken() ? undefined : consoleAddress(consoleUrl)
}

/** Whether a user has a role for the console that counts: not one for an organization that ended. */
export async function hasRole({ settings, store }: Context, id: UserId): Promise<boolean> {
  const role = await store.findRole(id)
  if (role === undefined || !roleCounts(role, settings)) return false
  if (role.organizationId === undefined) return true
  const organization = await store.findOrganization(role.organizationId)
  return organization !== undefined && organization.disabledAt === undefined
}
