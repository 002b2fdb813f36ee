import type { GroupRecord } from '../../../ports/records/group.ts'
import type { AuditEvent } from '../../../ports/records/audit.ts'
import { MAXIMA } from '../../../base/maxima.ts'
import { type GroupId, organizationOfGroup } from '../../../protocol/access/group.ts'
import type { AuditEventName } from '../../../protocol/audit/event-names.ts'
import type { OrganizationId } from '../../../protocol/ids.ts'
import { type NounOperations, when } from '../../noun.ts'
import { findBy, idKey, listPage, lookFor, newestOf, rows, shared, type Steps } from '../../shared/statement.ts'
import { awaitJoined } from './joined.ts'
import { assignments, bigint, flag, isUnchanged, previousValues, table, text } from '../../table.ts'

const changeable = { name: text<string>('name'), isProtected: flag('protected') } as const

/** The columns that an update replaces. */
const CHANGES = table<Pick<GroupRecord, 'name' | 'isProtected'>>(changeable)

const GROUPS = table<GroupRecord>({
  id: text('group_id'),
  organizationId: text('organization_id'),
  ...changeable,
  createdAt: bigint('created_at'),
})

/** Changes nothing, and locks the row. */
const HOLD_ORGANIZATION = shared(
  'update organizations set name = name where organization_id = :organizationId returning organization_id',
)
const IS_FULL_ORGANIZATION = shared(
  `select count(*) as known from (select 1 from user_groups where organization_id = :organizationId limit :limit) as known`,
)
const IS_FULL_SERVER = shared(
  'select count(*) as known from (select 1 from user_groups where organization_id is null limit :limit) as known',
)
const INSERT = shared(
  `insert into user_groups (${GROUPS.names}) values (${GROUPS.parameters}) on conflict (group_id) do nothing returning group_id`,
)
const UPDATE = shared(
  `update user_groups set ${assignments(CHANGES)} where group_id = :id and ${isUnchanged(CHANGES)} returning group_id`,
)
const DELETE = shared(
  'delete from user_groups where group_id = :id and protected = :isProtected returning group_id /*citus , joined*/',
)
const DELETE_MEMBERS = shared(`delete from group_members where ${lookFor('group_members', 'group_id = :id')}`)
const FIND = shared('select * from user_groups where group_id = :id')
const COUNT_PROTECTED = shared(
  'select count(*) as known from (select 1 from protected_groups where group_id <> :id limit :limit) as known',
)
const PROTECT = shared('insert into protected_groups (group_id) values (:id) on conflict (group_id) do nothing')
const UNPROTECT = shared('delete from protected_groups where group_id = :id')
/** Changes nothing, and locks the row. */
const HOLD_GROUP = shared(
  'update user_groups set name = name where group_id = :id returning group_id /*citus , joined*/',
)
const MEMBERS = 'user_id in (select user_id from group_members where group_id = :id)'
/** The same for the members: an order about one of them comes before the protection, which then ends its link, or finds it. */
const HOLD_MEMBERS = shared(`update users set password_hash = password_hash where ${MEMBERS} returning trial_prepared`)
/** As with a role (threats.md LNK-07). */
const END_LINKS = shared(`delete from links where origin = 'operator' and ${MEMBERS}`)
/** The ids of an organization's groups begin with its id and "/", which "0" follows. */
const OF_ORGANIZATION = 'group_id > :from and group_id < :to'
const DELETE_OF_ORGANIZATION = [
  shared(`delete from user_groups where ${lookFor('user_groups', OF_ORGANIZATION)}`),
  shared(`delete from protected_groups where ${OF_ORGANIZATION}`),
  shared(`delete from group_members where ${lookFor('group_members', OF_ORGANIZATION)}`),
]
const LEAVE_GROUPS = shared(`delete from group_members where user_id = :userId and ${OF_ORGANIZATION}`)

