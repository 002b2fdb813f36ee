import type { GroupChanges, SourceGroups } from '../../../ports/operations/group.ts'
import type { Input } from '../../../ports/operations/index.ts'
import type { AuditEvent } from '../../../ports/records/audit.ts'
import type { GroupMemberRecord } from '../../../ports/records/group.ts'
import type { Page } from '../../../ports/store.ts'
import { MAXIMA } from '../../../base/maxima.ts'
import type { EpochMs } from '../../../base/brand.ts'
import { type Belonging, type GroupMembership, hasRoom } from '../../../protocol/access/belonging.ts'
import {
  type GroupId,
  type MemberSource,
  organizationOfGroup,
  sourceOfIdentity,
} from '../../../protocol/access/group.ts'
import type { AuditEventName } from '../../../protocol/audit/event-names.ts'
import type { ProviderId } from '../../../protocol/sign-in/authentication.ts'
import type { OrganizationId, UserId } from '../../../protocol/ids.ts'
import type { NounOperations } from '../../noun.ts'
import type { Row } from '../../rows.ts'
import { listOf, rows, shared, type Steps } from '../../shared/statement.ts'
import { bigint, table, text } from '../../table.ts'
import { keepChanged } from '../../shared/sign-in/changed-here.ts'
import { END_OPERATOR_LINK, isPrepared } from '../user/roles.ts'
import { rangeOf } from './groups.ts'
import { awaitJoined, nameJoined } from './joined.ts'

const membership = {
  groupId: text<GroupId>('group_id'),
  source: text<MemberSource>('source'),
  createdAt: bigint<EpochMs>('created_at'),
  expiresAt: bigint<EpochMs | undefined>('expires_at'),
} as const
const MEMBERSHIP = table<GroupMembership>(membership)
const GROUP_MEMBERS = table<GroupMemberRecord>({ userId: text('user_id'), ...membership })

/** These change nothing, and lock a row: a user or a group that is deleted at the same time, or a membership, keeps nothing. */
const HOLD_USER = shared('update users set password_hash = password_hash where user_id = :userId returning user_id')
const HOLD_GROUP = shared(
  'update user_groups set name = name where group_id = :groupId returning protected /*citus , joined*/',
)
const HOLD_MEMBERSHIP = shared(
  `update memberships set created_at = created_at
   where user_id = :userId and organization_id = :organizationId and disabled_at is null returning user_id`,
)
const OF_MEMBER = 'user_id = :userId and group_id = :groupId and source = :source'
const SET_END = shared(
  `update group_members set expires_at = :expiresAt
   where ${OF_MEMBER} and expires_at is distinct from cast(:expiresAt as bigint) returning user_id`,
)
const DELETE = shared(`delete from group_members where ${OF_MEMBER} returning user_id`)
const HAS = shared(`select user_id from group_members where ${OF_MEMBER}`)
const INSERT = shared(
  `insert into group_members (${GROUP_MEMBERS.names}) select ${GROUP_MEMBERS.parameters}
   where (select count(*) from (select 1 from group_members where user_id = :user_id
     and case when cast(:from as text) is null then group_id not like '%/%' else group_id > :from and group_id < :to end
     limit :limit) as known) < :limit
   on conflict (user_id, group_id, source) do nothing returning user_id`,
)
const DELETE_SOME = shared(
  `delete from group_members
   where user_id = :userId and source = :source and group_id = any(string_to_array(:ids, ' '))`,
)
const LEAVE_SOURCES = shared(
  `delete from group_members where user_id = :userId and source = any(string_to_array(:sources, ' '))`,
)
const MOVE_END = shared('update group_members set expires_at = :expiresAt where user_id = :userId and source = :source')
const LIST_OF_USER = shared('select * from group_members where user_id = :userId order by group_id, source')
const LIST_OF_GROUP = shared(
  `select * from group_members
   where (group_id, user_id, source) < (:groupId, :beforeUser, :beforeSource) and group_id >= :groupId
   order by group_id desc, user_id desc, source desc limit :limit`,
)
/** The end of what a provider said moves by less only with a difference. */
const MOVE_MS = 60 * 60 * 1000

