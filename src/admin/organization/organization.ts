import * as z from 'zod'
import type { Context } from '../../ports/context.ts'
import type { OrganizationRecord } from '../../ports/records/organization.ts'
import { mintOrganizationId, type OrganizationId } from '../../protocol/ids.ts'
import { unknown, type AdminError } from '../admin-error.ts'
import { changeTasks } from '../change-tasks.ts'
import { ISO, ISO_OR_NULL, iso, isoOrNull, LIMIT, NAME, NEXT, ORGANIZATION_ID, pageStart } from '../fields.ts'
import { JWT_ACCEPTANCE, withDeletion } from '../jwt-acceptance.ts'
import { listPage, type Listed, type PageRequest } from '../page.ts'
import { defineTask, type Task } from '../task.ts'

const PATH = '/admin/v1/organizations'
const ONE = z.object({ organization_id: ORGANIZATION_ID })
const ORGANIZATION_NAME = NAME.describe('The name, as the consent page shows it.')

/** An organization in an answer. */
const ORGANIZATION_DOCUMENT = z
  .object({
    organization_id: z.string(),
    name: z.string(),
    created_at: ISO,
    disabled_at: ISO_OR_NULL,
    not_before: ISO.describe('The not-before time: tokens for the organization issued earlier are revoked.'),
  })
  .meta({ id: 'Organization' })

export type OrganizationDocument = z.output<typeof ORGANIZATION_DOCUMENT>

function describeOrganization(organization: OrganizationRecord): OrganizationDocument {
  const { id, name, createdAt, disabledAt, notBefore } = organization
  return {
    organization_id: id,
    name,
    created_at: iso(createdAt),
    disabled_at: isoOrNull(disabledAt),
    not_before: iso(notBefore),
  }
}

const { change, end } = changeTasks({
  noun: 'organization',
  path: `${PATH}/{organization_id}`,
  // Only administrators of the server may disable or enable an organization.
  extent: 'server',
  input: ONE,
  output: ORGANIZATION_DOCUMENT,
  describe: describeOrganization,
  endOf: (organization: OrganizationRecord) => organization,
})

export const ORGANIZATION_TASKS: readonly Task[] = [
  defineTask({
    name: 'organization.list',
    method: 'GET',
    path: PATH,
    access: 'read',
    summary: 'List the organizations, newest first.',
    input: z.object({ limit: LIMIT, before: pageStart(ORGANIZATION_ID) }),
    output: z.object({ organizations: z.array(ORGANIZATION_DOCUMENT), next: NEXT }),
    async run(context, page) {
      const { rows, next } = await listOrganizations(context, page)
      return { organizations: rows.map(describeOrganization), next: next ?? null }
    },
  }),
  defineTask({
    name: 'organization.create',
    method: 'POST',
    path: PATH,
    access: 'write',
    creates: true,
    summary: 'Create an organization, for which users and clients may act.',
    input: z.object({ name: ORGANIZATION_NAME }),
    output: ORGANIZATION_DOCUMENT,
    run: async (context, { name }) => describeOrganization(await createOrganization(context, name)),
  }),
  defineTask({
    name: 'organization.show',
    method: 'GET',
    path: `${PATH}/{organization_id}`,
    access: 'read',
    extent: 'organization',
    summary: 'Show an organization.',
    input: ONE,
    output: ORGANIZATION_DOCUMENT,
    run: async (context, { organization_id }) =>
      describeOrganization(await requireOrganization(context, organization_id)),
  }),
  defineTask({
    name: 'organization.rename',
    method: 'PATCH',
    path: `${PATH}/{organization_id}`,
    access: 'write',
    // A misleading name could make a member of two organizations act for the wrong one.
    summary: 'Rename an organization.',
    input: ONE.extend({ name: ORGANIZATION_NAME }),
    output: ORGANIZATION_DOCUMENT,
    run: async (context, { organization_id, name }) =>
      describeOrganization(await renameOrganization(context, organization_id, name)),
  }),
  end(
    'disable',
    'Disable an organization: tokens for it are revoked, and no new tokens are issued.',
    (context, { organization_id }) => disableOrganization(context, organization_id),
  ),
  change('enable', 'Enable a disabled organization. Revoked tokens stay revoked.', (context, { organization_id }) =>
    enableOrganization(context, organization_id),
  ),
  // Administrators of the organization may revoke each grant, so after an intrusion they may revoke all tokens at once.
  {
    ...end(
      'revoke-tokens',
      'Revoke all tokens for an organization. Clients can request new ones.',
      (context, { organization_id }) => revokeTokensOfOrganization(context, organization_id),
    ),
    extent: 'organization',
  },
  defineTask({
    name: 'organization.delete',
    method: 'DELETE',
    path: `${PATH}/{organization_id}`,
    access: 'write',
    summary: 'Delete an organization with its memberships and installations. Tokens for it stop working.',
    input: ONE,
    output: z.object({ organization_id: z.string(), deleted: z.literal(true), ...JWT_ACCEPTANCE }),
    async run(context, { organization_id }) {
      await deleteOrganization(context, organization_id)
      return withDeletion(context, { organization_id, deleted: true as const })
    },
  }),
]

