import { MAXIMA } from '../../base/maxima.ts'
import type { GroupChange } from '../../ports/operations/group.ts'
import type { GroupMemberRecord } from '../../ports/records/group.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import { organizationOfGroup } from '../../protocol/access/group.ts'
import type { OrganizationId, UserId } from '../../protocol/ids.ts'
import { nameUser } from '../../protocol/sign-in/account.ts'
import { conflict, unknown } from '../admin-error.ts'
import { noSuchMember } from '../organization/member.ts'
import type { TaskContext } from '../task.ts'
import { preparedAccount } from '../user/role.ts'
import { requireRecipient } from '../user/user.ts'
import { protectorNeeded } from './protection.ts'

/** An administrator of one organization learns of no account that is not a member (threats.md CON-08). */
export async function findRecipient(
  context: TaskContext,
  who: string,
  organizationId: OrganizationId | undefined,
): Promise<UserRecord> {
  if (organizationId === undefined) return requireRecipient(context, who)
  const userId = who.includes('@') ? (await context.store.findUserByEmail(who))?.id : undefined
  const key = { organizationId, userId: userId ?? (who as UserId) }
  if ((await context.store.findMembership(key)) === undefined)
    throw noSuchMember({ organizationId, userId: who as UserId })
  return requireRecipient(context, who)
}

/** Adds a user to a group. @throws AdminError when the user cannot be in it, is already, or the group is protected */
export async function addMember(
  context: TaskContext,
  member: GroupMemberRecord & Pick<GroupChange, 'isConfirmed'>,
  user: UserRecord,
): Promise<void> {
  const { groupId } = member
  switch (await context.store.addGroupMember(member)) {
    case 'added':
    case 'changed':
      return
    case 'member-already':
      throw conflict(`${nameUser(user)} is already in the group ${groupId}.`)
    case 'bounded':
      throw protectorNeeded()
    case 'prepared':
      throw preparedAccount(user.id)
    case 'not-member':
      throw conflict(
        `${nameUser(user)} is no active member of the organization that has the group ${groupId}, so the user cannot be in it.`,
      )
    case 'too-many':
      throw conflict(
        `${nameUser(user)} is in ${MAXIMA.groupsOfUser.most} groups of ${organizationOfGroup(groupId) ?? 'the server'}, which is the maximum.`,
      )
    case 'unknown':
      throw unknown(`The group ${groupId} or the user was deleted at the same time.`)
  }
}
