import type { OrganizationRecord } from '../../ports/records/organization.ts'
import type { Page, Reads } from '../../ports/store.ts'
import type { Input } from '../../ports/operations.ts'
import type { OrganizationId } from '../../protocol/ids.ts'
import { organizationOf } from '../rows.ts'
import type { Database } from './database.ts'
import { openBatchLoader } from './batch-loader.ts'
import { changeRow, eachAlone, type Handlers } from './handlers.ts'

const INSERT = {
  name: 'insert-organization',
  text: `insert into organizations (organization_id, name, created_at, disabled_at, valid_from)
    values ($1, $2, $3, $4, $5)`,
}
const RENAME = {
  name: 'rename-organization',
  text: 'update organizations set name = $2 where organization_id = $1 returning organization_id',
}
const DISABLE = {
  name: 'disable-organization',
  text: `update organizations set disabled_at = coalesce(disabled_at, $2), valid_from = greatest(valid_from, $2)
    where organization_id = $1 returning organization_id`,
}
const ENABLE = {
  name: 'enable-organization',
  text: `update organizations set disabled_at = null,
      valid_from = case when disabled_at is null then valid_from else greatest(valid_from, $2) end
    where organization_id = $1 returning organization_id`,
}
const EXPIRE = {
  name: 'expire-organization',
  text: `update organizations set valid_from = greatest(valid_from, $2) where organization_id = $1
    returning organization_id`,
}
const DELETE = {
  name: 'delete-organization',
  text: 'delete from organizations where organization_id = $1 returning organization_id',
}
const DELETE_MEMBERSHIPS = {
  name: 'delete-memberships-of-organization',
  text: 'delete from memberships where organization_id = $1',
}
const DELETE_INSTALLATIONS = {
  name: 'delete-installations-of-organization',
  text: 'delete from installations where organization_id = $1',
}
const FIND = {
  name: 'find-organizations',
  text: 'select * from organizations where organization_id = any($1::text[])',
}
const LIST = {
  name: 'list-organizations',
  text: 'select * from organizations where organization_id < $1 order by organization_id desc limit $2',
}

export function organizationStatements(database: Database) {
  const handlers = {
    createOrganization: {
      keys: ({ id }) => [id],
      run: eachAlone(async (query, { id, name, createdAt, disabledAt, notBefore }: OrganizationRecord) => {
        await query(INSERT, [id, name, createdAt, disabledAt ?? null, notBefore])
        return 'created' as const
      }),
    },
    renameOrganization: {
      keys: ({ id }) => [id],
      run: eachAlone((query, { id, name }: Input<'renameOrganization'>) => changeRow(query, RENAME, [id, name])),
    },
    disableOrganization: {
      keys: ({ id }) => [id],
      run: eachAlone((query, { id, now }: Input<'disableOrganization'>) => changeRow(query, DISABLE, [id, now])),
    },
    enableOrganization: {
      keys: ({ id }) => [id],
      run: eachAlone((query, { id, now }: Input<'enableOrganization'>) => changeRow(query, ENABLE, [id, now])),
    },
    revokeOrganizationTokens: {
      keys: ({ id }) => [id],
      run: eachAlone((query, { id, now }: Input<'revokeOrganizationTokens'>) => changeRow(query, EXPIRE, [id, now])),
    },
    deleteOrganization: {
      keys: (id) => [id],
      run: eachAlone(async (query, id: OrganizationId) => {
        const rows = await query(DELETE, [id])
        await query(DELETE_MEMBERSHIPS, [id])
        await query(DELETE_INSTALLATIONS, [id])
        return rows.length === 1 ? 'deleted' : 'unknown'
      }),
    },
  } satisfies Partial<Handlers>
  const reads = {
    findOrganization: openBatchLoader(async (ids: readonly OrganizationId[]) =>
      (await database.query(FIND, [ids])).map((row) => organizationOf(row)),
    ),
    async listOrganizations({ before, limit }: Page<OrganizationId>): Promise<readonly OrganizationRecord[]> {
      return (await database.query(LIST, [before ?? '~', limit])).map((row) => organizationOf(row))
    },
  } satisfies Partial<Reads>
  return { handlers, reads }
}
