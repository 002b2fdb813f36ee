import type { DatabaseSync } from 'node:sqlite'
import type { InstallationKey, MembershipKey } from '../../ports/operations/organization.ts'
import type { InstallationRecord, MembershipRecord, OrganizationRecord } from '../../ports/records/organization.ts'
import type { SessionRecord, UserRecord } from '../../ports/records/user.ts'
import type { OrganizationId, SessionId, UserId } from '../../protocol/ids.ts'
import type { Belonging } from '../../protocol/access/belonging.ts'
import { recordOf, type Row } from '../rows.ts'
import { readBelonging } from '../nouns/organization/group-members.ts'
import { INSTALLATIONS } from '../nouns/organization/installations.ts'
import { ORGANIZATIONS } from '../nouns/organization/organizations.ts'
import { MEMBERSHIPS } from '../nouns/organization/memberships.ts'
import { SESSIONS } from '../nouns/user/sessions.ts'
import { USERS } from '../nouns/user/users.ts'

/** Prepares the statements that find one record by its key. PostgreSQL finds many records with one statement instead. */
export function recordStatements(database: DatabaseSync) {
  const user = database.prepare('select * from users where user_id = ?')
  const session = database.prepare('select * from sessions where session_id = ?')
  const organization = database.prepare('select * from organizations where organization_id = ?')
  const membership = database.prepare('select * from memberships where user_id = ? and organization_id = ?')
  const installation = database.prepare('select * from installations where client_id = ? and organization_id = ?')
  const belonging = database.prepare(
    `select user_id, group_id, source, created_at, expires_at from group_members where user_id = ?1
     union all select user_id, organization_id, null, null, null from memberships where user_id = ?1 and disabled_at is null`,
  )
  return {
    findUser: (id: UserId): UserRecord | undefined => recordOf(user.get(id), USERS.read),
    findSession: (id: SessionId): SessionRecord | undefined => recordOf(session.get(id), SESSIONS.read),
    findOrganization: (id: OrganizationId): OrganizationRecord | undefined =>
      recordOf(organization.get(id), ORGANIZATIONS.read),
    findMembership: ({ userId, organizationId }: MembershipKey): MembershipRecord | undefined =>
      recordOf(membership.get(userId, organizationId), MEMBERSHIPS.read),
    findBelonging: (id: UserId): Belonging => readBelonging(id, belonging.all(id) as Row[]),
    findInstallation: ({ clientId, organizationId }: InstallationKey): InstallationRecord | undefined =>
      recordOf(installation.get(clientId, organizationId), INSTALLATIONS.read),
  }
}
