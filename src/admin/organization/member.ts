import * as z from 'zod'
import type { Context } from '../../ports/context.ts'
import type { MembershipKey } from '../../ports/operation-inputs.ts'
import type { MembershipRecord } from '../../ports/records/organization.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import { MEMBERSHIP_LIMIT } from '../../ports/store.ts'
import { nameUser, normalizeEmail } from '../../protocol/sign-in/account.ts'
import type { OrganizationId, UserId } from '../../protocol/ids.ts'
import { domainOf } from '../../protocol/sign-in/provider-identity.ts'
import { conflict, unknown, type AdminError } from '../admin-error.ts'
import { changeTasks } from '../change-tasks.ts'
import { EMAIL, ISO, ISO_OR_NULL, iso, isoOrNull, LIMIT, NEXT, ORGANIZATION_ID, USER_ID, pageStart } from '../fields.ts'
import { JWT_ACCEPTANCE, withDeletion } from '../jwt-acceptance.ts'
import { requireOrganization } from './organization.ts'
import { listPage, type Listed, type PageRequest } from '../page.ts'
import { defineTask, type Task } from '../task.ts'
import { requireUser } from '../user/user.ts'

/** A member of an organization, with the user. */
export interface Member {
  readonly membership: MembershipRecord
  /** undefined: the user was deleted at the same time. */
  readonly user: UserRecord | undefined
}

const PATH = '/admin/v1/organizations/{organization_id}/members'
const PLACE = z.object({ organization_id: ORGANIZATION_ID })
const ONE = PLACE.extend({ user_id: USER_ID })

/** A member in an answer. */
const MEMBER_DOCUMENT = z
  .object({
    organization_id: z.string(),
    user_id: z.string(),
    email: z.string().nullable(),
    name: z.string().nullable(),
    created_at: ISO.describe('When the user became a member.'),
    disabled_at: ISO_OR_NULL.describe('When the membership was disabled; the account is not affected.'),
    not_before: ISO.describe(
      'The not-before time: tokens of the member for the organization issued earlier are revoked.',
    ),
  })
  .meta({ id: 'Member' })

export type MemberDocument = z.output<typeof MEMBER_DOCUMENT>

function describeMember({ membership, user }: Member): MemberDocument {
  const { organizationId, userId, createdAt, disabledAt, notBefore } = membership
  return {
    organization_id: organizationId,
    user_id: userId,
    email: user?.email ?? null,
    name: user?.name ?? null,
    created_at: iso(createdAt),
    disabled_at: isoOrNull(disabledAt),
    not_before: iso(notBefore),
  }
}

const { change, end } = changeTasks({
  noun: 'member',
  path: `${PATH}/{user_id}`,
  extent: 'organization',
  input: ONE,
  output: MEMBER_DOCUMENT,
  describe: describeMember,
  endOf: ({ membership }: Member) => membership,
})

export const MEMBER_TASKS: readonly Task[] = [
  defineTask({
    name: 'member.list',
    method: 'GET',
    path: PATH,
    access: 'read',
    extent: 'organization',
    summary: 'List the members of an organization, newest users first.',
    input: PLACE.extend({
      limit: LIMIT,
      before: pageStart(USER_ID),
      email: EMAIL.optional().describe('Only the member with this address.'),
      outside_domains: z
        .boolean()
        .optional()
        .describe(
          'true: only members without a proved address of the domains of the providers of the organization. A page may have fewer rows than its limit, or none, and another page follow.',
        ),
    }),
    output: z.object({ members: z.array(MEMBER_DOCUMENT), next: NEXT }),
    async run(context, { organization_id, outside_domains: isOutside = false, ...page }) {
      const { rows, next } = await listMembers(context, organization_id, page)
      const isMeant = isOutside ? await outsideDomains(context, organization_id) : () => true
      return { members: rows.filter(isMeant).map(describeMember), next: next ?? null }
    },
  }),
  defineTask({
    name: 'member.add',
    method: 'POST',
    path: PATH,
    access: 'write',
    creates: true,
    summary: 'Add a user to an organization.',
    input: PLACE.extend({
      user_id: USER_ID.optional().describe('The id of the user; instead of email.'),
      email: EMAIL.optional().describe('The address of the user; instead of user_id.'),
    }),
    exactlyOneOf: ['user_id', 'email'],
    output: MEMBER_DOCUMENT,
    run: async (context, { organization_id, user_id, email }) =>
      describeMember(await addMember(context, organization_id, user_id ?? email ?? '')),
  }),
  end(
    'disable',
    'Disable a member: tokens of the member for the organization stop working.',
    (context, { organization_id: organizationId, user_id: userId }) =>
      disableMember(context, { organizationId, userId }),
  ),
  change(
    'enable',
    'Enable a disabled member. Revoked tokens stay revoked.',
    (context, { organization_id: organizationId, user_id: userId }) =>
      enableMember(context, { organizationId, userId }),
  ),
  defineTask({
    name: 'member.remove',
    method: 'DELETE',
    path: `${PATH}/{user_id}`,
    access: 'write',
    extent: 'organization',
    summary: 'Remove a user from an organization. Tokens of the user for the organization stop working.',
    input: ONE,
    output: z.object({ organization_id: z.string(), user_id: z.string(), removed: z.literal(true), ...JWT_ACCEPTANCE }),
    async run(context, { organization_id, user_id }) {
      await removeMember(context, { organizationId: organization_id, userId: user_id })
      return withDeletion(context, { organization_id, user_id, removed: true as const })
    },
  }),
]

