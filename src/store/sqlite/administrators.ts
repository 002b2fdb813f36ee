import type { DatabaseSync } from 'node:sqlite'
import type { AdminCredentialRecord } from '../../ports/records/admin.ts'
import type { Page } from '../../ports/store.ts'
import type { AdminCredentialId } from '../../protocol/ids.ts'
import { adminCredentialOf } from '../operator-rows.ts'
import { recordOf, type Row } from '../rows.ts'
import type { Handlers } from './handlers.ts'

/** Statements for administrators' credentials. */
export function administratorStatements(database: DatabaseSync) {
  const create = database.prepare(
    `insert into admin_credentials
       (credential_id, name, secret_hash, access, organization_id, created_at, expires_at, revoked_at)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const revoke = database.prepare(
    'update admin_credentials set revoked_at = coalesce(revoked_at, ?) where credential_id = ?',
  )
  const find = database.prepare('select * from admin_credentials where credential_id = ?')
  const list = database.prepare(
    'select * from admin_credentials where credential_id < ? order by credential_id desc limit ?',
  )

  return {
    createAdminCredential({ id, name, secretHash, access, organizationId, createdAt, expiresAt, revokedAt }) {
      create.run(id, name, secretHash, access, organizationId ?? null, createdAt, expiresAt, revokedAt ?? null)
      return 'created'
    },
    revokeAdminCredential: ({ id, now }) => (revoke.run(now, id).changes === 1 ? 'changed' : 'unknown'),
    findAdminCredential: (id: AdminCredentialId): AdminCredentialRecord | undefined =>
      recordOf(find.get(id), adminCredentialOf),
    listAdminCredentials: ({ before, limit }: Page<AdminCredentialId>): readonly AdminCredentialRecord[] =>
      list.all(before ?? '~', limit).map((row) => adminCredentialOf(row as Row)),
  } satisfies Partial<Handlers> & Record<string, unknown>
}
