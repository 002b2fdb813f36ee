import type { Input, Outcome } from '../../../ports/operations/index.ts'
import type { UserImport } from '../../../ports/operations/user.ts'
import type { IdentityRecord } from '../../../ports/records/provider.ts'
import type { UserRecord } from '../../../ports/records/user.ts'
import type { UserId } from '../../../protocol/ids.ts'
import { isAsImported } from '../../../protocol/sign-in/imported-account.ts'
import { differences, type NounOperations } from '../../noun.ts'
import { hasRoom, isOfOperator } from '../../../protocol/access/belonging.ts'
import { groupMembers } from '../organization/group-members.ts'
import { memberships } from '../organization/memberships.ts'
import { IDENTITIES } from './identity-proofs.ts'
import { roles } from './roles.ts'
import { SECOND_FACTORS, secondFactors } from './second-factors.ts'
import { USERS } from './users.ts'
import type { Row } from '../../rows.ts'
import { evictAll } from '../../shared/evictions.ts'
import { addDue } from '../../shared/search-due.ts'
import { rows, shared, type Steps } from '../../shared/statement.ts'

const HAS_CLIENT = shared('select client_id from clients where client_id = :clientId')
/** Neither the id nor the address may be another user's. */
const INSERT_USER = shared(
  `insert into users (${USERS.names}) values (${USERS.parameters}) on conflict do nothing returning user_id`,
)
const FIND_USER = shared('select * from users where user_id = :userId')
const DELETE_USER = shared('delete from users where user_id = :userId')
const OWNS_ADDRESS = shared('select user_id from users where email = :email and user_id <> :userId')
const INSERT_IDENTITY = shared(
  `insert into identities (${IDENTITIES.names}) values (${IDENTITIES.parameters})
   on conflict (identity_key) do nothing returning identity_key`,
)
const FIND_OWNER = shared('select user_id from identities where identity_key = :key')
const DELETE_IDENTITY = shared('delete from identities where identity_key = :key and user_id = :userId')
const INSERT_FACTOR = shared(
  `insert into second_factors (${SECOND_FACTORS.names}) values (${SECOND_FACTORS.parameters})`,
)
const DELETE_FACTOR = shared('delete from second_factors where user_id = :userId')

/**
 * An account that was used here belongs to its user, and one that was disabled, changed, got another password or lost a membership, a group or its app
 * here to the operator, and one to which its user added an app, a passkey or an identity to the user. An import sets both times to its own, and a change one of them.
 */
const UPDATE_USER = shared(
  `update users set email = :email, email_verified_at = :email_verified_at, name = :name, profile = :profile,
     updated_at = :updated_at, password_hash = :password_hash,
     disabled_at = case when disabled_at is null then cast(:disabled_at as bigint) else disabled_at end,
     not_before = greatest(not_before, :not_before)
   where user_id = :user_id and coalesce(first_signed_in_at, 0) <= 0 and updated_at = not_before
     and (disabled_at is null or cast(:disabled_at as bigint) is not null)
     and password_hash is not distinct from cast(:previousHash as text) returning user_id`,
)

/** The index of addresses does all of it. */
const ON_ONE_MACHINE: ImportSteps = {
  claim: undefined,
  *move({ id, email }) {
    return email === undefined || (yield* rows(OWNS_ADDRESS, { email, userId: id })).length === 0
  },
  *release() {},
  *hold() {},
  awaitIdentity: undefined,
  *name() {},
}

const operations = {
  importUser: {
    keys: ({ user: { id, email }, identities }) => [
      id,
      ...(email === undefined ? [] : [`email:${email}`]),
      ...identities.map(({ key }) => key),
    ],
    takesTurns: true,
    // It may add memberships.
    cache: 'cleared',
    event: ({ user: { id: userId }, groups, source }, outcome) => {
      const details = {
        source,
        ...differences(
          'groups',
          [],
          groups.map(({ groupId }) => groupId),
        ),
      }
      if (outcome === 'created') return { event: 'user.imported', userId, details }
      return outcome === 'updated' ? { event: 'user.import-updated', userId, details } : undefined
    },
    run: (account) => importUser(account, ON_ONE_MACHINE),
  },
} satisfies NounOperations

export const importedUsers = { operations }

/** What differs where Citus distributes the tables (postgres/distributed-keys.ts). */
interface ImportSteps {
  /** Makes the address of a new user the user's, after the user was inserted. Returns whether it was free. undefined: the insert did that. */
  readonly claim: ((user: UserRecord) => Steps<boolean>) | undefined
  /** The same for a user who has another one. */
  readonly move: (user: UserRecord, previous: string | undefined) => Steps<boolean>
  readonly release: (user: UserRecord) => Steps<void>
  readonly hold: (id: UserId) => Steps<unknown>
  /** Waits for an identity that was added with its user, and may not be visible yet. Returns whether it exists. undefined: it is visible. */
  readonly awaitIdentity: ((key: string) => Steps<boolean>) | undefined
  readonly name: (identity: IdentityRecord) => Steps<void>
}

