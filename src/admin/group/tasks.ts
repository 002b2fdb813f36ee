import * as z from 'zod'
import { iso } from '../../base/iso.ts'
import { MAXIMA } from '../../base/maxima.ts'
import { forShell } from '../../base/shell.ts'
import type { GroupMemberRecord, GroupRecord } from '../../ports/records/group.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import { type GroupId, organizationOfGroup, ownIdOf } from '../../protocol/access/group.ts'
import type { OrganizationId, UserId } from '../../protocol/ids.ts'
import { type AdminError, conflict, noSuchOrganization, unknown } from '../admin-error.ts'
import { EMAIL, GROUP_ID, LIMIT, NAME, NEW_GROUP_ID, NEXT, pageStart, UNTIL, USER_ID } from '../fields.ts'
import { bothTasks } from '../organization/both-tasks.ts'
import { JWT_ACCEPTANCE } from '../jwt-acceptance.ts'
import { hasText, listPage, textPage } from '../page.ts'
import type { Task, TaskContext } from '../task.ts'
import {
  findRemovalAcceptance,
  GROUP,
  GROUP_DOCUMENT,
  idWithin,
  listNaming,
  MEMBER_ROW,
  NAMING,
  refuseNamed,
  refuseNamedBefore,
  requireGroup,
  SAYING,
  sayings,
  SOURCE,
} from './group.ts'
import { addMember, findRecipient } from './member.ts'
import { CONFIRMED, preparedMember, requireProtector, requireServer } from './protection.ts'

function both<Input extends z.ZodObject, Output extends z.ZodObject>(
  task: Omit<Parameters<typeof bothTasks<Input, Input, Output>>[1], 'own'>,
): readonly Task[] {
  return bothTasks('group', { ...task, own: task.input })
}

const ONE = z.object({ group_id: GROUP_ID })
const GROUP_NAME = NAME.describe('The name, for people.')
const PROTECTED = z
  .boolean()
  .describe(
    'Whether administrators with less than write access, and those of other organizations, cannot change the accounts of the members. Only administrators of the server set it.',
  )
const SHOWN_GROUP = GROUP_DOCUMENT.extend({
  named_by: z.array(NAMING).describe('What names the group. While something does, it cannot be deleted.'),
}).meta({ id: 'ShownGroup' })

const LISTED_GROUP = GROUP_DOCUMENT.extend({
  sources: z
    .array(SAYING)
    .nullable()
    .describe('With `user_id`: who says that the user is in the group. null: not asked.'),
}).meta({ id: 'ListedGroup' })

const MEMBER = SAYING.extend({
  group_id: z.string(),
  user_id: z.string(),
  email: z.string().nullable(),
  name: z.string().nullable(),
}).meta({ id: 'GroupMember' })

export type ShownGroupDocument = z.output<typeof SHOWN_GROUP>
export type GroupDocument = z.output<typeof GROUP_DOCUMENT>
export type ListedGroupDocument = z.output<typeof LISTED_GROUP>
export type GroupMemberDocument = z.output<typeof MEMBER>

