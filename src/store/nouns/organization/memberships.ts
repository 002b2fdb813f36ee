import type { MembershipKey } from '../../../ports/operations/organization.ts'
import type { AuditEvent } from '../../../ports/records/audit.ts'
import type { MembershipRecord } from '../../../ports/records/organization.ts'
import { MEMBERSHIP_LIMIT } from '../../../ports/store.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { AuditEventName } from '../../../protocol/audit/event-names.ts'
import type { UserId } from '../../../protocol/ids.ts'
import { type NounOperations, when } from '../../noun.ts'
import { belongingKey } from './group-members.ts'
import { leaveGroupsOf } from './groups.ts'
import { endLaterOfMember } from '../token/not-before.ts'
import { IS_UNCHANGED } from '../../shared/sign-in/changed-here.ts'
import { change, DISABLE, ENABLE, listPage, newestOf, rows, shared, type Steps } from '../../shared/statement.ts'
import { bigint, table, text, disabling } from '../../table.ts'

export const MEMBERSHIPS = table<MembershipRecord>({
  userId: text('user_id'),
  organizationId: text('organization_id'),
  createdAt: bigint('created_at'),
  ...disabling,
})

const INSERT_MEMBERSHIP = shared(
  `insert into memberships (${MEMBERSHIPS.names}, joined_unused) select ${MEMBERSHIPS.parameters},
     (select 1 from users where user_id = :user_id and first_signed_in_at is null)
   where (select count(*) from (select 1 from memberships where user_id = :user_id limit :limit) as known) < :limit
   on conflict (user_id, organization_id) do nothing returning user_id`,
)
const HAS_MEMBERSHIP = shared(
  'select user_id from memberships where user_id = :userId and organization_id = :organizationId',
)
const LIST_OF_USER = shared('select * from memberships where user_id = :userId order by organization_id limit :limit')
/** An import would add the membership again. */
const KEEP_REMOVED = shared(
  `update users set updated_at = updated_at + 1 where ${IS_UNCHANGED}
     and exists (select 1 from memberships where user_id = :userId and organization_id = :organizationId)`,
)
/** The rows that a change touches. Changes of one kind run one after the other in one wave. */
const ofMembership = {
  keys: (key: MembershipKey) => [membershipKey(key), key.userId, key.organizationId],
  isShared: true,
  account: ({ userId }: MembershipKey) => userId,
  touches: 'membership',
} as const

const DELETE_MEMBERSHIP = shared(
  'delete from memberships where user_id = :userId and organization_id = :organizationId returning user_id',
)

/** The members of organizations. */
const operations = {
  addMember: {
    ...ofMembership,
    cache: keysOfMember,
    event: when('added', added),
    mails: 'added',
    *run(membership) {
      const values = { ...MEMBERSHIPS.values(membership), limit: MEMBERSHIP_LIMIT }
      if ((yield* rows(INSERT_MEMBERSHIP, values)).length === 1) return 'added'
      return (yield* rows(HAS_MEMBERSHIP, membership)).length === 0 ? 'too-many' : 'member-already'
    },
  },
  disableMember: {
    ...ofMembership,
    cache: keysOfMember,
    event: when('changed', aboutMember('member.disabled')),
    run: endingLater(
      endLaterOfMember,
      change(
        `update memberships set ${DISABLE} where user_id = :userId and organization_id = :organizationId returning user_id`,
      ),
    ),
  },
  enableMember: {
    ...ofMembership,
    cache: keysOfMember,
    event: when('changed', aboutMember('member.enabled')),
    run: change(
      `update memberships set ${ENABLE} where user_id = :userId and organization_id = :organizationId returning user_id`,
    ),
  },
  removeMember: {
    ...ofMembership,
    // An import may no longer change the account.
    cache: (key) => [...keysOfMember(key), key.userId],
    event: when('removed', aboutMember('member.removed')),
    run: endingLater(endLaterOfMember, removeMember),
  },
} satisfies NounOperations

const reads = {
  *listMemberships(userId: UserId): Steps<readonly MembershipRecord[]> {
    return (yield* rows(LIST_OF_USER, { userId, limit: MEMBERSHIP_LIMIT })).map(MEMBERSHIPS.read)
  },
  listMembers: listPage(
    MEMBERSHIPS,
    `select * from memberships where ${newestOf('organization_id', ':organizationId', 'user_id')} limit :limit`,
  ),
}

export const memberships = { operations, reads }

function* removeMember(key: MembershipKey): Steps<'removed' | 'unknown'> {
  // First, because an import also changes the user before the memberships.
  yield* rows(KEEP_REMOVED, key)
  const removed = yield* rows(DELETE_MEMBERSHIP, key)
  yield* leaveGroupsOf(key)
  return removed.length === 1 ? 'removed' : 'unknown'
}

/** A change that ends what was issued before it, also what has a later time. */
export function endingLater<Given extends object, Changed>(
  end: (input: Given, now: EpochMs) => Steps<void>,
  run: (input: Given) => Steps<Changed>,
): (input: Given & { readonly now: EpochMs }) => Steps<Changed> {
  return function* (input) {
    const changed = yield* run(input)
    yield* end(input, input.now)
    return changed
  }
}

/** The cache key of a membership. */
export function membershipKey({ userId, organizationId }: MembershipKey): string {
  return `${userId} ${organizationId}`
}

/** What tokens read of the membership. */
function keysOfMember(key: MembershipKey): readonly string[] {
  return [membershipKey(key), belongingKey(key.userId)]
}

function added({ isInvited, ...key }: MembershipKey & { readonly isInvited?: true }): AuditEvent {
  const event = aboutMember('member.added')(key)
  return isInvited === true ? { ...event, details: { invited: true } } : event
}

function aboutMember(event: AuditEventName) {
  return ({ userId, organizationId }: MembershipKey): AuditEvent => ({ event, userId, organizationId })
}
