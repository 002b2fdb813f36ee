import type { IdentityRecord } from '../../ports/records/provider.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import type { Input, Outcome } from '../../ports/operations.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { IdentityKey } from '../../protocol/provider-identity.ts'
import { IDENTITIES } from '../identity-tables.ts'
import { USERS } from '../tables.ts'
import { outcome, rows, shared, type SharedHandlers, type Steps } from './statement.ts'

const FIND = shared('select * from identities where identity_key = :key')
const LIST = shared('select * from identities where user_id = :userId order by linked_at, identity_key')
const INSERT = shared(
  `insert into identities (${IDENTITIES.names}) values (${IDENTITIES.parameters})
   on conflict (identity_key) do nothing returning identity_key`,
)
const DELETE = shared('delete from identities where identity_key = :key and user_id = :userId returning identity_key')
const INSERT_USER = shared(
  `insert into users (${USERS.names}) values (${USERS.parameters}) on conflict (email) do nothing returning user_id`,
)

export const identityHandlers = {
  provisionUser: {
    keys: ({ user, identity }) => [user.id, identity.key, ...(user.email === undefined ? [] : [`email:${user.email}`])],
    run: (account) => provisionUser(account, insertUser),
  },
  useIdentity: {
    keys: ({ key }) => [key],
    run: outcome(
      `update identities set used_at = :now, email = :email where identity_key = :key and user_id = :userId
       returning identity_key`,
      'used',
      'unknown',
    ),
  },
} satisfies SharedHandlers

export const identityReads = {
  *findIdentity(key: IdentityKey): Steps<IdentityRecord | undefined> {
    const [row] = yield* rows(FIND, { key })
    return row === undefined ? undefined : IDENTITIES.read(row)
  },
  *listIdentities(userId: UserId): Steps<readonly IdentityRecord[]> {
    return (yield* rows(LIST, { userId })).map(IDENTITIES.read)
  },
}

/** Creates the account with a statement of the database's, which returns whether the address was free. */
export function* provisionUser(
  { user, identity }: Input<'provisionUser'>,
  insert: (user: UserRecord) => Steps<boolean>,
): Steps<Outcome<'provisionUser'>> {
  if ((yield* rows(INSERT, IDENTITIES.values(identity))).length === 0) return 'taken'
  if (yield* insert(user)) return 'created'
  yield* rows(DELETE, identity)
  return 'email-taken'
}

function* insertUser(user: UserRecord): Steps<boolean> {
  return (yield* rows(INSERT_USER, USERS.values(user))).length === 1
}
