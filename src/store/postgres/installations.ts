import type { InstallationKey } from '../../ports/operation-inputs.ts'
import type { InstallationRecord } from '../../ports/records/organization.ts'
import type { Page, Reads } from '../../ports/store.ts'
import type { Input } from '../../ports/operations.ts'
import type { ClientId, OrganizationId } from '../../protocol/ids.ts'
import { installationKey } from '../operation-table.ts'
import { installationOf } from '../rows.ts'
import { columns } from './column-parameters.ts'
import type { Database } from './database.ts'
import { openKeyedBatchLoader } from './batch-loader.ts'
import { changeRow, eachAlone, type Handlers } from './handlers.ts'

const INSERT = {
  name: 'insert-installation',
  text: `insert into installations (client_id, organization_id, scope, acts_for_members, created_at, disabled_at, valid_from)
    values ($1, $2, $3, $4, $5, $6, $7)
    on conflict (client_id, organization_id) do nothing returning client_id`,
}
const REPLACE = {
  name: 'replace-installation',
  text: `update installations
    set scope = $3, acts_for_members = $4, disabled_at = null, valid_from = greatest(valid_from, $5)
    where client_id = $1 and organization_id = $2 returning client_id`,
}
const DISABLE = {
  name: 'disable-installation',
  text: `update installations set disabled_at = coalesce(disabled_at, $3), valid_from = greatest(valid_from, $3)
    where client_id = $1 and organization_id = $2 returning client_id`,
}
const ENABLE = {
  name: 'enable-installation',
  text: `update installations set disabled_at = null,
      valid_from = case when disabled_at is null then valid_from else greatest(valid_from, $3) end
    where client_id = $1 and organization_id = $2 returning client_id`,
}
const DELETE = {
  name: 'delete-installation',
  text: 'delete from installations where client_id = $1 and organization_id = $2 returning client_id',
}
const FIND = {
  name: 'find-installations',
  text: `select n.* from unnest($1::text[], $2::text[]) as i (client_id, organization_id)
    join installations as n on n.client_id = i.client_id and n.organization_id = i.organization_id`,
}
const LIST = {
  name: 'list-installations',
  text: 'select * from installations where organization_id = $1 and client_id < $2 order by client_id desc limit $3',
}

/** The rows that a change of an installation touches. Changes of one kind run one after the other in one wave. */
const sharing = {
  keys: (key: InstallationKey) => [installationKey(key), key.clientId, key.organizationId],
  isShared: true,
} as const

export function installationStatements(database: Database) {
  const handlers = {
    install: {
      ...sharing,
      run: eachAlone(async (query, installation: InstallationRecord) => {
        const { clientId, organizationId, scope, createdAt, disabledAt, notBefore } = installation
        const acts = installation.actsForMembers ? 1 : 0
        const row = [clientId, organizationId, scope, acts, createdAt, disabledAt ?? null, notBefore]
        // Repeats only if the installation was removed between the two statements, and at most for a statement's time limit.
        for (;;) {
          if ((await query(INSERT, row)).length === 1) return 'installed'
          const replaced = await query(REPLACE, [clientId, organizationId, scope, acts, notBefore])
          if (replaced.length === 1) return 'replaced'
        }
      }),
    },
    disableInstallation: {
      ...sharing,
      run: eachAlone((query, { clientId, organizationId, now }: Input<'disableInstallation'>) =>
        changeRow(query, DISABLE, [clientId, organizationId, now]),
      ),
    },
    enableInstallation: {
      ...sharing,
      run: eachAlone((query, { clientId, organizationId, now }: Input<'enableInstallation'>) =>
        changeRow(query, ENABLE, [clientId, organizationId, now]),
      ),
    },
    uninstall: {
      ...sharing,
      run: eachAlone(async (query, { clientId, organizationId }: InstallationKey) =>
        (await query(DELETE, [clientId, organizationId])).length === 1 ? 'removed' : 'unknown',
      ),
    },
  } satisfies Partial<Handlers>
  const reads = {
    findInstallation: openKeyedBatchLoader(installationKey, async (keys: readonly InstallationKey[]) => {
      const rows = await database.query(
        FIND,
        columns(
          keys,
          ({ clientId }) => clientId,
          ({ organizationId }) => organizationId,
        ),
      )
      return rows.map((row) => installationOf(row))
    }),
    async listInstallations({
      organizationId,
      before,
      limit,
    }: Page<ClientId> & { readonly organizationId: OrganizationId }): Promise<readonly InstallationRecord[]> {
      const rows = await database.query(LIST, [organizationId, before ?? '~', limit])
      return rows.map((row) => installationOf(row))
    },
  } satisfies Partial<Reads>
  return { handlers, reads }
}
