import type { AdminCredentialRecord } from '../../ports/records/admin.ts'
import type { Input } from '../../ports/operations.ts'
import type { Page, Reads } from '../../ports/store.ts'
import type { AdminCredentialId } from '../../protocol/ids.ts'
import { adminCredentialOf } from '../operator-rows.ts'
import type { Database } from './database.ts'
import { openBatchLoader } from './batch-loader.ts'
import { changeRow, eachAlone, type Handlers } from './handlers.ts'

const CREATE = {
  name: 'create-admin-credential',
  text: `insert into admin_credentials
      (credential_id, name, secret_hash, access, organization_id, created_at, expires_at, revoked_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8)`,
}
const REVOKE = {
  name: 'revoke-admin-credential',
  text: `update admin_credentials set revoked_at = coalesce(revoked_at, $2) where credential_id = $1
    returning credential_id`,
}
const FIND = {
  name: 'find-admin-credentials',
  text: 'select * from admin_credentials where credential_id = any($1::text[])',
}
const LIST = {
  name: 'list-admin-credentials',
  text: 'select * from admin_credentials where credential_id < $1 order by credential_id desc limit $2',
}

/** Statements for administrators' credentials. */
export function administratorStatements(database: Database) {
  const handlers = {
    createAdminCredential: {
      keys: ({ id }) => [id],
      run: eachAlone(async (query, credential: AdminCredentialRecord) => {
        const { id, name, secretHash, access, organizationId, createdAt, expiresAt, revokedAt } = credential
        const times = [createdAt, expiresAt, revokedAt ?? null] as const
        await query(CREATE, [id, name, secretHash, access, organizationId ?? null, ...times])
        return 'created' as const
      }),
    },
    revokeAdminCredential: {
      keys: ({ id }) => [id],
      run: eachAlone((query, { id, now }: Input<'revokeAdminCredential'>) => changeRow(query, REVOKE, [id, now])),
    },
  } satisfies Partial<Handlers>
  const reads = {
    findAdminCredential: openBatchLoader(async (ids: readonly AdminCredentialId[]) =>
      (await database.query(FIND, [ids])).map((row) => adminCredentialOf(row)),
    ),
    async listAdminCredentials({ before, limit }: Page<AdminCredentialId>): Promise<readonly AdminCredentialRecord[]> {
      return (await database.query(LIST, [before ?? '~', limit])).map((row) => adminCredentialOf(row))
    },
  } satisfies Partial<Reads>
  return { handlers, reads }
}
