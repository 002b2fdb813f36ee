import * as z from 'zod'
import type { OrganizationRecord } from '../ports/records/organization.ts'
import type { OrganizationId } from '../protocol/ids.ts'
import { before, ISO, ISO_OR_NULL, iso, isoOrNull, LIMIT, NAME, NEXT, ORGANIZATION_ID } from './fields.ts'
import {
  createOrganization,
  deleteOrganization,
  disableOrganization,
  enableOrganization,
  revokeTokensOfOrganization,
  findOrganization,
  listOrganizations,
  renameOrganization,
} from './organizations.ts'
import { JWT_ACCEPTANCE, withDeletion, withJwtAcceptance } from './jwt-acceptance.ts'
import { defineTask, type Task, type TaskContext } from './task.ts'

const PATH = '/admin/v1/organizations'
const ONE = z.object({ organization_id: ORGANIZATION_ID })
const ORGANIZATION_NAME = NAME.describe('The name, as the consent page shows it.')

/** An organization in an answer. */
const ORGANIZATION = z
  .object({
    organization_id: z.string(),
    name: z.string(),
    created_at: ISO,
    disabled_at: ISO_OR_NULL,
    not_before: ISO.describe('The not-before time: tokens for the organization issued earlier are revoked.'),
  })
  .meta({ id: 'Organization' })

export type OrganizationDocument = z.output<typeof ORGANIZATION>

/**
 * A task that changes one organization and returns the changed organization. Administrators of the organization itself may
 * not disable or enable it.
 */
function change(
  verb: string,
  summary: string,
  run: (context: TaskContext, id: OrganizationId) => Promise<OrganizationRecord>,
): Task<typeof ONE, typeof ORGANIZATION> {
  return defineTask({
    name: `organization.${verb}`,
    method: 'POST',
    path: `${PATH}/{organization_id}/${verb}`,
    access: 'write',
    anyClock: verb === 'disable',
    serverOnly: true,
    summary,
    input: ONE,
    output: ORGANIZATION,
    run: async (context, { organization_id }) => describeOrganization(await run(context, organization_id)),
  })
}

const ENDED_ORGANIZATION = ORGANIZATION.extend(JWT_ACCEPTANCE).meta({ id: 'EndedOrganization' })

/** A change that revokes the tokens for the organization. */
function end(
  verb: string,
  summary: string,
  run: (context: TaskContext, id: OrganizationId) => Promise<OrganizationRecord>,
): Task<typeof ONE, typeof ENDED_ORGANIZATION> {
  return defineTask({
    ...change(verb, summary, run),
    serverOnly: true,
    output: ENDED_ORGANIZATION,
    async run(context, { organization_id }) {
      const organization = await run(context, organization_id)
      return withJwtAcceptance(context, describeOrganization(organization), organization)
    },
  })
}

export const ORGANIZATION_TASKS: readonly Task[] = [
  defineTask({
    name: 'organization.list',
    method: 'GET',
    path: PATH,
    access: 'read',
    summary: 'List the organizations, newest first.',
    input: z.object({ limit: LIMIT, before: before(ORGANIZATION_ID) }),
    output: z.object({ organizations: z.array(ORGANIZATION), next: NEXT }),
    async run(context, { limit, before: start }) {
      const { rows, next } = await listOrganizations(context, { limit, before: start })
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
    output: ORGANIZATION,
    run: async (context, { name }) => describeOrganization(await createOrganization(context, name)),
  }),
  defineTask({
    name: 'organization.show',
    method: 'GET',
    path: `${PATH}/{organization_id}`,
    access: 'read',
    summary: 'Show an organization.',
    input: ONE,
    output: ORGANIZATION,
    run: async (context, { organization_id }) => describeOrganization(await findOrganization(context, organization_id)),
  }),
  defineTask({
    name: 'organization.rename',
    method: 'PATCH',
    path: `${PATH}/{organization_id}`,
    access: 'write',
    // A misleading name could make a member of two organizations act for the wrong one.
    serverOnly: true,
    summary: 'Rename an organization.',
    input: ONE.extend({ name: ORGANIZATION_NAME }),
    output: ORGANIZATION,
    run: async (context, { organization_id, name }) =>
      describeOrganization(await renameOrganization(context, organization_id, name)),
  }),
  end(
    'disable',
    'Disable an organization: tokens for it are revoked, and no new tokens are issued.',
    disableOrganization,
  ),
  change('enable', 'Enable a disabled organization. Revoked tokens stay revoked.', enableOrganization),
  // Administrators of the organization may revoke each grant, so after an intrusion they may revoke all tokens at once.
  {
    ...end(
      'revoke-tokens',
      'Revoke all tokens for an organization. Clients can request new ones.',
      revokeTokensOfOrganization,
    ),
    serverOnly: false,
  },
  defineTask({
    name: 'organization.delete',
    method: 'DELETE',
    path: `${PATH}/{organization_id}`,
    access: 'write',
    serverOnly: true,
    summary: 'Delete an organization with its memberships and installations. Tokens for it stop working.',
    input: ONE,
    output: z.object({ organization_id: z.string(), deleted: z.literal(true), ...JWT_ACCEPTANCE }),
    async run(context, { organization_id }) {
      await deleteOrganization(context, organization_id)
      return withDeletion(context, { organization_id, deleted: true as const })
    },
  }),
]

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
