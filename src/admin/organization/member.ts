import * as z from 'zod'
import type { Context } from '../../ports/context.ts'
import type { MembershipKey } from '../../ports/operations/organization.ts'
import type { CausesMail } from '../../ports/operations/mail.ts'
import type { MembershipRecord, OrganizationRecord } from '../../ports/records/organization.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import { MEMBERSHIP_LIMIT } from '../../ports/store.ts'
import { nameUser } from '../../protocol/sign-in/account.ts'
import { domainOf } from '../../protocol/sign-in/email-address.ts'
import type { OrganizationId, UserId } from '../../protocol/ids.ts'
import { REACH } from '../administrators.ts'
import { conflict, unknown, type AdminError } from '../admin-error.ts'
import { changeTasks } from '../change-tasks.ts'
import { ISO, ISO_OR_NULL, iso, isoOrNull } from '../../base/iso.ts'
import { EMAIL, LIMIT, NAME, NEXT, ORGANIZATION_ID, USER_ID, pageStart } from '../fields.ts'
import { requireOrganization } from './organization.ts'
import { listPage, textPage, type Listed, type PageRequest } from '../page.ts'
import { tableOf } from '../../answers/table.ts'
import { defineTask, type Task, type TaskContext } from '../task.ts'
import { userTexts } from '../../protocol/sign-in/user-texts.ts'
import { hasWords, wordsOf } from '../../base/fold.ts'
import { describeAccounts } from '../user/listed.ts'
import { STATE_DOCUMENT } from '../user/sign-in.ts'
import { requireRecipient } from '../user/user.ts'
import { forShell } from '../../base/shell.ts'

/** A member of an organization, with the user. */
interface Member {
  readonly membership: MembershipRecord
  /** undefined: the user was deleted at the same time. */
  readonly user: UserRecord | undefined
}

const PATH = '/admin/v1/organizations/{organization_id}/members'
const PLACE = z.object({ organization_id: ORGANIZATION_ID })
const ONE = PLACE.extend({ user_id: USER_ID })

const { row, table } = tableOf<Member>()

/** A member in an answer. */
const MEMBER = table({
  organization_id: row(z.string(), ({ membership }) => membership.organizationId),
  user_id: row(z.string(), ({ membership }) => membership.userId),
  email: row(z.string().nullable(), ({ user }) => user?.email ?? null),
  name: row(z.string().nullable(), ({ user }) => user?.name ?? null),
  created_at: row(ISO.describe('When the user became a member.'), ({ membership }) => iso(membership.createdAt)),
  disabled_at: row(
    ISO_OR_NULL.describe('When the membership was disabled; the account is not affected.'),
    ({ membership }) => isoOrNull(membership.disabledAt),
  ),
  not_before: row(
    ISO.describe('The not-before time: tokens of the member for the organization issued earlier are revoked.'),
    ({ membership }) => iso(membership.notBefore),
  ),
})
const MEMBER_DOCUMENT = z.object(MEMBER.shape).meta({ id: 'Member' })

/** A member in a list. */
const LISTED_MEMBER = MEMBER_DOCUMENT.extend({
  reach: REACH,
  state: STATE_DOCUMENT.shape.state
    .nullable()
    .describe('The state of the account, as in user.list; null: the account is not in your reach.'),
  state_until: STATE_DOCUMENT.shape.state_until,
}).meta({ id: 'ListedMember' })

export type MemberDocument = z.output<typeof LISTED_MEMBER>

const { change, end, remove } = changeTasks({
  noun: 'member',
  path: `${PATH}/{user_id}`,
  extent: 'organization',
  access: 'users',
  touches: 'membership',
  input: ONE,
  output: MEMBER_DOCUMENT,
  find: (context, one) => requireMember(context, keyOf(one)),
  missing: (one) => noSuchMember(keyOf(one)),
  describe: MEMBER.show,
  endOf: ({ membership }) => membership,
})

export const MEMBER_TASKS: readonly Task[] = [
  defineTask({
    name: 'member.list',
    method: 'GET',
    path: PATH,
    access: 'read-people',
    extent: 'organization',
    summary: 'List the members of an organization, newest users first.',
    input: PLACE.extend({
      limit: LIMIT,
      before: pageStart(USER_ID),
      email: EMAIL.optional().describe('Only the member with this address.'),
      text: NAME.optional().describe(
        'Only members with all words of this text in the name or the address, in any case and without accents. A page examines the next 2,000 members, and may be empty. Then follow "next".',
      ),
      outside_domains: z
        .literal(true)
        .optional()
        .describe(
          'Only members without a proved address of the domains of the providers of the organization. A page may have fewer rows than its limit, or none, although more pages follow.',
        ),
    }),
    output: z.object({ members: z.array(LISTED_MEMBER), next: NEXT }),
    async run(context, { organization_id, outside_domains: isOutside = false, ...page }) {
      const { rows, next } = await listMembers(context, organization_id, page)
      const isMeant = isOutside ? await outsideDomains(context, organization_id) : () => true
      return { members: await listed(context, rows.filter(isMeant)), next }
    },
  }),
  defineTask({
    name: 'member.add',
    method: 'POST',
    path: PATH,
    access: 'users',
    touches: 'membership',
    creates: true,
    summary: 'Add a user to an organization.',
    input: PLACE.extend({
      user_id: USER_ID.optional().describe('The id of the user, if no address is given.'),
      email: EMAIL.optional().describe('The address of the user, if no id is given.'),
    }),
    exactlyOneOf: ['user_id', 'email'],
    output: MEMBER_DOCUMENT,
    run: async (context, { organization_id, user_id, email }) =>
      MEMBER.show(await addMember(context, organization_id, user_id ?? email ?? '')),
  }),
  end('disable', 'Disable a member: tokens of the member for the organization stop working.', ({ store, clock }, one) =>
    store.disableMember({ ...keyOf(one), now: clock() }),
  ),
  change('enable', 'Enable a disabled member. Revoked tokens stay revoked.', ({ store, clock }, one) =>
    store.enableMember({ ...keyOf(one), now: clock() }),
  ),
  remove(
    'remove',
    'Remove a user from an organization. Tokens of the user for the organization stop working.',
    ({ store, clock }, one) => store.removeMember({ ...keyOf(one), now: clock() }),
  ),
]

