import type { SpellingInspection } from '../../../ports/inspection.ts'
import type { Input } from '../../../ports/operations/index.ts'
import type { Ordered } from '../../../ports/operations/reach.ts'
import type { AuditEvent } from '../../../ports/records/audit.ts'
import type { UserRecord } from '../../../ports/records/user.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { AuditEventName } from '../../../protocol/audit/event-names.ts'
import type { UserId } from '../../../protocol/ids.ts'
import type { UserProfile } from '../../../protocol/openid/user-claims.ts'
import { normalizeEmail, unicodeEmail } from '../../../protocol/sign-in/email-address.ts'
import { idOf, type NounOperations, when } from '../../noun.ts'
import { endHits } from '../server/hits.ts'
import { endLogoutNoticesOfUser } from './logout-notices.ts'
import { markPrepared } from './roles.ts'
import { addDue } from '../../shared/search-due.ts'
import { endProofAndLinks, evictAll, evictOthers } from '../../shared/evictions.ts'
import { forgiveGuesses, holdChange } from '../../shared/sign-in/covered-factors.ts'
import { change, DISABLE, eachOf, ENABLE, idKey, listPage, rows, shared, type Steps } from '../../shared/statement.ts'
import { bigint, disabling, table, text } from '../../table.ts'

export const USERS = table<UserRecord>({
  id: text('user_id'),
  email: text('email'),
  emailVerifiedAt: bigint('email_verified_at'),
  name: text('name'),
  profile: {
    columns: [{ name: 'profile', type: 'text', write: profileText }],
    read: (row) => JSON.parse((row['profile'] ?? '{}') as string) as UserProfile,
  },
  updatedAt: bigint('updated_at'),
  passwordHash: text('password_hash'),
  firstSignedInAt: bigint('first_signed_in_at'),
  lastSignedInAt: bigint('last_signed_in_at'),
  createdAt: bigint('created_at'),
  ...disabling,
})

const INSERT = shared(
  `insert into users (${USERS.names}) values (${USERS.parameters}) on conflict (email) do nothing returning user_id`,
)
/** Changes nothing, and locks the row. */
const HOLD = shared('update users set password_hash = password_hash where user_id = :userId returning user_id')
const UPDATE = shared(
  `update users set name = :name, profile = :profile, updated_at = :now
   where user_id = :id and name is not distinct from cast(:previousName as text)
     and profile is not distinct from cast(:previousProfile as text)
   returning user_id`,
)
const DELETE = shared('delete from users where user_id = :id returning user_id')
const DELETE_ACCESS = [
  shared(`delete from sessions where ${eachOf('sessions', 'user_id = :userId')}`),
  shared('delete from memberships where user_id = :userId'),
  shared('delete from group_members where user_id = :userId'),
  shared('delete from roles where user_id = :userId'),
  shared('delete from browsers where user_id = :userId'),
  shared('delete from second_factors where user_id = :userId'),
  shared('delete from recovery_codes where user_id = :userId'),
  shared('delete from passkeys where user_id = :userId'),
  shared('delete from consents where user_id = :userId'),
]
const DELETE_OWN = [
  shared('delete from mails where user_id = :userId'),
  shared('delete from links where user_id = :userId'),
  shared('delete from email_codes where user_id = :userId'),
  shared(`delete from identities where ${eachOf('identities', 'user_id = :userId')}`),
  shared('delete from identity_proofs where user_id = :userId'),
]
const CODES = `user_id = :userId and status = 'approved'`
const GRANTS = 'user_id = :userId and revoked_at is null'
/** An import may give the id to a user again, whose not-before time would not end what a clock that was ahead issued (threats.md STO-13). */
const END_GRANTED = [
  shared(`update authorizations set status = 'burned' where ${eachOf('authorizations', CODES)}`),
  shared(`update grants set revoked_at = created_at where ${eachOf('grants', GRANTS)}`),
]
const FIND_OTHER_OWNER = shared('select user_id from users where email = :email and user_id <> :id')
const SET_EMAIL = shared(
  `update users set email = :email, email_verified_at = :emailVerifiedAt, updated_at = :now
   where user_id = :id returning user_id`,
)
const SET_EMAIL_UNCHANGED = shared(
  `update users set email = :email, email_verified_at = :emailVerifiedAt, updated_at = :now
   where user_id = :id and email is not distinct from cast(:previousEmail as text)
     and email_verified_at is not distinct from cast(:previousVerifiedAt as bigint) returning user_id`,
)
/** Changes nothing if the password was changed since the check. */
const SET_OWN_PASSWORD = shared(
  `update users set password_hash = :passwordHash
   where user_id = :id and password_hash is not distinct from cast(:previousHash as text)
   returning user_id`,
)

