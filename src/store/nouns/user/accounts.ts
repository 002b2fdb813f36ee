import type { AccountRecord, UserList, UserListPage } from '../../../ports/records/account.ts'
import type { UserSlice } from '../../../ports/operations/user-search.ts'
import type { GroupId } from '../../../protocol/access/group.ts'
import type { UserId } from '../../../protocol/ids.ts'
import { GUESS_LIMIT } from '../../../protocol/sign-in/totp.ts'
import { listOf, rows, shared, type SharedStatement, type Steps } from '../../shared/statement.ts'
import type { Table } from '../../table.ts'
import { MEMBERSHIPS } from '../organization/memberships.ts'
import { IDENTITIES } from './identity-proofs.ts'
import { LINKS } from './links.ts'
import { PASSKEYS } from './passkeys.ts'
import { readJoined, ROLES } from './roles.ts'
import { SECOND_FACTORS } from './second-factors.ts'
import { USERS } from './users.ts'

/** What the accounts of a page have: one statement for each table, however many accounts. */
const IDENTITIES_OF = ofUsers('identities', 'linked_at, identity_key')
const PASSKEYS_OF = ofUsers('passkeys', 'created_at, passkey_id')
const APPS_OF = ofUsers('second_factors', 'user_id')
const ROLES_OF = ofUsers('roles', 'user_id')
const LINKS_OF = ofUsers('links', 'origin')
const MEMBERSHIPS_OF = ofUsers('memberships', 'organization_id')
const PROTECTED_OF = shared(
  `select m.user_id, p.group_id from group_members as m join protected_groups as p on p.group_id = m.group_id
   where m.user_id = any(string_to_array(:ids, ' '))`,
)
const USERS_OF = ofUsers('users', 'user_id desc')

/** Each has an index of its own, with no other user in it. */
const LISTS: Readonly<Record<UserList, SharedStatement>> = {
  disabled: listed('users', 'disabled_at is not null'),
  'never-signed-in': listed('users', 'coalesce(first_signed_in_at, -1) = -1'),
  invited: listed('links', `purpose = 'invitation' and expires_at > :now`),
  guessed: listed('second_factors', `failures >= ${GUESS_LIMIT}`),
}

const reads = {
  *listAccounts(userIds: readonly UserId[]): Steps<readonly AccountRecord[]> {
    if (userIds.length === 0) return []
    const ids = listOf(userIds)
    const of = function* <Stored>(statement: SharedStatement, { read }: Pick<Table<Stored>, 'read'>) {
      const found = yield* rows(statement, { ids })
      const own = Map.groupBy(found, (row) => row['user_id'])
      return (id: UserId): readonly Stored[] => (own.get(id) ?? []).map(read)
    }
    const identities = yield* of(IDENTITIES_OF, IDENTITIES)
    const passkeys = yield* of(PASSKEYS_OF, PASSKEYS)
    const apps = yield* of(APPS_OF, SECOND_FACTORS)
    const roles = yield* of(ROLES_OF, ROLES)
    const links = yield* of(LINKS_OF, LINKS)
    const memberships = yield* of(MEMBERSHIPS_OF, { read: (row) => ({ ...MEMBERSHIPS.read(row), ...readJoined(row) }) })
    const protectedGroups = yield* of(PROTECTED_OF, { read: (row) => row['group_id'] as GroupId })
    return userIds.map((userId) => ({
      userId,
      identities: identities(userId),
      passkeys: passkeys(userId),
      app: apps(userId)[0],
      role: roles(userId)[0],
      links: links(userId),
      memberships: memberships(userId),
      protectedGroups: protectedGroups(userId),
    }))
  },
  *listUsersIn({ list, now, before = '~' as UserId, limit }: UserListPage): Steps<UserSlice> {
    const found = yield* rows(LISTS[list], { now, before, limit })
    const ids = found.map((row) => row['user_id'] as UserId)
    const users = ids.length === 0 ? [] : yield* rows(USERS_OF, { ids: listOf(ids) })
    return { users: users.map(USERS.read), next: found.length < limit ? undefined : ids.at(-1) }
  },
} as const

export const accounts = { reads }

function ofUsers(table: string, order: string): SharedStatement {
  return shared(`select * from ${table} where user_id = any(string_to_array(:ids, ' ')) order by ${order}`)
}

/** The ids of a list, newest first. A user may have two links. */
function listed(table: string, condition: string): SharedStatement {
  return shared(
    `select distinct user_id from ${table} where ${condition} and user_id < :before order by user_id desc limit :limit`,
  )
}
