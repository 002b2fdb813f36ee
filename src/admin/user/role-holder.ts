import type { Context } from '../../ports/context.ts'
import type { GrantRecord } from '../../ports/records/grant.ts'
import type { OrganizationRecord } from '../../ports/records/organization.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import type { EpochMs } from '../../base/brand.ts'
import { CONSOLE_CLIENT_ID } from '../../protocol/client/console.ts'
import type { GrantId, UserId } from '../../protocol/ids.ts'
import { levelOf } from '../../protocol/sign-in/authentication.ts'
import { findGrantReason } from '../../tokens/inactive-reason.ts'
import { roleCounts } from '../../users/role.ts'
import { isLiveSince } from '../../tokens/invalid-principal.ts'
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
      /** The account signs in with one factor and has no second one, which a loopback issuer allows. */
      readonly lacksFactor: boolean
    })
  /** The user is signed in, and the console is not for the account. */
  | (ConsoleUser & { readonly kind: 'refused'; readonly reason: 'console_role_missing' | 'console_factor_missing' })
  /** The grant does not exist, or ended: it was revoked, the user signed out, or the user or the console was disabled, or the role was set later. */
  | { readonly kind: 'ended' }

/** Of a user that are looked at. An account with more live sessions signs in again. */
const SESSION_LIMIT = 100

/**
 * Authenticates the user of a grant of the console. It reads the grant, the session, the client, the user, the factors, the role and its
 * organization for every request, and none of them from a cache, so that each of them ends the access at once, on every node (threats.md
 * CON-05).
 */
export async function authenticateRole(context: Context, grantId: GrantId): Promise<RoleAuthentication> {
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
  // The second check may read the user from a cache. It can only end the access; the first one has read the record.
  if (!isLiveSince(user, grant.createdAt) || (await findGrantReason(context, client, grant, clock())) !== undefined)
    return { kind: 'ended' }
  if (!(await isStillSignedIn(context, grant)) || (role?.setAt ?? 0) > grant.createdAt) return { kind: 'ended' }
  const holder = { grantId, user, authenticatedAt: grant.stated?.at }
  const { isLoopbackIssuer } = context.settings
  const hasEnded = organizationId !== undefined && (organization === undefined || organization.disabledAt !== undefined)
  if (role === undefined || hasEnded || !roleCounts(role, context.settings))
    return { kind: 'refused', reason: 'console_role_missing', ...holder }
  const hasTwo = await isTwoFactor(context, grant)
  if (!isLoopbackIssuer && !hasTwo) return { kind: 'refused', reason: 'console_factor_missing', ...holder }
  const { access, isLoopbackOnly, setAt: roleSince } = role
  const self = { userId, roleSince, notBefore: user.notBefore }
  const administrator: Administrator = { actor: userId, access, organizationId, isLoopbackOnly, holder: self }
  // With delegated sign-in accounts have no factors of their own.
  const lacksFactor = !hasTwo && context.settings.delegate === undefined && !(await hasSecondFactor(context, userId))
  return { kind: 'administrator', administrator, organization, lacksFactor, ...holder }
}

/**
 * Whether the user is still signed in where the grant was made, so that whatever ends the session ends the console too: a new password, a
 * reset, the lifetime. With delegated sign-in the application keeps the session.
 */
async function isStillSignedIn({ store, clock, settings }: Context, { openid, userId }: GrantRecord): Promise<boolean> {
  if (settings.delegate !== undefined) return true
  const now = clock()
  const sessions = await store.listSessions({ userId, before: undefined, limit: SESSION_LIMIT })
  return sessions.some(({ rootId, expiresAt }) => rootId === openid?.session.rootId && expiresAt > now)
}

/**
 * Whether the user authenticated with two factors, and still has both: an account whose factor was removed keeps its grants. A provider
 * and the application state the factors of theirs, unless the second one was the account's (threats.md CON-17).
 */
async function isTwoFactor(context: Context, { openid, userId }: GrantRecord): Promise<boolean> {
  const methods = openid?.session.methods ?? []
  if (levelOf(methods) < 2) return false
  const isOwn = methods.some((method) => method === 'otp' || method === 'recovery' || method === 'pop')
  return (methods.includes('fed') && !isOwn) || hasSecondFactor(context, userId)
}

/** Whether an account has a second factor of its own. A provider that states one is not known before the sign-in. */
export async function hasSecondFactor({ store }: Context, id: UserId): Promise<boolean> {
  return (await store.findSecondFactor(id)) !== undefined || (await store.listPasskeys(id)).length > 0
}
