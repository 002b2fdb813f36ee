import type { ClientRecord } from './client.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { Belonging, GroupMembership } from '../../protocol/access/belonging.ts'
import type { GroupId } from '../../protocol/access/group.ts'
import type { ClientId, OrganizationId, UserId } from '../../protocol/ids.ts'

/** A group of users. */
export interface GroupRecord {
  readonly id: GroupId
  /** undefined: a group of the server. */
  readonly organizationId: OrganizationId | undefined
  /** For people. Tokens have the id. */
  readonly name: string
  /** To administrators with less than write access, and to those of other organizations, its members count as holders of a role. */
  readonly isProtected: boolean
  readonly createdAt: EpochMs
}

/** That a source says a user is in a group. */
export interface GroupMemberRecord extends GroupMembership {
  readonly userId: UserId
}

interface GroupPage<Id> {
  readonly before: Id | undefined
  readonly limit: number
}

/** The reads of groups and of what users belong to. */
export interface GroupReads {
  readonly findGroup: (id: GroupId) => Promise<GroupRecord | undefined>
  /** All groups, the last id first; `before` is exclusive. */
  readonly listGroups: (page: GroupPage<GroupId>) => Promise<readonly GroupRecord[]>
  /** Those of an organization. */
  readonly listGroupsOf: (
    page: GroupPage<GroupId> & { readonly organizationId: OrganizationId },
  ) => Promise<readonly GroupRecord[]>
  /** What the sources say about who is in a group, newest users first. `before`: the ids of a user and a source, with a space between them; exclusive. */
  readonly listGroupMembers: (
    page: GroupPage<string> & { readonly groupId: GroupId },
  ) => Promise<readonly GroupMemberRecord[]>
  /** In which groups a user is, also where that does not count, ordered by group and source. */
  readonly listGroupsOfUser: (userId: UserId) => Promise<readonly GroupMemberRecord[]>
  /** The clients of the operator that read groups (`groupClaimOf`), newest first, `before` exclusive. */
  readonly listGroupReaders: (page: GroupPage<ClientId>) => Promise<readonly ClientRecord[]>
  /** What a user belongs to, for tokens: cached as the principals of a token are. A user who does not exist belongs to nothing. */
  readonly findBelonging: (userId: UserId) => Promise<Belonging>
}
