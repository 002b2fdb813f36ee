import type { Context, StoreNeeds } from '../../ports/context.ts'
import type { GrantRecord } from '../../ports/records/grant.ts'
import type { OrganizationRecord } from '../../ports/records/organization.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import type { EpochMs } from '../../base/brand.ts'
import { CONSOLE_CLIENT_ID } from '../../protocol/client/console.ts'
import type { GrantId, UserId } from '../../protocol/ids.ts'
import { levelOf } from '../../protocol/sign-in/authentication.ts'
import { findGrantReason } from '../../tokens/inactive-reason.ts'
import type { Administrator } from '../task.ts'

/** A user who is signed in to the console. */
export interface ConsoleUser {
  readonly grantId: GrantId
  readonly user: UserRecord
  /** When the user authenticated. undefined: unknown. */
  readonly authenticatedAt: EpochMs | undefined
}

export type RoleAuthentication =
  | (ConsoleUser & {
      readonly kind: 'administrator'
      readonly administrator: Administrator
      /** The one that the role is for; undefined: the whole server. */
      readonly organization: OrganizationRecord | undefined
    })
  /** The user is signed in, and the console is not for the account. */
  | (ConsoleUser & { readonly kind: 'refused'; readonly reason: 'console_role_missing' | 'console_factor_missing' })
  /** The grant does not exist, or ended: it was revoked, or the user or the console was disabled. */
  | { readonly kind: 'ended' }

type Needs = Pick<Context, 'clock' | 'notBefore' | 'settings'> &
  Parameters<typeof findGrantReason>[0] &
  StoreNeeds<'findCurrent' | 'findGrant' | 'findRole' | 'findSecondFactor' | 'listPasskeys'>

/**
 * Authenticates the user of a grant of the console. It reads the grant, the client, the user, the factors, the role and its organization for
 * every request, and none of them from a cache, so that each of them ends the access at once, on every node (threats.md CON-05).
 */
export async function authenticateRole(context: Needs, grantId: GrantId): Promise<RoleAuthentication> {
  const { store, clock } = context
  const grant = await store.findGrant(grantId)
  if (grant?.clientId !== CONSOLE_CLIENT_ID) return { kind: 'ended' }
  const { userId } = grant
  const role = await store.findRole(userId)
  const organizationId = role?.organizationId
  const { client, user, organization } = await store.findCurrent({
    clientId: CONSOLE_CLIENT_ID,
    userId,
    organizationId,
  })
  const current = { ...context, store: { ...store, findUser: async () => user } }
  if (user === undefined || (await findGrantReason(current, client, grant, clock())) !== undefined)
    return { kind: 'ended' }
  const holder = { grantId, user, authenticatedAt: grant.stated?.at }
  const { isLoopbackIssuer } = context.settings
  const hasEnded = organizationId !== undefined && (organization === undefined || organization.disabledAt !== undefined)
  if (role === undefined || hasEnded || (role.isLoopbackOnly && !isLoopbackIssuer))
    return { kind: 'refused', reason: 'console_role_missing', ...holder }
  if (!isLoopbackIssuer && !(await isTwoFactor(context, grant)))
    return { kind: 'refused', reason: 'console_factor_missing', ...holder }
  const administrator: Administrator = { actor: user.id, access: role.access, organizationId }
  return { kind: 'administrator', administrator, organization, ...holder }
}

/**
 * Whether the user authenticated with two factors, and still has both: an account whose factor was removed keeps its grants. A provider
 * and the application state the factors of theirs (threats.md CON-17).
 */
async function isTwoFactor(context: Needs, { openid, userId }: GrantRecord): Promise<boolean> {
  const methods = openid?.session.methods ?? []
  if (levelOf(methods) < 2) return false
  return methods.includes('fed') || hasSecondFactor(context, userId)
}

/** Whether an account has a second factor of its own. A provider that states one is not known before the sign-in. */
export async function hasSecondFactor(
  { store }: StoreNeeds<'findSecondFactor' | 'listPasskeys'>,
  id: UserId,
): Promise<boolean> {
  return (await store.findSecondFactor(id)) !== undefined || (await store.listPasskeys(id)).length > 0
}
