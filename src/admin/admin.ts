import * as z from 'zod'
import type { Context } from '../ports/context.ts'
import type { AdminCredentialRecord } from '../ports/records/admin.ts'
import { after } from '../base/brand.ts'
import { mintAdminCredentialId, type AdminCredentialId, type OrganizationId } from '../protocol/ids.ts'
import { AdminError, unknown } from './admin-error.ts'
import { ISO, ISO_OR_NULL, iso, isoOrNull } from '../base/iso.ts'
import { ADMIN_CREDENTIAL_ID, LIMIT, NAME, NEXT, ORGANIZATION_ID, pageStart } from './fields.ts'
import { requireLasting } from './administrators.ts'
import { ACCESS_TEXT, ROLE_ACCESSES } from './user/role.ts'
import { requireOrganization } from './organization/organization.ts'
import { listPage } from './page.ts'
import { tableOf } from '../answers/table.ts'
import { defineTask, type Task } from './task.ts'

/** The lifetime of credentials in days. All credentials expire. */
const DAYS = { most: 365, usual: 90 } as const
const DAY_MS = 24 * 60 * 60 * 1000

const PATH = '/admin/v1/admin-credentials'
const ACCESS = z
  .enum([...ROLE_ACCESSES, 'metrics'])
  .describe(`${ACCESS_TEXT} metrics: only /metrics, so not with organization_id.`)
const ANY_ACCESS = z
  .enum([...ACCESS.options, 'delegate'])
  .describe('delegate: only the sign-ins of your application, by the token of "grantor delegate create-credentials".')

const { row, table } = tableOf<AdminCredentialRecord>()

/** An administrator's credentials in an answer, without the hash of the token. */
export const ADMIN_CREDENTIAL = table({
  credential_id: row(z.string(), ({ id }) => id),
  name: row(z.string(), ({ name }) => name),
  access: row(ANY_ACCESS, ({ access }) => access),
  organization_id: row(
    z.string().nullable().describe('The one organization that the credentials are for; null: the whole server.'),
    ({ organizationId }) => organizationId ?? null,
  ),
  created_at: row(ISO, ({ createdAt }) => iso(createdAt)),
  expires_at: row(ISO, ({ expiresAt }) => iso(expiresAt)),
  revoked_at: row(ISO_OR_NULL, ({ revokedAt }) => isoOrNull(revokedAt)),
})
export const ADMIN_CREDENTIAL_DOCUMENT = z.object(ADMIN_CREDENTIAL.shape).meta({ id: 'AdminCredential' })

export type AdminCredentialDocument = z.output<typeof ADMIN_CREDENTIAL_DOCUMENT>

export const ADMIN_TASKS: readonly Task[] = [
  defineTask({
    name: 'admin.list',
    method: 'GET',
    path: PATH,
    access: 'read',
    summary: "List the administrators' credentials, newest first.",
    input: z.object({ limit: LIMIT, before: pageStart(ADMIN_CREDENTIAL_ID) }),
    output: z.object({ credentials: z.array(ADMIN_CREDENTIAL_DOCUMENT), next: NEXT }),
    async run({ store }, page) {
      const { rows, next } = await listPage(store.listAdminCredentials, page)
      return { credentials: rows.map(ADMIN_CREDENTIAL.show), next }
    },
  }),
  defineTask({
    name: 'admin.create',
    method: 'POST',
    path: PATH,
    access: 'write',
    creates: true,
    summary: 'Create credentials for an administrator. The token is shown once.',
    secret: { member: 'token' },
    input: z.object({
      name: NAME.describe('The owner or the purpose of the credentials.'),
      access: ACCESS,
      organization_id: ORGANIZATION_ID.optional().describe(
        'The one organization that the credentials are for; by default the whole server.',
      ),
      days: z.int().min(1).max(DAYS.most).default(DAYS.usual).describe('How many days the credentials are valid.'),
    }),
    output: ADMIN_CREDENTIAL_DOCUMENT.extend({ token: z.string() }).meta({ id: 'NewAdminCredential' }),
    async run(context, { name, access, organization_id: organizationId, days }) {
      if (access !== 'read' && access !== 'metrics')
        requireLasting(context.administrator, `create credentials with ${access} access`)
      const { credential, token } = await createAdminCredential(context, { name, access, organizationId, days })
      return { ...ADMIN_CREDENTIAL.show(credential), token }
    },
  }),
  defineTask({
    name: 'admin.revoke',
    method: 'DELETE',
    path: `${PATH}/{credential_id}`,
    access: 'write',
    summary: 'Revoke the credentials of an administrator at once.',
    input: z.object({ credential_id: ADMIN_CREDENTIAL_ID }),
    output: ADMIN_CREDENTIAL_DOCUMENT,
    run: async (context, { credential_id }) =>
      ADMIN_CREDENTIAL.show(await revokeAdminCredential(context, credential_id)),
  }),
]

/** New credentials, with the token that is shown once. */
interface NewAdminCredential {
  readonly credential: AdminCredentialRecord
  readonly token: string
}

/**
 * Creates credentials for an administrator.
 *
 * @throws AdminError when there is no such organization, or the metrics of one organization are requested
 */
export async function createAdminCredential(
  context: Context,
  input: {
    readonly name: string
    readonly access: AdminCredentialRecord['access']
    readonly organizationId: OrganizationId | undefined
    readonly days: number
  },
): Promise<NewAdminCredential> {
  const { store, clock, random, secrets } = context
  const { access, organizationId } = input
  if (access === 'metrics' && organizationId !== undefined) {
    throw new AdminError(
      'The metrics are those of the whole server. Create credentials for them without an organization.',
    )
  }
  const organization = organizationId === undefined ? undefined : await requireOrganization(context, organizationId)
  const now = clock()
  const id = mintAdminCredentialId(now, random)
  const { token, hash } = secrets.mint(access === 'delegate' ? 'delegate-token' : 'admin-token', id, random)
  const credential: AdminCredentialRecord = {
    id,
    name: input.name,
    secretHash: hash,
    access,
    organizationId,
    organizationSince: organization?.createdAt,
    createdAt: now,
    expiresAt: after(now, input.days * DAY_MS),
    revokedAt: undefined,
  }
  if ((await store.createAdminCredential(credential)) === 'unknown')
    throw unknown(`The organization ${organizationId} was deleted at the same time.`)
  return { credential, token }
}

/** Revokes credentials on all nodes before it returns. @throws AdminError when there are no such credentials */
export async function revokeAdminCredential(
  { store, clock }: Context,
  id: AdminCredentialId,
): Promise<AdminCredentialRecord> {
  await store.revokeAdminCredential({ id, now: clock() })
  const credential = await store.findAdminCredential(id)
  if (credential !== undefined) return credential
  throw unknown(`There are no credentials ${id}. See "grantor admin list".`)
}