const operations = {
  addGroupMember: {
    account: ({ userId }) => userId,
    touches: 'membership',
    keys: ({ userId, groupId }) => [userId, groupId],
    isShared: true,
    cache: ({ userId }) => belongingKey(userId),
    event({ expiresAt, ...member }, outcome) {
      if (outcome !== 'added' && outcome !== 'changed') return undefined
      const name = outcome === 'added' ? 'group.member-added' : 'group.member-changed'
      return aboutMember(name, member, expiresAt === undefined ? {} : { until: expiresAt })
    },
    *run(member) {
      if ((yield* rows(HOLD_USER, member)).length === 0) return 'unknown'
      const group = yield* holdGroup(member.groupId)
      if (group === undefined) return 'unknown'
      if (!(yield* mayBeIn(member))) return 'not-member'
      // A member is as hard to reach as a holder of a role, so only who could give the role adds one (threats.md GRP-06).
      if (isProtected(group) && member.reach !== undefined) return 'bounded'
      if ((yield* rows(SET_END, member)).length === 1) return 'changed'
      if ((yield* rows(HAS, member)).length === 1) return 'member-already'
      return yield* insert(member, group)
    },
  },
  removeGroupMember: {
    keys: ({ userId, groupId }) => [userId, groupId],
    isShared: true,
    // An import may no longer change the account.
    cache: ({ userId }) => [belongingKey(userId), userId],
    event: (member, outcome) => (outcome === 'removed' ? aboutMember('group.member-removed', member) : undefined),
    *run(member) {
      yield* rows(HOLD_USER, member)
      if ((yield* rows(DELETE, member)).length === 0) return 'unknown'
      // An import would add the member again.
      yield* keepChanged(member.userId)
      return 'removed'
    },
  },
  setGroupsOfSource: {
    keys: ({ userId, groups }) => [userId, ...groups],
    isShared: true,
    cache: ({ userId }) => belongingKey(userId),
    event(said, outcome) {
      return outcome.kind === 'replaced' ? aboutChanges(said, outcome) : undefined
    },
    *run(said) {
      if ((yield* rows(HOLD_USER, said)).length === 0) return { kind: 'unknown' }
      const changes = yield* replaceGroups(said)
      return changes === 'too-many' ? { kind: 'too-many' } : { kind: 'replaced', ...changes }
    },
  },
} satisfies NounOperations

const reads = {
  /** Ordered by group and source. */
  *listGroupsOfUser(userId: UserId): Steps<readonly GroupMemberRecord[]> {
    return (yield* rows(LIST_OF_USER, { userId })).map(GROUP_MEMBERS.read)
  },
  *listGroupMembers({
    groupId,
    before,
    limit,
  }: Page<string> & { readonly groupId: GroupId }): Steps<readonly GroupMemberRecord[]> {
    const [beforeUser = '~', beforeSource = ''] = before?.split(' ') ?? []
    return (yield* rows(LIST_OF_GROUP, { groupId, beforeUser, beforeSource, limit })).map(GROUP_MEMBERS.read)
  },
}

export const groupMembers = { operations, reads }

/**
 * Replaces all that a source says about a user, whose row is locked. `too-many`: the user has no room for all of it, so nothing changes. A part
 * would take the user out of the groups that an access rule excludes.
 */
export function* replaceGroups(said: SourceGroups): Steps<GroupChanges | 'too-many'> {
  const { userId, source, expiresAt, since, now } = said
  const all = (yield* rows(LIST_OF_USER, said)).map(GROUP_MEMBERS.read)
  const stored = all.filter((row) => row.source === source)
  const counting = stored.filter((row) => row.createdAt >= since && (row.expiresAt ?? now + 1) > now)
  const wanted = new Set(said.groups)
  const kept = counting.filter(({ groupId }) => wanted.has(groupId))
  const known = new Set(kept.map(({ groupId }) => groupId))
  const { joining, leftOut } = yield* holdJoining(
    [...wanted]
      .filter((groupId) => !known.has(groupId))
      .map((groupId) => ({ userId, groupId, source, createdAt: now, expiresAt })),
  )
  const added = joining.map(({ member }) => member)
  const ended = stored.filter((row) => !kept.includes(row))
  if (
    !hasRoom(
      all.filter((row) => !ended.includes(row)),
      added,
    )
  )
    return 'too-many'
  if (ended.length > 0) {
    yield* rows(DELETE_SOME, { userId, source, ids: listOf(ended.map(({ groupId }) => groupId)) })
  }
  for (const { member, group } of joining) yield* insert(member, group)
  const hasMoved = kept.some((row) => Math.abs((row.expiresAt ?? 0) - (expiresAt ?? 0)) >= MOVE_MS)
  if (hasMoved || (kept.length > 0 && added.length > 0)) yield* rows(MOVE_END, said)
  const removed = counting.filter(({ groupId }) => !wanted.has(groupId)).map(({ groupId }) => groupId)
  return { added: added.map(({ groupId }) => groupId), removed, ...(leftOut.length > 0 && { leftOut }) }
}