/** Stores the account of another system. */
export function* importUser(account: Input<'importUser'>, steps: ImportSteps): Steps<Outcome<'importUser'>> {
  const { user, clientId } = account
  if (clientId !== undefined && (yield* rows(HAS_CLIENT, { clientId })).length > 0) return 'id-taken'
  if ((yield* rows(INSERT_USER, USERS.values(user))).length === 1) return yield* complete(account, steps)
  yield* steps.hold(user.id)
  const [row] = yield* rows(FIND_USER, { userId: user.id })
  return row === undefined ? 'email-taken' : yield* compare(USERS.read(row), account, steps)
}

/** Adds what belongs to a user who is new, or removes the user. */
function* complete(account: UserImport, steps: ImportSteps): Steps<Outcome<'importUser'>> {
  const { user, identities } = account
  if (steps.claim !== undefined && !(yield* steps.claim(user))) {
    yield* rows(DELETE_USER, { userId: user.id })
    return 'email-taken'
  }
  for (const [index, identity] of identities.entries()) {
    if (yield* addIdentity(identity)) continue
    for (const added of identities.slice(0, index)) yield* rows(DELETE_IDENTITY, added)
    yield* steps.release(user)
    yield* rows(DELETE_USER, { userId: user.id })
    return 'identity-taken'
  }
  for (const identity of identities) yield* steps.name(identity)
  yield* addOthers(account)
  // Its id has no time, so no mark says whether it is in the index.
  yield* addDue(user.id)
  return 'created'
}

function* compare(stored: UserRecord, account: UserImport, steps: ImportSteps): Steps<Outcome<'importUser'>> {
  const { user, identities, memberships: wanted, groups: said, replaces } = account
  const owned: IdentityRecord[] = []
  for (const identity of identities) {
    const owner = yield* findOwner(identity, steps)
    if (owner !== undefined && owner['user_id'] !== user.id) return 'identity-taken'
    if (owner !== undefined) owned.push(identity)
  }
  const secondFactor = yield* secondFactors.reads.findSecondFactor(user.id)
  const known = wanted.length === 0 ? [] : yield* memberships.reads.listMemberships(user.id)
  const all = said.length === 0 ? [] : yield* groupMembers.reads.listGroupsOfUser(user.id)
  const groups = all.filter(isOfOperator)
  const found = { user: stored, identities: owned, memberships: known, groups, secondFactor }
  if (isAsImported(found, account)) return 'same'
  const joined = said.filter((row) => !groups.some(({ groupId }) => groupId === row.groupId))
  if (!hasRoom(all, joined)) return 'differs'
  if (replaces === undefined || (yield* roles.reads.isHolder(user.id))) return 'differs'
  return yield* replace(stored, account, steps)
}

function* findOwner(identity: IdentityRecord, { awaitIdentity }: ImportSteps): Steps<Row | undefined> {
  const [owner] = yield* rows(FIND_OWNER, identity)
  if (owner !== undefined || awaitIdentity === undefined || !(yield* awaitIdentity(identity.key))) return owner
  return (yield* rows(FIND_OWNER, identity))[0]
}

function* replace(stored: UserRecord, account: UserImport, steps: ImportSteps): Steps<Outcome<'importUser'>> {
  const { user, identities, replaces } = account
  const isMoved = stored.email !== user.email
  if (isMoved && !(yield* steps.move(user, stored.email))) return 'email-taken'
  const values = { ...USERS.values(user), previousHash: replaces?.passwordHash }
  if ((yield* rows(UPDATE_USER, values)).length === 0) {
    if (isMoved) yield* steps.move(stored, user.email)
    return 'differs'
  }
  for (const identity of identities) if (yield* addIdentity(identity)) yield* steps.name(identity)
  yield* rows(DELETE_FACTOR, { userId: user.id })
  yield* addOthers(account)
  // By a token for an identity a client may have got a grant, although no user signed in.
  yield* evictAll(user.id, user.notBefore, undefined)
  yield* addDue(user.id)
  return 'updated'
}

/** Returns whether the identity was free. */
function* addIdentity(identity: IdentityRecord): Steps<boolean> {
  return (yield* rows(INSERT_IDENTITY, IDENTITIES.values(identity))).length === 1
}

function* addOthers({ memberships: wanted, groups, secondFactor }: UserImport): Steps<void> {
  for (const membership of wanted) yield* memberships.operations.addMember.run({ ...membership, mails: [] })
  for (const member of groups) yield* groupMembers.operations.addGroupMember.run(member)
  if (secondFactor !== undefined) yield* rows(INSERT_FACTOR, SECOND_FACTORS.values(secondFactor))
}