export const GROUP_TASKS: readonly Task[] = [
  ...both({
    verb: 'list',
    method: 'GET',
    path: '',
    access: 'read-people',
    summary: 'List the groups, the last id first, or those in which a user is.',
    input: z.object({
      limit: LIMIT,
      before: pageStart(GROUP_ID),
      user_id: USER_ID.optional().describe('Only the groups in which this user is; all on one page.'),
      name: NAME.optional().describe(
        'Only groups with this text in the id or the name, in any case. A page examines the next 2,000 groups, and may be empty. Then follow "next".',
      ),
    }),
    output: z.object({ groups: z.array(LISTED_GROUP), next: NEXT }),
    async run(context, { user_id: userId, name, ...page }, organizationId) {
      const { store } = context
      const isMeant = (group: GroupRecord): boolean => name === undefined || hasText(name, group.id, group.name)
      if (userId !== undefined) return { groups: await groupsOf(context, userId, organizationId, isMeant), next: null }
      const list = (slice: { readonly before: GroupId | undefined; readonly limit: number }) =>
        organizationId === undefined ? store.listGroups(slice) : store.listGroupsOf({ ...slice, organizationId })
      const { rows, next } = await (name === undefined ? listPage(list, page) : textPage(list, isMeant, page))
      return { groups: rows.map((group) => ({ ...GROUP.show(group), sources: null })), next }
    },
  }),
  ...both({
    verb: 'create',
    method: 'POST',
    path: '',
    access: 'write',
    creates: true,
    summary: 'Create a group, in which users are.',
    input: z.object({ group_id: NEW_GROUP_ID, name: GROUP_NAME.optional(), protected: PROTECTED.optional() }),
    output: GROUP_DOCUMENT,
    async run(context, { group_id: given, name, protected: isProtected = false }, within) {
      if (isProtected) requireProtector(context)
      const id = idWithin(given, within)
      if (id === undefined) throw conflict(`A group of the organization ${within ?? ''} has no id of another one.`)
      await refuseNamedBefore(context, id)
      const organizationId = organizationOfGroup(id)
      const createdAt = context.clock()
      const group: GroupRecord = { id, organizationId, name: name ?? ownIdOf(id), isProtected, createdAt }
      switch (await context.store.createGroup(group)) {
        case 'created':
          return GROUP.show(group)
        case 'id-taken':
          throw conflict(`There is already a group ${id}.`)
        case 'unknown':
          throw noSuchOrganization(organizationId ?? '')
        case 'too-many':
          throw organizationId === undefined
            ? conflict(`The server has ${MAXIMA.groups.most} groups, which is the maximum.`)
            : conflict(`The organization has ${MAXIMA.groupsOfOrganization.most} groups, which is the maximum.`)
        case 'too-many-protected':
          throw tooManyProtected()
      }
    },
  }),
  ...both({
    verb: 'show',
    method: 'GET',
    path: '/{group_id}',
    access: 'read-people',
    summary: 'Show a group, and what names it.',
    input: ONE,
    output: SHOWN_GROUP,
    async run(context, { group_id: given }, organizationId) {
      const group = await requireGroup(context, given, organizationId)
      return { ...GROUP.show(group), named_by: [...(await listNaming(context, group.id))] }
    },
  }),
  ...both({
    verb: 'update',
    method: 'PATCH',
    path: '/{group_id}',
    access: 'write',
    undo: 'update',
    needsRecentSignIn: true,
    summary: 'Change the name of a group, or whether it is protected. What is not given stays.',
    input: ONE.extend({ name: GROUP_NAME.optional(), protected: PROTECTED.optional(), confirmed: CONFIRMED }),
    output: GROUP_DOCUMENT,
    async run(context, { group_id: given, name, protected: isProtected, confirmed: isConfirmed }, organizationId) {
      const previous = await requireGroup(context, given, organizationId)
      if (isProtected !== undefined) requireServer(context)
      const { id } = previous
      const next = { name: name ?? previous.name, isProtected: isProtected ?? previous.isProtected }
      if (next.isProtected !== previous.isProtected) requireProtector(context)
      switch (await context.store.updateGroup({ id, ...next, previous, isConfirmed })) {
        case 'changed':
          return GROUP.show({ ...previous, ...next })
        case 'conflict':
          throw changedMeanwhile(id)
        case 'prepared':
          throw preparedMember(id)
        case 'too-many-protected':
          throw tooManyProtected()
      }
    },
  }),
  ...both({
    verb: 'delete',
    method: 'DELETE',
    path: '/{group_id}',
    access: 'write',
    summary: 'Delete a group that nothing names. Its members are in it no longer.',
    input: ONE,
    output: z.object({ group_id: z.string(), deleted: z.literal(true) }),
    async run(context, { group_id: given }, organizationId) {
      const { id, isProtected } = await requireGroup(context, given, organizationId)
      // A new group with the id would not be protected.
      if (isProtected) requireProtector(context)
      await refuseNamed(context, id)
      if ((await context.store.deleteGroup({ id, isProtected })) === 'conflict') throw changedMeanwhile(id)
      return { group_id: id, deleted: true as const }
    },
  }),
  ...both({
    verb: 'list-members',
    method: 'GET',
    path: '/{group_id}/members',
    access: 'read-people',
    summary: 'List who says that which users are in a group, newest users first.',
    input: ONE.extend({
      limit: LIMIT,
      before: pageStart(MEMBER_ROW),
    }),
    output: z.object({ members: z.array(MEMBER), next: NEXT }),
    async run(context, { group_id: given, ...page }, organizationId) {
      const { id: groupId } = await requireGroup(context, given, organizationId)
      const { rows, next } = await listPage(
        async (slice) =>
          (await context.store.listGroupMembers({ ...slice, groupId })).map((row) => ({
            ...row,
            id: `${row.userId} ${row.source}`,
          })),
        page,
      )
      const say = await sayings(context)
      const members = await Promise.all(
        rows.map(async (row) => describeMember(row, await context.store.findUser(row.userId), say(row))),
      )
      return { members, next }
    },
  }),
  ...both({
    verb: 'add-member',
    method: 'POST',
    path: '/{group_id}/members',
    access: 'write',
    gives: true,
    needsRecentSignIn: true,
    summary: 'Add a user to a group, or change the end. A group of an organization has only its active members.',
    input: ONE.extend({
      confirmed: CONFIRMED,
      user_id: USER_ID.optional().describe('The id of the user, if no address is given.'),
      email: EMAIL.optional().describe('The address of the user, if no id is given.'),
      until: UNTIL.optional().describe(
        'The end: a time, or a day, with whose end in UTC it ends. By default there is none.',
      ),
    }),
    exactlyOneOf: ['user_id', 'email'],
    output: MEMBER,
    async run(context, { group_id: given, user_id: userId, email, until: expiresAt, confirmed }, organizationId) {
      const group = await requireGroup(context, given, organizationId)
      const now = context.clock()
      if (expiresAt !== undefined && expiresAt <= now) throw conflict(`The end ${iso(expiresAt)} has passed.`)
      const user = await findRecipient(context, userId ?? email ?? '', organizationId)
      const member: GroupMemberRecord = {
        userId: user.id,
        groupId: group.id,
        source: 'operator',
        createdAt: now,
        expiresAt,
      }
      await addMember(context, { ...member, isConfirmed: confirmed }, user)
      const say = await sayings(context)
      return describeMember(member, user, say(member))
    },
  }),
  ...both({
    verb: 'remove-member',
    method: 'DELETE',
    path: '/{group_id}/members/{user_id}',
    access: 'write',
    summary:
      'Remove a user from a group, as far as an operator said it. What a provider or your application says stays.',
    input: ONE.extend({
      user_id: USER_ID,
      source: SOURCE.optional().describe(
        'Whose word is removed: operator, the default; application; or provider:<id>, which may say it again at the next sign-in.',
      ),
    }),
    output: z.object({ group_id: z.string(), user_id: z.string(), removed: z.literal(true), ...JWT_ACCEPTANCE }),
    async run(context, { group_id: given, user_id: userId, source: said = 'operator' }, organizationId) {
      const { store } = context
      const { id: groupId } = await requireGroup(context, given, organizationId)
      if ((await store.removeGroupMember({ userId, groupId, source: said })) === 'removed')
        return {
          group_id: groupId,
          user_id: userId,
          removed: true as const,
          ...(await findRemovalAcceptance(context, groupId)),
        }
      const other = (await store.listGroupsOfUser(userId)).find((row) => row.groupId === groupId)
      if (other === undefined) throw unknown(`The user ${userId} is not in the group ${groupId}.`)
      throw conflict(
        `Not the operator says that ${userId} is in the group ${groupId}, but ${other.source}. To remove its word: grantor group remove-member ${forShell(groupId)} ${forShell(userId)} --source ${forShell(other.source)}`,
      )
    },
  }),
]

