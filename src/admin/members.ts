import type { Context } from '../ports/context.ts'
import type { MembershipKey } from '../ports/operation-inputs.ts'
import type { MembershipRecord } from '../ports/records/organization.ts'
import type { UserRecord } from '../ports/records/user.ts'
import { MEMBERSHIP_LIMIT } from '../ports/store.ts'
import { normalizeEmail } from '../protocol/account.ts'
import type { OrganizationId, UserId } from '../protocol/ids.ts'
import { conflict, unknown, type AdminError } from './admin-error.ts'
import { findOrganization } from './organizations.ts'
import { listPage, type Listed } from './page.ts'
import { findUser } from './users.ts'

type Needs<Name extends keyof Context['store']> = { readonly store: Pick<Context['store'], Name> }
type Changing<Name extends keyof Context['store']> = Needs<Name | 'findMembership' | 'findUser'>

/** A member of an organization, with the user. */
export interface Member {
  readonly membership: MembershipRecord
  /** undefined: the user was deleted at the same time. */
  readonly user: UserRecord | undefined
}

/**
 * Adds a user, given by id or e-mail address, to an organization (decision 0019).
 *
 * @throws AdminError when there is no such organization or user, or the user is a member already or has too many organizations
 */
export async function addMember(
  context: Needs<'addMember' | 'findOrganization' | 'findUser' | 'findUserByEmail'> & Pick<Context, 'clock'>,
  organizationId: OrganizationId,
  who: string,
): Promise<Member> {
  const { name } = await findOrganization(context, organizationId)
  const user = await findUser(context, who)
  const now = context.clock()
  const membership = { userId: user.id, organizationId, createdAt: now, disabledAt: undefined, notBefore: now }
  switch (await context.store.addMember(membership)) {
    case 'added':
      return { membership, user }
    case 'member-already':
      throw conflict(`${user.email} is already a member of ${name}. See "grantor org members ${organizationId}".`)
    case 'too-many':
      throw conflict(`${user.email} belongs to ${MEMBERSHIP_LIMIT} organizations, which is the most.`)
  }
}

/**
 * Lists members, newest users first, or the member with an address.
 *
 * @throws AdminError when there is no such organization, or the limit is invalid
 */
export async function listMembers(
  context: Needs<'findMembership' | 'findOrganization' | 'findUser' | 'findUserByEmail' | 'listMembers'>,
  organizationId: OrganizationId,
  page: { readonly before: UserId | undefined; readonly limit: number; readonly email?: string | undefined },
): Promise<Listed<Member, UserId>> {
  const { store } = context
  await findOrganization(context, organizationId)
  if (page.email !== undefined) {
    const user = await store.findUserByEmail(normalizeEmail(page.email))
    const membership = user && (await store.findMembership({ organizationId, userId: user.id }))
    return { rows: membership === undefined ? [] : [{ membership, user }], next: undefined }
  }
  const { rows, next } = await listPage(
    async (slice) => (await store.listMembers({ ...slice, organizationId })).map((one) => ({ ...one, id: one.userId })),
    page,
  )
  return { rows: await Promise.all(rows.map((membership) => withUser(context, membership))), next }
}

/**
 * Disables a member: tokens of the member for the organization are revoked, and no new tokens are issued.
 *
 * @throws AdminError when the user is not a member of the organization
 */
export async function disableMember(
  context: Changing<'disableMember'> & Pick<Context, 'clock'>,
  key: MembershipKey,
): Promise<Member> {
  await context.store.disableMember({ ...key, now: context.clock() })
  return findMember(context, key)
}

/**
 * Enables a member. Tokens issued until now stay revoked.
 *
 * @throws AdminError when the user is not a member of the organization
 */
export async function enableMember(
  context: Changing<'enableMember'> & Pick<Context, 'clock'>,
  key: MembershipKey,
): Promise<Member> {
  await context.store.enableMember({ ...key, now: context.clock() })
  return findMember(context, key)
}

/** Removes a member. Tokens of the member for the organization are revoked. @throws AdminError when the user is not a member of the organization */
export async function removeMember({ store }: Needs<'removeMember'>, key: MembershipKey): Promise<void> {
  if ((await store.removeMember(key)) === 'unknown') throw noSuchMember(key)
}

async function findMember(context: Needs<'findMembership' | 'findUser'>, key: MembershipKey): Promise<Member> {
  const membership = await context.store.findMembership(key)
  if (membership === undefined) throw noSuchMember(key)
  return withUser(context, membership)
}

async function withUser({ store }: Needs<'findUser'>, membership: MembershipRecord): Promise<Member> {
  return { membership, user: await store.findUser(membership.userId) }
}

/** The same error whether the user, the organization or the membership does not exist, so that it does not disclose which. */
function noSuchMember({ userId, organizationId }: MembershipKey): AdminError {
  return unknown(
    `There is no member ${userId} in the organization ${organizationId}. See "grantor org members ${organizationId}".`,
  )
}
