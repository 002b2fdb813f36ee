import type { RoleInspection } from '../../../ports/inspection.ts'
import type { Ordered, Reach, Standing } from '../../../ports/operations/reach.ts'
import { isHolder, isReached, OUT_OF_REACH, reachedOf, type Touched } from '../../../ports/operations/reach.ts'
import type { RoleRecord } from '../../../ports/records/role.ts'
import type { Page } from '../../../ports/store.ts'
import type { GroupId } from '../../../protocol/access/group.ts'
import type { OrganizationId, UserId } from '../../../protocol/ids.ts'
import { type NounOperations, when } from '../../noun.ts'
import type { Row } from '../../rows.ts'
import { findBy, rows, shared, type Steps } from '../../shared/statement.ts'
import { bigint, flag, table, text, assignments, isUnchanged, previousValues, without } from '../../table.ts'

export const ROLES = table<RoleRecord>({
  userId: text('user_id'),
  access: text('access'),
  organizationId: text('organization_id'),
  isLoopbackOnly: flag('loopback_only'),
  setAt: bigint('set_at'),
})

/** The roles that the doctor looks at. */
const INSPECTED = 100
const ROLE = without(ROLES, 'user_id')
/** Changes nothing, and locks the row: a user who is deleted at the same time keeps no role. */
const HOLD = shared('update users set password_hash = password_hash where user_id = :userId returning user_id')
const SET = shared(
  `insert into roles (${ROLES.names}) values (${ROLES.parameters})
   on conflict (user_id) do update set ${assignments(ROLE)}`,
)
/** An operator may have handed it over, or kept it, when it opened no account with a role or in a protected group (threats.md LNK-07). */
export const END_OPERATOR_LINK = shared(`delete from links where user_id = :userId and origin = 'operator'`)
const IS_UNCHANGED = shared(`select user_id from roles where user_id = :userId and ${isUnchanged(ROLE)}`)
const REMOVE = shared('delete from roles where user_id = :userId returning user_id')
const FIND = shared('select * from roles where user_id = :userId')
/** For the doctor: the newest users with a role, and what second factor the accounts have. */
const INSPECT = shared(
  `select r.*, (select u.email from users as u where u.user_id = r.user_id) as email,
     (select a.user_id from second_factors as a where a.user_id = r.user_id) as app,
     (select min(p.passkey_id) from passkeys as p where p.user_id = r.user_id) as passkey
   from roles as r
   order by r.user_id desc limit ${INSPECTED}`,
)
const FIND_LASTING = shared('select user_id from roles where user_id = :userId and loopback_only = 0')
const LIST_ORGANIZATIONS = shared(
  'select organization_id, joined_unused from memberships where user_id = :userId order by organization_id limit 2',
)
const LIST_PROTECTED = shared(
  `select p.group_id from group_members as m join protected_groups as p on p.group_id = m.group_id where m.user_id = :userId`,
)
const FIND_PREPARED = shared('select user_id from users where user_id = :userId and trial_prepared is not null')
const MARK_PREPARED = shared('update users set trial_prepared = 1 where user_id = :userId')
const LIST = shared('select * from roles where user_id < :before order by user_id desc limit :limit')

/** What users may do by the console. */
const operations = {
  setRole: {
    account: ({ userId }) => userId,
    keys: ({ userId, organizationId }) => [userId, organizationId ?? []].flat(),
    cache: 'kept',
    event: when('changed', ({ userId, organizationId, access, isLoopbackOnly }) => ({
      event: 'role.set',
      userId,
      organizationId,
      details: { access, loopback_only: isLoopbackOnly },
    })),
    *run(role) {
      if ((yield* rows(HOLD, role)).length === 0) return 'unknown'
      if (!(yield* isStill(role.userId, role.previous))) return 'conflict'
      const isSure = role.isLoopbackOnly || role.isConfirmed === true
      if (!isSure && (yield* isPrepared(role.userId))) return 'prepared'
      yield* rows(SET, ROLES.values(role))
      yield* rows(END_OPERATOR_LINK, role)
      return 'changed'
    },
  },
  removeRole: {
    account: ({ userId }) => userId,
    keys: ({ userId }) => [userId],
    cache: 'kept',
    event: when('removed', ({ userId }) => ({ event: 'role.removed', userId })),
    *run(removal) {
      return (yield* rows(REMOVE, removal)).length === 1 ? 'removed' : 'unknown'
    },
  },
} satisfies NounOperations

