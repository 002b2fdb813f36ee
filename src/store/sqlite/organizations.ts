import type { DatabaseSync } from 'node:sqlite'
import type { OrganizationRecord } from '../../ports/records/organization.ts'
import type { Page } from '../../ports/store.ts'
import type { OrganizationId } from '../../protocol/ids.ts'
import { organizationOf, recordOf, type Row } from '../rows.ts'
import type { Handlers } from './handlers.ts'

export function organizationStatements(database: DatabaseSync) {
  const insert = database.prepare(
    'insert into organizations (organization_id, name, created_at, disabled_at, valid_from) values (?, ?, ?, ?, ?)',
  )
  const rename = database.prepare('update organizations set name = ? where organization_id = ?')
  const disable = database.prepare(
    `update organizations set disabled_at = coalesce(disabled_at, ?1), valid_from = max(valid_from, ?1)
     where organization_id = ?2`,
  )
  const enable = database.prepare(
    `update organizations set disabled_at = null,
       valid_from = case when disabled_at is null then valid_from else max(valid_from, ?) end
     where organization_id = ?`,
  )
  const expire = database.prepare('update organizations set valid_from = max(valid_from, ?) where organization_id = ?')
  const remove = database.prepare('delete from organizations where organization_id = ?')
  const removeMemberships = database.prepare('delete from memberships where organization_id = ?')
  const removeInstallations = database.prepare('delete from installations where organization_id = ?')
  const find = database.prepare('select * from organizations where organization_id = ?')
  const list = database.prepare(
    'select * from organizations where organization_id < ? order by organization_id desc limit ?',
  )

  return {
    createOrganization({ id, name, createdAt, disabledAt, notBefore }) {
      insert.run(id, name, createdAt, disabledAt ?? null, notBefore)
      return 'created'
    },
    renameOrganization: ({ id, name }) => (rename.run(name, id).changes === 1 ? 'changed' : 'unknown'),
    disableOrganization: ({ id, now }) => (disable.run(now, id).changes === 1 ? 'changed' : 'unknown'),
    enableOrganization: ({ id, now }) => (enable.run(now, id).changes === 1 ? 'changed' : 'unknown'),
    revokeOrganizationTokens: ({ id, now }) => (expire.run(now, id).changes === 1 ? 'changed' : 'unknown'),
    deleteOrganization(id) {
      removeMemberships.run(id)
      removeInstallations.run(id)
      return remove.run(id).changes === 1 ? 'deleted' : 'unknown'
    },
    findOrganization: (id: OrganizationId): OrganizationRecord | undefined => recordOf(find.get(id), organizationOf),
    listOrganizations: ({ before, limit }: Page<OrganizationId>): readonly OrganizationRecord[] =>
      list.all(before ?? '~', limit).map((row) => organizationOf(row as Row)),
  } satisfies Partial<Handlers> & Record<string, unknown>
}
