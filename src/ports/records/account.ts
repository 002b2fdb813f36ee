import type { GroupId } from '../../protocol/access/group.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { UserSlice } from '../operations/user-search.ts'
import type { MembershipRecord } from './organization.ts'
import type { PasskeyRecord } from './passkey.ts'
import type { IdentityRecord } from './provider.ts'
import type { RoleRecord } from './role.ts'
import type { SecondFactorRecord } from './second-factor.ts'
import type { LinkRecord } from './user.ts'

/** All that says how a user can sign in, and who may change the account. */
export interface AccountRecord {
  readonly userId: UserId
  /** In the order in which they were linked. */
  readonly identities: readonly IdentityRecord[]
  /** The oldest first. */
  readonly passkeys: readonly PasskeyRecord[]
  /** The authenticator app. */
  readonly app: SecondFactorRecord | undefined
  readonly role: RoleRecord | undefined
  /** Also expired ones: at most one of each origin. */
  readonly links: readonly LinkRecord[]
  /** Ordered by organization id. */
  readonly memberships: readonly JoinedRecord[]
  readonly protectedGroups: readonly GroupId[]
}

/** A membership, and whether no person had used the account when it began. */
export type JoinedRecord = MembershipRecord & { readonly isJoinedUnused: boolean }

/** Lists of users that have an index: `invited`: with an invitation that is open, and `guessed`: so many wrong codes that the app is locked. */
export type UserList = 'disabled' | 'never-signed-in' | 'invited' | 'guessed'

export interface UserListPage {
  readonly list: UserList
  readonly now: EpochMs
  readonly before: UserId | undefined
  readonly limit: number
}

/** The reads of lists of users, and of what fifty of them have. */
export interface AccountReads {
  /** The users of a list, newest first. */
  readonly listUsersIn: (page: UserListPage) => Promise<UserSlice>
  /** Whether the user has a role or is in a protected group, as `isHolder` of reach.ts has it. */
  readonly isHolder: (userId: UserId) => Promise<boolean>
  /** What these users have, in their order, in as many statements for a thousand users as for one. */
  readonly listAccounts: (userIds: readonly UserId[]) => Promise<readonly AccountRecord[]>
}