const operations = {
  createGroup: {
    keys: ({ id, organizationId }) => [id, ...(organizationId === undefined ? ['groups'] : [organizationId])],
    isShared: true,
    // It may end what an earlier group has left.
    cache: 'cleared',
    event: when('created', (group) => aboutGroup('group.created', group.id, { protected: group.isProtected })),
    *run(group) {
      const { id, organizationId, isProtected } = group
      const isThere = organizationId === undefined || (yield* rows(HOLD_ORGANIZATION, { organizationId })).length === 1
      if (!isThere) return 'unknown'
      if (yield* isFull(organizationId)) return 'too-many'
      if (isProtected && !(yield* mayProtect(id))) return 'too-many-protected'
      if ((yield* rows(INSERT, GROUPS.values(group))).length === 0) return 'id-taken'
      yield* rows(DELETE_MEMBERS, { id })
      yield* rows(isProtected ? PROTECT : UNPROTECT, { id })
      return 'created'
    },
  },
  updateGroup: {
    keys: idKey,
    cache: 'kept',
    event: when('changed', ({ id, name, isProtected, previous }) =>
      aboutGroup('group.updated', id, {
        ...(name !== previous.name && { renamed: true }),
        ...(isProtected !== previous.isProtected && { protected: isProtected }),
      }),
    ),
    *run({ id, previous, isConfirmed, ...next }) {
      const isNew = next.isProtected && !previous.isProtected
      if (isNew && !(yield* mayProtect(id))) return 'too-many-protected'
      if (isNew && !(yield* holdMembers(id)) && isConfirmed !== true) return 'prepared'
      const values = { id, ...CHANGES.values(next), ...previousValues(CHANGES, previous) }
      if ((yield* rows(UPDATE, values)).length === 0) return 'conflict'
      yield* rows(next.isProtected ? PROTECT : UNPROTECT, { id })
      if (isNew) yield* rows(END_LINKS, { id })
      return 'changed'
    },
  },
  deleteGroup: {
    keys: idKey,
    cache: 'cleared',
    event: when('deleted', ({ id }) => aboutGroup('group.deleted', id, {})),
    *run({ id, isProtected }) {
      const [group] = yield* rows(DELETE, { id, isProtected })
      if (group === undefined) return 'conflict'
      yield* awaitJoined(id, group)
      yield* rows(UNPROTECT, { id })
      yield* rows(DELETE_MEMBERS, { id })
      return 'deleted'
    },
  },
} satisfies NounOperations

const reads = {
  findGroup: findBy(GROUPS, FIND),
  listGroups: listPage(
    GROUPS,
    'select * from user_groups where group_id < :before order by group_id desc limit :limit',
  ),
  listGroupsOf: listPage(
    GROUPS,
    `select * from user_groups where ${newestOf('organization_id', ':organizationId', 'group_id')} limit :limit`,
  ),
}

export const groups = { operations, reads }

function* isFull(organizationId: OrganizationId | undefined): Steps<boolean> {
  const limit = organizationId === undefined ? MAXIMA.groups.most : MAXIMA.groupsOfOrganization.most
  const full = organizationId === undefined ? IS_FULL_SERVER : IS_FULL_ORGANIZATION
  return Number((yield* rows(full, { organizationId, limit }))[0]?.['known']) >= limit
}

function* mayProtect(id: GroupId): Steps<boolean> {
  const limit = MAXIMA.protectedGroups.most
  return Number((yield* rows(COUNT_PROTECTED, { id, limit }))[0]?.['known']) < limit
}

/**
 * Locks a group and its members, and returns whether none of them is prepared. An addition locks the user before the group, and so does this; those who
 * were added before the group was locked follow.
 */
function* holdMembers(id: GroupId): Steps<boolean> {
  yield* rows(HOLD_MEMBERS, { id })
  yield* awaitJoined(id, (yield* rows(HOLD_GROUP, { id }))[0])
  return (yield* rows(HOLD_MEMBERS, { id })).every((user) => user['trial_prepared'] === null)
}

/** The groups of an organization end, with their members. */
export function* endGroupsOf(organizationId: OrganizationId): Steps<void> {
  for (const statement of DELETE_OF_ORGANIZATION) yield* rows(statement, rangeOf(organizationId))
}

/** The user leaves all groups of the organization. */
export function* leaveGroupsOf({
  userId,
  organizationId,
}: {
  readonly userId: string
  readonly organizationId: OrganizationId
}): Steps<void> {
  yield* rows(LEAVE_GROUPS, { userId, ...rangeOf(organizationId) })
}

/** Between which ids those of the groups of an organization are. */
export function rangeOf(organizationId: OrganizationId): { readonly from: string; readonly to: string } {
  return { from: `${organizationId}/`, to: `${organizationId}0` }
}

function aboutGroup(
  event: AuditEventName,
  id: GroupId,
  details: Readonly<Record<string, string | boolean>>,
): AuditEvent {
  return { event, organizationId: organizationOfGroup(id), details: { group: id, ...details } }
}
