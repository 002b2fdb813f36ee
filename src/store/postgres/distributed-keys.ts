import assert from 'node:assert/strict'
import type { Ordered } from '../../ports/operations/reach.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import type { UserId } from '../../protocol/ids.ts'
import { normalizeEmail } from '../../protocol/sign-in/email-address.ts'
import { replaceEmail, respell, USERS, users } from '../nouns/user/users.ts'
import { provisionUser, identities } from '../nouns/user/identities.ts'
import { markPrepared } from '../nouns/user/roles.ts'
import { importUser, importedUsers } from '../nouns/user/imported-users.ts'
import { confirmEmail, emailCodes } from '../nouns/user/email-codes.ts'
import { rows, shared as sharedStatement, type Steps } from '../shared/statement.ts'
import { distributed } from './distributed-users.ts'
import type { Query } from './connection/query.ts'
import type { Handlers } from './handlers.ts'
import { awaitRow, holdUser } from './settle.ts'
import { nameRow } from './user-rows.ts'

const CLAIM_EMAIL = sharedStatement(
  'insert into emails (email, user_id) values (:email, :id) on conflict (email) do nothing returning user_id',
)
const INSERT_USER = sharedStatement(`insert into users (${USERS.names}) values (${USERS.parameters})`)
const RELEASE_EMAIL = sharedStatement('delete from emails where email = :email and user_id = :id')
/** An aggregate returns a row even if there is no account, so that both cases take equally long (threats.md UI-08). */
const FIND_OWNER = {
  name: 'find-owner-of-email',
  text: 'select coalesce(max(user_id), $2) as user_id from emails where email = $1',
}

/**
 * Operations where Citus distributes users by their ids. No index can hold that an email is unique over all shards, so it is the primary
 * key of a row of its own, in the same transaction. So is the key of a shared client.
 */
export const distributedHandlers = {
  createUser: distributed(users.operations.createUser, function* (user) {
    return (yield* claimAndInsert(user)) ? 'created' : 'email-taken'
  }),
  provisionUser: distributed(identities.operations.provisionUser, function* (account) {
    const outcome = yield* provisionUser(account, claimAndInsert)
    const { userId, key } = account.identity
    if (outcome === 'created') yield* nameRow({ userId, table: 'identities', key })
    return outcome
  }),
  importUser: distributed(importedUsers.operations.importUser, (account) =>
    importUser(account, {
      claim: ({ id, email }) => claimIfAny(email, id),
      *move({ id, email }, previous) {
        if (!(yield* claimIfAny(email, id))) return false
        yield* releaseEmail(previous ?? null, id)
        return true
      },
      release: ({ id, email }) => releaseEmail(email ?? null, id),
      hold: holdUser,
      awaitIdentity: (key) => awaitRow('identities', key),
      name: ({ userId, key }) => nameRow({ userId, table: 'identities', key }),
    }),
  ),
  setEmail: distributed(users.operations.setEmail, function* (change) {
    const { id, email } = change
    const user = yield* holdUser(id)
    if (user === undefined) return 'unknown'
    const previous = user['email'] as string | null
    const { previous: read } = change
    const isStill = (read?.email ?? null) === previous && (read?.emailVerifiedAt ?? null) === user['email_verified_at']
    if (read !== undefined && !isStill) return 'conflict'
    if (previous !== email) {
      if (!(yield* claimEmail(email, id))) return 'email-taken'
      yield* releaseEmail(previous, id)
    }
    const outcome = yield* replaceEmail(change)
    assert.equal(outcome, 'changed', 'a user was deleted while the email was changed')
    return outcome
  }),
  respellEmail: distributed(users.operations.respellEmail, function* (change) {
    const { id, previous, email } = change
    const user = yield* holdUser(id)
    if (user?.['email'] !== previous) return 'unknown'
    if (!(yield* claimEmail(email, id))) return 'email-taken'
    yield* releaseEmail(previous, id)
    return yield* respell(change)
  }),
  confirmEmail: distributed(emailCodes.operations.confirmEmail, (confirmation) =>
    confirmEmail(confirmation, function* ({ email, userId }, previous) {
      if (!(yield* claimEmail(email, userId))) return false
      yield* releaseEmail(previous, userId)
      return true
    }),
  ),
  deleteUser: distributed(users.operations.deleteUser, function* (deletion) {
    const { id } = deletion
    const user = yield* holdUser(id)
    yield* releaseEmail((user?.['email'] ?? null) as string | null, id)
    return yield* users.operations.deleteUser.run(deletion)
  }),
} satisfies Partial<Handlers>

/** Inserts a user whose e-mail address is free. */
function* claimAndInsert(user: UserRecord & Ordered): Steps<boolean> {
  const { id, email } = user
  if (email !== undefined && !(yield* claimEmail(email, id))) return false
  yield* rows(INSERT_USER, USERS.values(user))
  yield* markPrepared(user, id)
  return true
}

function* claimIfAny(email: string | undefined, id: UserId): Steps<boolean> {
  return email === undefined || (yield* claimEmail(email, id))
}

function* claimEmail(email: string, id: UserId): Steps<boolean> {
  return (yield* rows(CLAIM_EMAIL, { email, id })).length === 1
}

/** The address may have been claimed by a commit that its machine does not show yet. */
function* releaseEmail(email: string | null, id: UserId): Steps<void> {
  if (email === null || !(yield* awaitRow('emails', email))) return
  yield* rows(RELEASE_EMAIL, { email, id })
}

/** Finds the user of an email without asking all shards of the users. */
export function distributedReads({ query }: { readonly query: Query }) {
  return {
    async findUserIdByEmail(email: string, otherwise: UserId): Promise<UserId> {
      const [row] = await query(FIND_OWNER, [normalizeEmail(email), otherwise])
      return (row?.['user_id'] ?? otherwise) as UserId
    },
  }
}
