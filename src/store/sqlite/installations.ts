import type { DatabaseSync } from 'node:sqlite'
import type { InstallationKey } from '../../ports/operation-inputs.ts'
import type { InstallationRecord } from '../../ports/records/organization.ts'
import type { Page } from '../../ports/store.ts'
import type { ClientId, OrganizationId } from '../../protocol/ids.ts'
import { installationOf, recordOf, type Row } from '../rows.ts'
import type { Handlers } from './handlers.ts'

export function installationStatements(database: DatabaseSync) {
  const insert = database.prepare(
    `insert into installations (client_id, organization_id, scope, acts_for_members, created_at, disabled_at, valid_from)
     values (?, ?, ?, ?, ?, ?, ?)
     on conflict (client_id, organization_id) do nothing`,
  )
  const replace = database.prepare(
    `update installations set scope = ?, acts_for_members = ?, disabled_at = null, valid_from = max(valid_from, ?)
     where client_id = ? and organization_id = ?`,
  )
  const disable = database.prepare(
    `update installations set disabled_at = coalesce(disabled_at, ?1), valid_from = max(valid_from, ?1)
     where client_id = ?2 and organization_id = ?3`,
  )
  const enable = database.prepare(
    `update installations set disabled_at = null,
       valid_from = case when disabled_at is null then valid_from else max(valid_from, ?) end
     where client_id = ? and organization_id = ?`,
  )
  const remove = database.prepare('delete from installations where client_id = ? and organization_id = ?')
  const find = database.prepare('select * from installations where client_id = ? and organization_id = ?')
  const list = database.prepare(
    'select * from installations where organization_id = ? and client_id < ? order by client_id desc limit ?',
  )

  return {
    install({ clientId, organizationId, scope, actsForMembers, createdAt, disabledAt, notBefore }) {
      const acts = actsForMembers ? 1 : 0
      const made = insert.run(clientId, organizationId, scope, acts, createdAt, disabledAt ?? null, notBefore)
      if (made.changes === 1) return 'installed'
      replace.run(scope, acts, notBefore, clientId, organizationId)
      return 'replaced'
    },
    disableInstallation: ({ clientId, organizationId, now }) =>
      disable.run(now, clientId, organizationId).changes === 1 ? 'changed' : 'unknown',
    enableInstallation: ({ clientId, organizationId, now }) =>
      enable.run(now, clientId, organizationId).changes === 1 ? 'changed' : 'unknown',
    uninstall: ({ clientId, organizationId }) =>
      remove.run(clientId, organizationId).changes === 1 ? 'removed' : 'unknown',
    findInstallation: ({ clientId, organizationId }: InstallationKey): InstallationRecord | undefined =>
      recordOf(find.get(clientId, organizationId), installationOf),
    listInstallations: ({
      organizationId,
      before,
      limit,
    }: Page<ClientId> & { readonly organizationId: OrganizationId }): readonly InstallationRecord[] =>
      list.all(organizationId, before ?? '~', limit).map((row) => installationOf(row as Row)),
  } satisfies Partial<Handlers> & Record<string, unknown>
}
