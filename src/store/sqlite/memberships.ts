import type { DatabaseSync } from 'node:sqlite'
import type { MembershipKey } from '../../ports/operation-inputs.ts'
import type { MembershipRecord } from '../../ports/records/organization.ts'
import { MEMBERSHIP_LIMIT, type Page } from '../../ports/store.ts'
import type { OrganizationId, UserId } from '../../protocol/ids.ts'
import { membershipOf, recordOf, type Row } from '../rows.ts'
import type { Handlers } from './handlers.ts'

export function membershipStatements(database: DatabaseSync) {
  const insert = database.prepare(
    `insert into memberships (user_id, organization_id, created_at, disabled_at, valid_from)
     select ?1, ?2, ?3, ?4, ?5
     where (select count(*) from (select 1 from memberships where user_id = ?1 limit ?6)) < ?6
     on conflict (user_id, organization_id) do nothing`,
  )
  const disable = database.prepare(
    `update memberships set disabled_at = coalesce(disabled_at, ?1), valid_from = max(valid_from, ?1)
     where user_id = ?2 and organization_id = ?3`,
  )
  const enable = database.prepare(
    `update memberships set disabled_at = null,
       valid_from = case when disabled_at is null then valid_from else max(valid_from, ?) end
     where user_id = ? and organization_id = ?`,
  )
  const remove = database.prepare('delete from memberships where user_id = ? and organization_id = ?')
  const find = database.prepare('select * from memberships where user_id = ? and organization_id = ?')
  const listOfUser = database.prepare('select * from memberships where user_id = ? order by organization_id limit ?')
  const listOfOrganization = database.prepare(
    'select * from memberships where organization_id = ? and user_id < ? order by user_id desc limit ?',
  )

  const findMembership = ({ userId, organizationId }: MembershipKey): MembershipRecord | undefined =>
    recordOf(find.get(userId, organizationId), membershipOf)

  return {
    addMember(membership) {
      const { userId, organizationId, createdAt, disabledAt, notBefore } = membership
      const { changes } = insert.run(userId, organizationId, createdAt, disabledAt ?? null, notBefore, MEMBERSHIP_LIMIT)
      if (changes === 1) return 'added'
      return findMembership(membership) === undefined ? 'too-many' : 'member-already'
    },
    disableMember: ({ userId, organizationId, now }) =>
      disable.run(now, userId, organizationId).changes === 1 ? 'changed' : 'unknown',
    enableMember: ({ userId, organizationId, now }) =>
      enable.run(now, userId, organizationId).changes === 1 ? 'changed' : 'unknown',
    removeMember: ({ userId, organizationId }) =>
      remove.run(userId, organizationId).changes === 1 ? 'removed' : 'unknown',
    findMembership,
    listMemberships: (userId: UserId): readonly MembershipRecord[] =>
      listOfUser.all(userId, MEMBERSHIP_LIMIT).map((row) => membershipOf(row as Row)),
    listMembers: ({
      organizationId,
      before,
      limit,
    }: Page<UserId> & { readonly organizationId: OrganizationId }): readonly MembershipRecord[] =>
      listOfOrganization.all(organizationId, before ?? '~', limit).map((row) => membershipOf(row as Row)),
  } satisfies Partial<Handlers> & Record<string, unknown>
}
