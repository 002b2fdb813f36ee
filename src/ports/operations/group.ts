import type { EpochMs } from '../../base/brand.ts'
import type { GroupId } from '../../protocol/access/group.ts'
import type { GroupMemberRecord, GroupRecord } from '../records/group.ts'
import type { Ordered } from './reach.ts'

/** The operations on groups and their members, each as `[input, outcome]`. The rules of index.ts apply. */
export interface GroupOperations {
  /**
   * Creates a group, and ends what an earlier group with the id has left. `unknown`: there is no such organization. `too-many`: the organization,
   * or the server, has the most groups; `too-many-protected`: the server has the most protected ones.
   */
  createGroup: [group: GroupRecord, outcome: 'created' | 'id-taken' | 'unknown' | 'too-many' | 'too-many-protected']
  /**
   * Replaces the name and whether it is protected, if both are still as `previous` has them. Protection ends the links of operators to its members.
   * `prepared`: an administrator with bounds may be able to sign in to the account of a member, and that is not confirmed (threats.md GRP-06).
   */
  updateGroup: [change: GroupChange, outcome: 'changed' | 'conflict' | 'prepared' | 'too-many-protected']
  /** Deletes the group if it is still protected, or not, as `isProtected` says, and removes its members. */
  deleteGroup: [deletion: Pick<GroupRecord, 'id' | 'isProtected'>, outcome: 'deleted' | 'conflict']
  /**
   * Adds a user to a group, or replaces the end. `unknown`: there is no such group or user; `not-member`: the group is that of an organization in
   * which the user has no active membership; `too-many`: the user has the most rows of the server, or of this organization. Of a protected
   * group the link that an operator handed over ends, as with a role; `bounded`: the administrator has bounds, and adds no one to a protected
   * group; `prepared`: as for updateGroup.
   */
  addGroupMember: [
    member: GroupMemberRecord & Ordered & Pick<GroupChange, 'isConfirmed'>,
    outcome: 'added' | 'changed' | 'member-already' | 'unknown' | 'not-member' | 'too-many' | 'bounded' | 'prepared',
  ]
  /** Removes what one source says. Other sources may still say it. */
  removeGroupMember: [member: Pick<GroupMemberRecord, 'userId' | 'groupId' | 'source'>, outcome: 'removed' | 'unknown']
  /**
   * Replaces all that a source says about a user. A group that does not exist, or in whose organization the user has no active membership, is
   * left out, as is a protected group that the user would be in for the first time although the account is prepared. `too-many`: the user has
   * no room for all others, and nothing changes. Without a difference only the end moves, at most once an hour.
   */
  setGroupsOfSource: [said: SourceGroups, outcome: SourceGroupsOutcome]
}

export interface GroupChange extends Pick<GroupRecord, 'id' | 'name' | 'isProtected'> {
  /** The operator is sure of an account that is prepared. */
  readonly isConfirmed?: boolean | undefined
  readonly previous: Pick<GroupRecord, 'name' | 'isProtected'>
}

export interface SourceGroups extends Pick<GroupMemberRecord, 'userId' | 'source' | 'expiresAt'> {
  readonly groups: readonly GroupId[]
  /** Rows from before are those of an earlier source with the name. */
  readonly since: EpochMs
  readonly now: EpochMs
}

/** `unknown`: there is no such user. */
export type SourceGroupsOutcome =
  | { readonly kind: 'unknown' | 'too-many' }
  | ({ readonly kind: 'replaced' } & GroupChanges)

export interface GroupChanges {
  readonly added: readonly GroupId[]
  readonly removed: readonly GroupId[]
  /** The protected groups that a prepared account was left out of. Absent: none. */
  readonly leftOut?: readonly GroupId[]
}