const reads = {
  findRole: findBy(ROLES, FIND),
  *isHolder(userId: UserId): Steps<boolean> {
    return isHolder(yield* findHolding(userId))
  },
  *listRoles({ before, limit }: Page<UserId>): Steps<readonly RoleRecord[]> {
    return (yield* rows(LIST, { before: before ?? '~', limit })).map(ROLES.read)
  },
}

export const roles = { operations, reads }

/** Whether the user, whose row is locked, has this role; null: none. */
function* isStill(userId: UserId, previous: RoleRecord | null | undefined): Steps<boolean> {
  if (previous === undefined) return true
  if (previous === null) return (yield* rows(FIND, { userId })).length === 0
  return (yield* rows(IS_UNCHANGED, { userId, ...previousValues(ROLE, previous) })).length === 1
}

/** The account that an operation changes, as its row says. */
interface ChangesAccount {
  readonly account?: 'new' | ((input: never) => UserId | undefined)
  readonly touches?: Touched
}

/** A membership, as far as it says who may change the account. */
export function readJoined(row: Row): Standing['memberships'][number] {
  const { organization_id: organizationId, joined_unused: joinedUnused } = row
  return { organizationId: organizationId as OrganizationId, isJoinedUnused: joinedUnused !== null }
}

/** The steps of an operation, which change nothing if the account is out of the reach of the administrator. */
export function withinReach<In, Out>(
  row: object,
  run: (input: In) => Steps<Out>,
): (input: In) => Steps<Out | typeof OUT_OF_REACH> {
  const { account, touches = 'account' }: ChangesAccount = row
  if (account === undefined || account === 'new') return run
  return function* (input) {
    const { reach } = input as Ordered
    const isWithin = reach === undefined || (yield* isInReach(reach, account(input as never), touches))
    return isWithin ? yield* run(input) : OUT_OF_REACH
  }
}

/** The user gets no role and into no group meanwhile, because the row of the user is locked. */
function* isInReach(reach: Reach, userId: UserId | undefined, touched: Touched): Steps<boolean> {
  if (userId === undefined) return false
  yield* rows(HOLD, { userId })
  const memberships = (yield* rows(LIST_ORGANIZATIONS, { userId })).map(readJoined)
  return isReached(reachedOf(reach, { ...(yield* findHolding(userId)), memberships }), touched)
}

/** What `isHolder` asks for. */
function* findHolding(userId: UserId): Steps<Pick<Standing, 'role' | 'protectedGroups'>> {
  const role = yield* reads.findRole(userId)
  const protectedGroups = (yield* rows(LIST_PROTECTED, { userId })).map((row) => row['group_id'] as GroupId)
  return { role, protectedGroups }
}

/**
 * Keeps that the order lets an administrator sign in to the account, perhaps, who could not give it a role: a role that lasts is then confirmed
 * (threats.md CON-37).
 */
export function* markPrepared({ reach }: Ordered, userId: UserId): Steps<void> {
  if (reach !== undefined) yield* rows(MARK_PREPARED, { userId })
}

/**
 * Whether an administrator who could not give a role may be able to sign in to the account, whose row is locked. An account with a role that lasts, or
 * in a protected group, was confirmed with that.
 */
export function* isPrepared(userId: UserId): Steps<boolean> {
  if ((yield* rows(FIND_PREPARED, { userId })).length === 0) return false
  return (yield* rows(FIND_LASTING, { userId })).length + (yield* rows(LIST_PROTECTED, { userId })).length === 0
}

/** The newest users with a role, and whether their accounts have a second factor. */
export function* inspectRoles(): Steps<readonly RoleInspection[]> {
  return (yield* rows(INSPECT)).map((row) => {
    const { userId, access, isLoopbackOnly } = ROLES.read(row)
    const hasSecondFactor = row['app'] !== null || row['passkey'] !== null
    return { user: (row['email'] ?? userId) as string, access, isLoopbackOnly, hasSecondFactor }
  })
}