/** Removes what was said at sign-ins with identities that were removed. The row of the user is locked. */
export function* leaveGroupsOfIdentities(userId: UserId, removed: readonly Row[]): Steps<void> {
  const sources = new Set(removed.map((row) => sourceOfIdentity(row['provider_id'] as ProviderId)))
  if (sources.size > 0) yield* rows(LEAVE_SOURCES, { userId, sources: listOf([...sources]) })
}

/** Locks the groups, and returns the members that may be in theirs, in the given order. `leftOut`: the protected groups of prepared accounts. */
function* holdJoining(members: readonly GroupMemberRecord[]): Steps<{
  readonly joining: readonly { readonly member: GroupMemberRecord; readonly group: Row }[]
  readonly leftOut: readonly GroupId[]
}> {
  const held = new Map<GroupId, Row>()
  // In one order, so that no two transactions wait for each other.
  for (const { groupId } of members.toSorted((one, other) => (one.groupId < other.groupId ? -1 : 1))) {
    const group = yield* holdGroup(groupId)
    if (group !== undefined) held.set(groupId, group)
  }
  const joining: { readonly member: GroupMemberRecord; readonly group: Row }[] = []
  const leftOut: GroupId[] = []
  for (const member of members) {
    const group = held.get(member.groupId)
    if (group === undefined || !(yield* mayBeIn(member))) continue
    if (isProtected(group) && (yield* isPrepared(member.userId))) leftOut.push(member.groupId)
    else joining.push({ member, group })
  }
  return { joining, leftOut }
}

/** Locks a group, and returns its row. */
function* holdGroup(groupId: GroupId): Steps<Row | undefined> {
  const [group] = yield* rows(HOLD_GROUP, { groupId })
  yield* awaitJoined(groupId, group)
  return group
}

function isProtected(group: Row): boolean {
  return group['protected'] === 1
}

/** Whether the organization that has the group has the user as an active member. */
function* mayBeIn({ userId, groupId }: Pick<GroupMemberRecord, 'userId' | 'groupId'>): Steps<boolean> {
  const organizationId = organizationOfGroup(groupId)
  return organizationId === undefined || (yield* rows(HOLD_MEMBERSHIP, { userId, organizationId })).length === 1
}

/** Adds a row that the user, whose row is locked, does not have, if there is room among those of its organization, or of the server. */
function* insert(member: Input<'addGroupMember'>, group: Row): Steps<'added' | 'prepared' | 'too-many'> {
  const isSure = !isProtected(group) || member.isConfirmed === true
  if (!isSure && (yield* isPrepared(member.userId))) return 'prepared'
  const organizationId = organizationOfGroup(member.groupId)
  const place = organizationId === undefined ? { from: undefined, to: undefined } : rangeOf(organizationId)
  const values = { ...GROUP_MEMBERS.values(member), ...place, limit: MAXIMA.groupsOfUser.most }
  if ((yield* rows(INSERT, values)).length === 0) return 'too-many'
  yield* nameJoined(member, group)
  if (isProtected(group)) yield* rows(END_OPERATOR_LINK, member)
  return 'added'
}

/** What a user belongs to, from the rows of the user's groups and, without a source, of the organizations whose active member the user is. */
export function readBelonging(userId: UserId, found: readonly Row[]): Belonging {
  const [organizations, groups] = [
    found.filter((row) => row['source'] === null),
    found.filter((row) => row['source'] !== null),
  ]
  return {
    userId,
    groups: groups.map(MEMBERSHIP.read),
    organizationIds: organizations.map((row) => row['group_id'] as OrganizationId),
  }
}

/** The cache key of what a user belongs to. It is that of no organization, because no id has a space. */
export function belongingKey(userId: UserId): string {
  return ` belongs ${userId}`
}

/** The events of a change of what a source says about a user. */
export function aboutChanges(
  said: Pick<SourceGroups, 'userId' | 'source'>,
  { added, removed, leftOut = [] }: GroupChanges,
): readonly AuditEvent[] {
  const about = (name: AuditEventName) => (groupId: GroupId) => aboutMember(name, { ...said, groupId })
  return [
    ...added.map(about('group.member-added')),
    ...removed.map(about('group.member-removed')),
    ...leftOut.map(about('group.member-left-out')),
  ]
}

function aboutMember(
  event: AuditEventName,
  { userId, groupId, source }: Pick<GroupMemberRecord, 'userId' | 'groupId' | 'source'>,
  details: Readonly<Record<string, number>> = {},
): AuditEvent {
  return {
    event,
    userId,
    organizationId: organizationOfGroup(groupId),
    details: { group: groupId, source, ...details },
  }
}