type Needs<Name extends keyof Context['store']> = { readonly store: Pick<Context['store'], Name> }
type Changing<Name extends keyof Context['store']> = Needs<Name | 'findMembership' | 'findUser'> &
  Pick<Context, 'clock'>

/**
 * Adds a user, given by id or e-mail address, to an organization (decision 0019).
 *
 * @throws AdminError when there is no such organization or user, or the user is a member already or has too many organizations
 */
async function addMember(
  context: Needs<'addMember' | 'findOrganization' | 'findUser' | 'findUserByEmail'> & Pick<Context, 'clock'>,
  organizationId: OrganizationId,
  who: string,
): Promise<Member> {
  const { name } = await requireOrganization(context, organizationId)
  const user = await requireUser(context, who)
  const now = context.clock()
  const membership = { userId: user.id, organizationId, createdAt: now, disabledAt: undefined, notBefore: now }
  switch (await context.store.addMember(membership)) {
    case 'added':
      return { membership, user }
    case 'member-already':
      throw conflict(`${nameUser(user)} is already a member of ${name}. See "grantor org members ${organizationId}".`)
    case 'too-many':
      throw conflict(`${nameUser(user)} belongs to ${MEMBERSHIP_LIMIT} organizations, which is the most.`)
  }
}

/**
 * Lists members, newest users first, or the member with an address.
 *
 * @throws AdminError when there is no such organization, or the limit is invalid
 */
async function listMembers(
  context: Needs<'findMembership' | 'findOrganization' | 'findUser' | 'findUserByEmail' | 'listMembers'>,
  organizationId: OrganizationId,
  page: PageRequest<UserId> & { readonly email?: string | undefined },
): Promise<Listed<Member, UserId>> {
  const { store } = context
  await requireOrganization(context, organizationId)
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
 * Returns whether a member would not become one by signing in at a provider of the organization: an operator added the member, the
 * provider had other domains then, or an earlier release did not ask for them. The address of the account decides.
 */
async function outsideDomains({ store }: Needs<'listProviders'>, id: OrganizationId) {
  const own = (await store.listProviders()).filter(({ settings }) => settings.organizationId === id)
  const domains = own.flatMap(({ settings }) => settings.domains)
  const isInside = (email: string) => domains.includes(domainOf(email) ?? '')
  return ({ user }: Member) =>
    !(user?.email !== undefined && user.emailVerifiedAt !== undefined && isInside(user.email))
}

/**
 * Disables a member: tokens of the member for the organization are revoked, and no new tokens are issued.
 *
 * @throws AdminError when the user is not a member of the organization
 */
async function disableMember(context: Changing<'disableMember'>, key: MembershipKey): Promise<Member> {
  await context.store.disableMember({ ...key, now: context.clock() })
  return requireMember(context, key)
}

/**
 * Enables a member. Tokens issued until now stay revoked.
 *
 * @throws AdminError when the user is not a member of the organization
 */
async function enableMember(context: Changing<'enableMember'>, key: MembershipKey): Promise<Member> {
  await context.store.enableMember({ ...key, now: context.clock() })
  return requireMember(context, key)
}

/** Removes a member. Tokens of the member for the organization are revoked. @throws AdminError when the user is not a member of the organization */
async function removeMember(
  { store, clock }: Needs<'removeMember'> & Pick<Context, 'clock'>,
  key: MembershipKey,
): Promise<void> {
  if ((await store.removeMember({ ...key, now: clock() })) === 'unknown') throw noSuchMember(key)
}

async function requireMember(context: Needs<'findMembership' | 'findUser'>, key: MembershipKey): Promise<Member> {
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
