import * as z from 'zod'
import type { MembershipKey } from '../ports/operation-inputs.ts'
import { before, EMAIL, ISO, ISO_OR_NULL, iso, isoOrNull, LIMIT, NEXT, ORGANIZATION_ID, USER_ID } from './fields.ts'
import { addMember, disableMember, enableMember, listMembers, removeMember, type Member } from './members.ts'
import { JWT_ACCEPTANCE, withDeletion, withJwtAcceptance } from './jwt-acceptance.ts'
import { defineTask, type Task, type TaskContext } from './task.ts'

const PATH = '/admin/v1/organizations/{organization_id}/members'
const PLACE = z.object({ organization_id: ORGANIZATION_ID })
const ONE = PLACE.extend({ user_id: USER_ID })

/** A member in an answer. */
const MEMBER = z
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

export type MemberDocument = z.output<typeof MEMBER>

/** A task that changes one membership and returns the changed membership. */
function change(
  verb: string,
  summary: string,
  run: (context: TaskContext, key: MembershipKey) => Promise<Member>,
): Task<typeof ONE, typeof MEMBER> {
  return defineTask({
    name: `member.${verb}`,
    method: 'POST',
    path: `${PATH}/{user_id}/${verb}`,
    access: 'write',
    anyClock: verb === 'disable',
    summary,
    input: ONE,
    output: MEMBER,
    run: async (context, { organization_id: organizationId, user_id: userId }) =>
      describeMember(await run(context, { organizationId, userId })),
  })
}

const ENDED_MEMBER = MEMBER.extend(JWT_ACCEPTANCE).meta({ id: 'EndedMember' })

export const MEMBER_TASKS: readonly Task[] = [
  defineTask({
    name: 'member.list',
    method: 'GET',
    path: PATH,
    access: 'read',
    summary: 'List the members of an organization, newest users first.',
    input: PLACE.extend({
      limit: LIMIT,
      before: before(USER_ID),
      email: EMAIL.optional().describe('Only the member with this address.'),
    }),
    output: z.object({ members: z.array(MEMBER), next: NEXT }),
    async run(context, { organization_id, ...page }) {
      const { rows, next } = await listMembers(context, organization_id, { ...page, before: page.before })
      return { members: rows.map(describeMember), next: next ?? null }
    },
  }),
  defineTask({
    name: 'member.add',
    method: 'POST',
    path: PATH,
    access: 'write',
    creates: true,
    serverOnly: true,
    summary: 'Add a user to an organization.',
    input: PLACE.extend({
      user_id: USER_ID.optional().describe('The id of the user; instead of email.'),
      email: EMAIL.optional().describe('The address of the user; instead of user_id.'),
    }),
    exactlyOneOf: ['user_id', 'email'],
    output: MEMBER,
    run: async (context, { organization_id, user_id, email }) =>
      describeMember(await addMember(context, organization_id, user_id ?? email ?? '')),
  }),
  defineTask({
    ...change('disable', 'Disable a member: tokens of the member for the organization stop working.', disableMember),
    output: ENDED_MEMBER,
    async run(context, { organization_id: organizationId, user_id: userId }) {
      const member = await disableMember(context, { organizationId, userId })
      return withJwtAcceptance(context, describeMember(member), member.membership)
    },
  }),
  change('enable', 'Enable a disabled member. Revoked tokens stay revoked.', enableMember),
  defineTask({
    name: 'member.remove',
    method: 'DELETE',
    path: `${PATH}/{user_id}`,
    access: 'write',
    summary: 'Remove a user from an organization. Tokens of the user for the organization stop working.',
    input: ONE,
    output: z.object({ organization_id: z.string(), user_id: z.string(), removed: z.literal(true), ...JWT_ACCEPTANCE }),
    async run(context, { organization_id, user_id }) {
      await removeMember(context, { organizationId: organization_id, userId: user_id })
      return withDeletion(context, { organization_id, user_id, removed: true as const })
    },
  }),
]

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