type Needs<Name extends keyof Context['store']> = { readonly store: Pick<Context['store'], Name> }
type Changing<Name extends keyof Context['store']> = Needs<Name | 'findOrganization'> & Pick<Context, 'clock'>

/** Creates an organization without members (decision 0019). */
async function createOrganization(
  { store, clock, random }: Needs<'createOrganization'> & Pick<Context, 'clock' | 'random'>,
  name: string,
): Promise<OrganizationRecord> {
  const now = clock()
  const organization: OrganizationRecord = {
    id: mintOrganizationId(now, random),
    name,
    createdAt: now,
    disabledAt: undefined,
    notBefore: now,
  }
  await store.createOrganization(organization)
  return organization
}

/** Lists organizations, newest first. @throws AdminError when the limit is invalid */
function listOrganizations(
  { store }: Needs<'listOrganizations'>,
  page: PageRequest<OrganizationId>,
): Promise<Listed<OrganizationRecord, OrganizationId>> {
  return listPage(store.listOrganizations, page)
}

/** Finds an organization. @throws AdminError when there is no such organization */
export async function requireOrganization(
  { store }: Needs<'findOrganization'>,
  id: OrganizationId,
): Promise<OrganizationRecord> {
  const organization = await store.findOrganization(id)
  if (organization === undefined) throw noSuchOrganization(id)
  return organization
}

/** Renames an organization. The consent page shows the name. @throws AdminError when there is no such organization */
async function renameOrganization(
  context: Needs<'findOrganization' | 'renameOrganization'>,
  id: OrganizationId,
  name: string,
): Promise<OrganizationRecord> {
  await context.store.renameOrganization({ id, name })
  return requireOrganization(context, id)
}

/** Disables an organization: tokens for it are revoked, and no new tokens are issued. @throws AdminError when there is no such organization */
async function disableOrganization(
  context: Changing<'disableOrganization'>,
  id: OrganizationId,
): Promise<OrganizationRecord> {
  await context.store.disableOrganization({ id, now: context.clock() })
  return requireOrganization(context, id)
}

/** Enables an organization. Tokens issued until now stay revoked. @throws AdminError when there is no such organization */
async function enableOrganization(
  context: Changing<'enableOrganization'>,
  id: OrganizationId,
): Promise<OrganizationRecord> {
  await context.store.enableOrganization({ id, now: context.clock() })
  return requireOrganization(context, id)
}

/** Sets the not-before time of an organization to now. Clients can request new tokens. @throws AdminError when there is no such organization */
async function revokeTokensOfOrganization(
  context: Changing<'revokeOrganizationTokens'>,
  id: OrganizationId,
): Promise<OrganizationRecord> {
  await context.store.revokeOrganizationTokens({ id, now: context.clock() })
  return requireOrganization(context, id)
}

/** Deletes an organization with its memberships and installations. @throws AdminError when there is no such organization */
async function deleteOrganization({ store }: Needs<'deleteOrganization'>, id: OrganizationId): Promise<void> {
  if ((await store.deleteOrganization(id)) === 'unknown') throw noSuchOrganization(id)
}

function noSuchOrganization(id: OrganizationId): AdminError {
  return unknown(`There is no organization ${id}. See "grantor org list".`)
}