async function groupsOf(
  context: TaskContext,
  userId: UserId,
  organizationId: OrganizationId | undefined,
  isMeant: (group: GroupRecord) => boolean,
): Promise<ListedGroupDocument[]> {
  const { store } = context
  const say = await sayings(context)
  const byGroup = Map.groupBy(await store.listGroupsOfUser(userId), ({ groupId }) => groupId)
  const groups = await Promise.all([...byGroup.keys()].map((id) => store.findGroup(id)))
  return groups
    .filter((group) => group !== undefined)
    .filter(isMeant)
    .filter((group) => organizationId === undefined || group.organizationId === organizationId)
    .map((group) => ({ ...GROUP.show(group), sources: (byGroup.get(group.id) ?? []).map(say) }))
}

function describeMember(
  { groupId, userId }: GroupMemberRecord,
  user: UserRecord | undefined,
  said: z.output<typeof SAYING>,
): GroupMemberDocument {
  return { group_id: groupId, user_id: userId, email: user?.email ?? null, name: user?.name ?? null, ...said }
}

function changedMeanwhile(id: GroupId): AdminError {
  return conflict(`The group ${id} was changed or deleted at the same time. Try again.`)
}

function tooManyProtected(): AdminError {
  return conflict(`There are ${MAXIMA.protectedGroups.most} protected groups, which is the maximum.`)
}
