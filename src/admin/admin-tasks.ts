import * as z from 'zod'
import type { AdminCredentialRecord } from '../ports/records/admin.ts'
import { ADMIN_DAYS, createAdminCredential, listAdminCredentials, revokeAdminCredential } from './administrators.ts'
import {
  ADMIN_CREDENTIAL_ID,
  before,
  ISO,
  ISO_OR_NULL,
  iso,
  isoOrNull,
  LIMIT,
  NAME,
  NEXT,
  ORGANIZATION_ID,
} from './fields.ts'
import { defineTask, type Task } from './task.ts'

const PATH = '/admin/v1/admin-credentials'
const ACCESS = z.enum(['read', 'write'])

/** An administrator's credentials in an answer. */
const ADMIN_CREDENTIAL = z
  .object({
    credential_id: z.string(),
    name: z.string(),
    access: ACCESS,
    organization_id: z
      .string()
      .nullable()
      .describe('The one organization that the credentials are for; null: the whole server.'),
    created_at: ISO,
    expires_at: ISO,
    revoked_at: ISO_OR_NULL,
  })
  .meta({ id: 'AdminCredential' })

export type AdminCredentialDocument = z.output<typeof ADMIN_CREDENTIAL>

/** Credentials as the operator sees them, without the hash of the token. */
function describeAdminCredential(credential: AdminCredentialRecord): z.output<typeof ADMIN_CREDENTIAL> {
  const { id, name, access, organizationId, createdAt, expiresAt, revokedAt } = credential
  return {
    credential_id: id,
    name,
    access,
    organization_id: organizationId ?? null,
    created_at: iso(createdAt),
    expires_at: iso(expiresAt),
    revoked_at: isoOrNull(revokedAt),
  }
}

export const ADMIN_TASKS: readonly Task[] = [
  defineTask({
    name: 'admin.list',
    method: 'GET',
    path: PATH,
    access: 'read',
    summary: "List the administrators' credentials, newest first.",
    input: z.object({ limit: LIMIT, before: before(ADMIN_CREDENTIAL_ID) }),
    output: z.object({ credentials: z.array(ADMIN_CREDENTIAL), next: NEXT }),
    async run(context, { limit, before: start }) {
      const { rows, next } = await listAdminCredentials(context, { limit, before: start })
      return { credentials: rows.map(describeAdminCredential), next: next ?? null }
    },
  }),
  defineTask({
    name: 'admin.create',
    method: 'POST',
    path: PATH,
    access: 'write',
    creates: true,
    summary: 'Create credentials for an administrator. The token is shown once.',
    input: z.object({
      name: NAME.describe('The owner or the purpose of the credentials.'),
      access: ACCESS,
      organization_id: ORGANIZATION_ID.optional().describe(
        'The one organization that the credentials are for; by default the whole server.',
      ),
      days: z
        .int()
        .min(1)
        .max(ADMIN_DAYS.most)
        .default(ADMIN_DAYS.usual)
        .describe('How many days the credentials are valid.'),
    }),
    output: ADMIN_CREDENTIAL.extend({ token: z.string() }).meta({ id: 'NewAdminCredential' }),
    async run(context, { name, access, organization_id: organizationId, days }) {
      const { credential, token } = await createAdminCredential(context, { name, access, organizationId, days })
      return { ...describeAdminCredential(credential), token }
    },
  }),
  defineTask({
    name: 'admin.revoke',
    method: 'DELETE',
    path: `${PATH}/{credential_id}`,
    access: 'write',
    summary: 'Revoke the credentials of an administrator at once.',
    input: z.object({ credential_id: ADMIN_CREDENTIAL_ID }),
    output: ADMIN_CREDENTIAL,
    run: async (context, { credential_id }) =>
      describeAdminCredential(await revokeAdminCredential(context, credential_id)),
  }),
]