/** An aggregate returns a row even if there is no account, so that both cases take equally long (threats.md UI-08). */
const FIND_ID_BY_EMAIL = shared('select coalesce(max(user_id), :otherwise) as user_id from users where email = :email')
const FIND_BY_EMAIL = shared('select * from users where email in (:email, :unicode)')
const LIST_ODD_SPELLINGS = shared(
  `select user_id, email from users
   where (octet_length(email) <> length(email) or replace(email, '@', '.') || '.' like '%..%') and user_id > :after
   order by user_id limit :limit`,
)
const RESPELL = shared(
  `update users set email = :email, updated_at = :now where user_id = :id and coalesce(email, '') = :previous returning user_id`,
)
const LIST_BY_EMAIL = shared('select * from users where email >= :prefix and email < :end order by email limit :limit')
const INSPECTED = 10_000
/** Behind each text with the same start: the last code point. */
const LAST = '\u{10ffff}'

const setPassword = evicting(
  `update users set password_hash = :passwordHash, not_before = greatest(not_before, :now)
   where user_id = :id returning user_id`,
)

const rename = change('update users set name = :name, updated_at = :now where user_id = :id returning user_id')

const enableUser = change(`update users set ${ENABLE} where user_id = :id returning user_id`)

const operations = {
  createUser: {
    account: 'new',
    keys: ({ id, email }) => (email === undefined ? [id] : [id, `email:${email}`]),
    cache: 'kept',
    event: when('created', aboutUser('user.created')),
    *run(user) {
      return (yield* insertUser(user)) ? 'created' : 'email-taken'
    },
  },
  setPassword: {
    account: idOf,
    keys: idKey,
    cache: idOf,
    event: when('changed', aboutUser('user.password-changed')),
    mails: 'changed',
    *run(input) {
      yield* markPrepared(input, input.id)
      return yield* setPassword(input)
    },
  },
  upgradePassword: {
    keys: idKey,
    cache: idOf,
    event: when('changed', ({ id, format }) => ({
      event: 'user.password-upgraded',
      userId: id,
      details: { format },
    })),
    *run(input) {
      return (yield* rows(SET_OWN_PASSWORD, input)).length === 1 ? 'changed' : 'unknown'
    },
  },
  setEmail: {
    account: idOf,
    keys: ({ id, email }) => [id, `email:${email}`],
    cache: idOf,
    event: when('changed', ({ id, emailVerifiedAt }) => ({
      event: 'user.email-changed',
      userId: id,
      details: { verified: emailVerifiedAt !== undefined },
    })),
    mails: 'changed',
    *run(input) {
      if ((yield* rows(FIND_OTHER_OWNER, input)).length > 0) return 'email-taken'
      // If another node gives the email to a user at the same time, the unique index rejects this statement, and PostgreSQL's
      // transaction is repeated (postgres/connection/faults.ts).
      return yield* replaceEmail(input)
    },
  },
  respellEmail: {
    keys: ({ id, email }) => [id, `email:${email}`],
    cache: idOf,
    event: 'no-event',
    *run(input) {
      if ((yield* rows(FIND_OTHER_OWNER, input)).length > 0) return 'email-taken'
      return yield* respell(input)
    },
  },
  renameUser: {
    keys: idKey,
    cache: idOf,
    event: when('changed', aboutUser('user.renamed')),
    *run(input) {
      const outcome = yield* rename(input)
      if (outcome === 'changed') yield* addDue(input.id)
      return outcome
    },
  },
  updateUser: {
    account: idOf,
    keys: idKey,
    cache: idOf,
    event: when('changed', aboutUser('user.updated')),
    *run({ id, name, now, previous, ...next }) {
      const [previousProfile, profile] = [profileText(previous.profile), profileText(next.profile)]
      const update = { id, name, now, previousName: previous.name, previousProfile, profile }
      if ((yield* rows(UPDATE, update)).length === 0) return 'conflict'
      yield* addDue(id)
      return 'changed'
    },
  },
  changePassword: {
    keys: idKey,
    cache: idOf,
    event: when('changed', aboutUser('user.password-changed')),
    mails: 'changed',
    *run(input) {
      const { id, session } = input
      if (!(yield* holdChange(id, session)) || (yield* rows(SET_OWN_PASSWORD, input)).length === 0) return 'unknown'
      yield* evictOthers(id, session)
      return 'changed'
    },
  },
  disableUser: {
    account: idOf,
    keys: idKey,
    cache: idOf,
    event: when('changed', aboutUser('user.disabled')),
    run: evicting(`update users set ${DISABLE} where user_id = :id returning user_id`),
  },
  enableUser: {
    account: idOf,
    keys: idKey,
    cache: idOf,
    event: when('changed', aboutUser('user.enabled')),
    run: enableUser,
  },
  deleteUser: {
    account: idOf,
    keys: idKey,
    cache: 'cleared',
    event: when('deleted', aboutUser('user.deleted')),
    *run({ id }) {
      const deleted = yield* rows(DELETE, { id })
      yield* deleteAccess(id)
      for (const statement of END_GRANTED) yield* rows(statement, { userId: id })
      for (const statement of DELETE_OWN) yield* rows(statement, { userId: id })
      yield* addDue(id)
      return deleted.length === 1 ? 'deleted' : 'unknown'
    },
  },
  unlockUser: {
    account: idOf,
    keys: idKey,
    cache: 'kept',
    event: when('unlocked', aboutUser('user.unlocked')),
    *run(input) {
      const { id: userId, buckets } = input
      if ((yield* rows(HOLD, { userId })).length === 0) return 'unknown'
      yield* forgiveGuesses(userId)
      yield* endHits(buckets)
      return 'unlocked'
    },
  },
  revokeUserTokens: {
    account: idOf,
    keys: idKey,
    cache: idOf,
    event: when('changed', aboutUser('user.tokens-revoked')),
    run: evicting('update users set not_before = greatest(not_before, :now) where user_id = :id returning user_id'),
  },
} satisfies NounOperations