/** The state of an account is for an administrator who may help the person: that of another organization has it not. */
async function listed(context: TaskContext, members: readonly Member[]): Promise<MemberDocument[]> {
  const described = await describeAccounts(
    context,
    members.flatMap(({ user }) => user ?? []),
  )
  const accounts = new Map(described.map(({ user, ...account }) => [user.id, account]))
  return members.map((member) => {
    const { reach = 'nothing', state, state_until: until } = accounts.get(member.membership.userId) ?? {}
    const own = reach === 'account' ? { state: state ?? null, state_until: until ?? null } : NO_STATE
    return { ...MEMBER.show(member), reach, ...own }
  })
}

const NO_STATE = { state: null, state_until: null }

function keyOf({ organization_id: organizationId, user_id: userId }: z.output<typeof ONE>): MembershipKey {
  return { organizationId, userId }
}

/**
 * Adds a user, given by id or e-mail address, to an organization (decision 0005).
 *
 * @throws AdminError when there is no such organization or user, the address may be of another person, or the user is a member already or has
 * too many organizations
 */
async function addMember(context: Context, organizationId: OrganizationId, who: string): Promise<Member> {
  const organization = await requireOrganization(context, organizationId)
  const user = await requireRecipient(context, who)
  return addToOrganization(context, { organization, user, mails: [] })
}

/** @throws AdminError when the user is a member already or has too many organizations */
export async function addToOrganization(
  { clock, store }: Context,
  {
    organization: { id: organizationId, name },
    user,
    mails,
    isInvited,
  }: { readonly organization: OrganizationRecord; readonly user: UserRecord; readonly isInvited?: true } & CausesMail,
): Promise<Member> {
  const now = clock()
  const membership = { userId: user.id, organizationId, createdAt: now, disabledAt: undefined, notBefore: now }
  switch (await store.addMember({ ...membership, mails, ...(isInvited && { isInvited }) })) {
    case 'added':
      return { membership, user }
    case 'member-already':
      throw conflict(
        `${nameUser(user)} is already a member of ${name}. See "grantor org members ${forShell(organizationId)}".`,
      )
    case 'too-many':
      throw conflict(`${nameUser(user)} belongs to ${MEMBERSHIP_LIMIT} organizations, which is the maximum.`)
  }
}

/**
 * Lists members, newest users first, or the member with an address.
 *
 * @throws AdminError when there is no such organization
 */
async function listMembers(
  context: Context,
  organizationId: OrganizationId,
  page: PageRequest<UserId> & { readonly email?: string | undefined; readonly text?: string | undefined },
): Promise<Listed<Member, UserId>> {
  const { store } = context
  await requireOrganization(context, organizationId)
  if (page.email !== undefined) {
    const { email } = page
    const user = await store.findUserByEmail(email)
    // An address is no id. Both are read, so that the time does not say whether a stranger has an account (threats.md CON-08).
    const membership = await store.findMembership({ organizationId, userId: user?.id ?? (email as UserId) })
    return { rows: membership === undefined ? [] : [{ membership, user }], next: null }
  }
  const list = async (slice: { readonly before: UserId | undefined; readonly limit: number }) => {
    const memberships = await store.listMembers({ ...slice, organizationId })
    return Promise.all(memberships.map(async (one) => ({ id: one.userId, ...(await withUser(context, one)) })))
  }
  if (page.text === undefined) return listPage(list, page)
  const words = wordsOf(page.text)
  return textPage(list, ({ user }) => user !== undefined && hasWords(words, ...userTexts(user)), page)
}

/**
 * Returns whether a member would not become one by signing in at a provider of the organization: an operator added the member, the
 * provider had other domains then, or an earlier release did not ask for them. The address of the account decides.
 */
async function outsideDomains({ store }: Context, id: OrganizationId) {
  const own = (await store.listProviders()).filter(({ settings }) => settings.organizationId === id)
  const domains = own.flatMap(({ settings }) => settings.domains)
  const isInside = (email: string) => domains.includes(domainOf(email) ?? '')
  return ({ user }: Member) =>
    !(user?.email !== undefined && user.emailVerifiedAt !== undefined && isInside(user.email))
}

export async function requireMember(context: Context, key: MembershipKey): Promise<Member> {
  const membership = await context.store.findMembership(key)
  if (membership === undefined) throw noSuchMember(key)
  return withUser(context, membership)
}

async function withUser({ store }: Context, membership: MembershipRecord): Promise<Member> {
  return { membership, user: await store.findUser(membership.userId) }
}

/** The same error whether the user, the organization or the membership does not exist, so that it does not disclose which. */
export function noSuchMember({ userId, organizationId }: MembershipKey): AdminError {
  return unknown(
    `There is no member ${userId} in the organization ${organizationId}. See "grantor org members ${forShell(organizationId)}".`,
  )
}
