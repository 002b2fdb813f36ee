import type { AdminCredentialRecord } from '../../../ports/records/admin.ts'
import { type NounOperations, when } from '../../noun.ts'
import { CREDENTIAL_OF_ORGANIZATION, setting } from './settings.ts'
import { change, findBy, idKey, listPage, rows, shared } from '../../shared/statement.ts'
import { bigint, table, text } from '../../table.ts'

const ADMIN_CREDENTIALS = table<AdminCredentialRecord>({
  id: text('credential_id'),
  name: text('name'),
  secretHash: text('secret_hash'),
  access: text('access'),
  organizationId: text('organization_id'),
  organizationSince: bigint('organization_since'),
  createdAt: bigint('created_at'),
  expiresAt: bigint('expires_at'),
  revokedAt: bigint('revoked_at'),
})

/** Changes nothing, and locks the row: an organization that is deleted at the same time keeps no credentials. */
const HOLD_ORGANIZATION = shared(
  `update organizations set name = name where organization_id = :organizationId and created_at = :organizationSince
   returning organization_id`,
)
const CREATE_CREDENTIAL = shared(
  `insert into admin_credentials (${ADMIN_CREDENTIALS.names}) values (${ADMIN_CREDENTIALS.parameters})`,
)
const FIND_CREDENTIAL = shared('select * from admin_credentials where credential_id = :id')

/** The credentials of administrators. */
const operations = {
  createAdminCredential: {
    keys: ({ id, organizationId }) => [id, organizationId ?? []].flat(),
    cache: 'kept',
    event: when('created', ({ id, access, organizationId }) => ({
      event: 'admin-credential.created',
      details: { credential: id, access },
      organizationId,
    })),
    *run(credential) {
      const { id, organizationId, organizationSince } = credential
      if (organizationId !== undefined) {
        // Before the organization, so that two nodes with several never wait for each other's locks.
        yield* setting(CREDENTIAL_OF_ORGANIZATION, id)
        const held = yield* rows(HOLD_ORGANIZATION, { organizationId, organizationSince })
        if (held.length === 0) return 'unknown'
      }
      yield* rows(CREATE_CREDENTIAL, ADMIN_CREDENTIALS.values(credential))
      return 'created'
    },
  },
  revokeAdminCredential: {
    keys: idKey,
    cache: 'kept',
    event: when('changed', ({ id }) => ({ event: 'admin-credential.revoked', details: { credential: id } })),
    run: change(
      `update admin_credentials set revoked_at = coalesce(revoked_at, :now) where credential_id = :id
       returning credential_id`,
    ),
  },
} satisfies NounOperations

const reads = {
  findAdminCredential: findBy(ADMIN_CREDENTIALS, FIND_CREDENTIAL),
  listAdminCredentials: listPage(
    ADMIN_CREDENTIALS,
    'select * from admin_credentials where credential_id < :before order by credential_id desc limit :limit',
  ),
}

export const adminCredentials = { operations, reads }