const reads = {
  *findUserIdByEmail(email: string, otherwise: UserId): Steps<UserId> {
    const [row] = yield* rows(FIND_ID_BY_EMAIL, { email: normalizeEmail(email), otherwise })
    return (row?.['user_id'] ?? otherwise) as UserId
  },
  *findUserByEmail(typed: string): Steps<UserRecord | undefined> {
    const email = normalizeEmail(typed)
    const [row, other] = yield* rows(FIND_BY_EMAIL, { email, unicode: unicodeEmail(email) })
    return row?.['email'] === email && other === undefined ? USERS.read(row) : undefined
  },
  *listOddSpellings(page: {
    readonly after: UserId | ''
    readonly limit: number
  }): Steps<readonly { readonly id: UserId; readonly email: string }[]> {
    const found = yield* rows(LIST_ODD_SPELLINGS, page)
    return found.map((row) => ({ id: row['user_id'] as UserId, email: row['email'] as string }))
  },
  *listUsersByEmail({
    prefix,
    limit,
  }: {
    readonly prefix: string
    readonly limit: number
  }): Steps<readonly UserRecord[]> {
    return (yield* rows(LIST_BY_EMAIL, { prefix, end: prefix + LAST, limit })).map(USERS.read)
  },
  listUsers: listPage(USERS, 'select * from users where user_id < :before order by user_id desc limit :limit'),
}

export const users = { operations, reads }

/** The text of a profile; null if it is empty. */
function profileText(profile: UserProfile): string | null {
  return Object.keys(profile).length === 0 ? null : JSON.stringify(profile)
}

/** Replaces the email of a user, which no other user has, and removes the link and the proof that were made for the previous one. */
export function* replaceEmail({
  previous,
  ...input
}: Omit<Input<'setEmail'>, 'mails'>): Steps<'changed' | 'unknown' | 'conflict'> {
  const before = previous && { previousEmail: previous.email, previousVerifiedAt: previous.emailVerifiedAt }
  const changed = yield* before === undefined
    ? rows(SET_EMAIL, input)
    : rows(SET_EMAIL_UNCHANGED, { ...input, ...before })
  if (changed.length === 0) return before === undefined ? 'unknown' : 'conflict'
  yield* addDue(input.id)
  yield* endProofAndLinks(input.id)
  yield* markPrepared(input, input.id)
  return 'changed'
}

/** Of the addresses that may be in a spelling from before, those that are not rewritten. */
export function* inspectSpellings(): Steps<readonly SpellingInspection[]> {
  const found: SpellingInspection[] = []
  for (const { id: userId, email } of yield* reads.listOddSpellings({ after: '', limit: INSPECTED })) {
    const normal = normalizeEmail(email)
    if (normal === email) continue
    const otherId = normal === '' ? undefined : yield* reads.findUserIdByEmail(normal, userId)
    if (otherId !== userId) found.push({ userId, email, otherId })
  }
  return found
}

/** Replaces the spelling of the address of a user, which no other user has. */
export function* respell(input: Input<'respellEmail'>): Steps<'changed' | 'unknown'> {
  if ((yield* rows(RESPELL, input)).length === 0) return 'unknown'
  yield* addDue(input.id)
  return 'changed'
}

/** A change of a user that sets the not-before time, and evicts everyone. */
function evicting(
  statement: string,
): (input: { readonly id: UserId; readonly now: EpochMs }) => Steps<'changed' | 'unknown'> {
  const run = change(statement)
  return function* (input) {
    const changed = yield* run(input)
    yield* evictAll(input.id, input.now, undefined)
    return changed
  }
}

/** Returns whether the address was free. */
export function* insertUser(user: UserRecord & Ordered): Steps<boolean> {
  const isFree = (yield* rows(INSERT, USERS.values(user))).length === 1
  if (isFree) yield* markPrepared(user, user.id)
  return isFree
}

/** Deletes the sessions, memberships, groups, role, known browsers, second factors, passkeys and consents of a user. */
export function* deleteAccess(id: UserId): Steps<void> {
  for (const statement of DELETE_ACCESS) yield* rows(statement, { userId: id })
  yield* endLogoutNoticesOfUser(id)
}

function aboutUser(event: AuditEventName) {
  return (input: UserId | { readonly id: UserId }): AuditEvent => ({ event, userId: idOf(input) })
}
