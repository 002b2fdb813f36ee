import { type GroupId, organizationOfGroup } from '../../protocol/access/group.ts'
import type { OrganizationId } from '../../protocol/ids.ts'
import type { RoleRecord } from '../records/role.ts'

/**
 * What an administrator may order. The store that acts for an administrator adds the reach to each such operation (`actingAs`), and decides
 * with the change, because roles and memberships change meanwhile. An account that is out of reach stays as it is.
 */
export interface Ordered {
  /** undefined: each account is in reach. */
  readonly reach?: Reach | undefined
}

/** Which accounts an administrator may touch. */
export interface Reach {
  /**
   * The role of the administrator counts only while the issuer is a loopback address, so an account whose role counts elsewhere too, or that is in a
   * protected group, is out of reach (threats.md CON-19). What may let the administrator sign in to an account is kept in its row (threats.md CON-37).
   */
  readonly isTrial: boolean
  /** The administrator has less than write access, so each account with a role or in a protected group is out of reach (threats.md CON-38). */
  readonly isBelowWrite: boolean
  /**
   * The administrator is one of this organization, so an account with a role, in a protected group of others, that is not a member of it alone, or that was in use before it became
   * one, is out of reach: an invitation would otherwise get the administrator the account of any person (threats.md CON-38).
   */
  readonly organizationId: OrganizationId | undefined
}

/** What of an account an administrator may change: all of it, what an organization has of it, or nothing. */
export const REACHES = ['account', 'membership', 'nothing'] as const
export type Reached = (typeof REACHES)[number]

/** What an order changes. */
export type Touched = Exclude<Reached, 'nothing'>

/** Whether an order is in reach: who may change the account may change its memberships. */
export function isReached(reached: Reached, touched: Touched): boolean {
  return reached === 'account' || reached === touched
}

/** What of an account says who may change it. */
export interface Standing {
  readonly role: Pick<RoleRecord, 'isLoopbackOnly'> | undefined
  /** At least two, if there are. */
  readonly memberships: readonly { readonly organizationId: OrganizationId; readonly isJoinedUnused: boolean }[]
  /** In which the user is, whether or not that counts. */
  readonly protectedGroups: readonly GroupId[]
}

/**
 * Whether an account has a role or is in a protected group, whether or not that counts now. Both are the same to whatever guards the accounts of
 * administrators: the reach of others, the second step, links and imports (threats.md GRP-06).
 */
export function isHolder({ role, protectedGroups }: Pick<Standing, 'role' | 'protectedGroups'>): boolean {
  return role !== undefined || protectedGroups.length > 0
}

/** What of an account is in reach. The store decides by it with each change, and pages offer nothing else. */
export function reachedOf(reach: Reach | undefined, standing: Standing): Reached {
  if (reach === undefined) return 'account'
  const { role, memberships, protectedGroups } = standing
  const { isBelowWrite, isTrial, organizationId } = reach
  if (isBelowWrite && isHolder(standing)) return 'nothing'
  if (isTrial && (role?.isLoopbackOnly === false || protectedGroups.length > 0)) return 'membership'
  if (organizationId === undefined) return 'account'
  const [only, another] = memberships
  const isOwn = only?.organizationId === organizationId && another === undefined && only.isJoinedUnused
  const isInOthers = protectedGroups.some((id) => organizationOfGroup(id) !== organizationId)
  return role === undefined && isOwn && !isInOthers ? 'account' : 'membership'
}

/** The outcome of an operation on an account that is out of reach. Nothing was changed. Callers do not see it: they get the error of the bounds. */
export const OUT_OF_REACH = 'out-of-reach'

/** The reach of an administrator, and the error that an order beyond it gets. */
export interface Bounds {
  readonly reach: Reach
  readonly refuse: () => Error
}
