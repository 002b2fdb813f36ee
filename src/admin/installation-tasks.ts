import * as z from 'zod'
import type { InstallationKey } from '../ports/operation-inputs.ts'
import { before, CLIENT_ID, ISO, ISO_OR_NULL, iso, isoOrNull, LIMIT, NEXT, ORGANIZATION_ID, SCOPE } from './fields.ts'
import {
  disableInstallation,
  enableInstallation,
  installClient,
  listInstallations,
  uninstallClient,
  type InstalledClient,
} from './installations.ts'
import { JWT_ACCEPTANCE, withDeletion, withJwtAcceptance } from './jwt-acceptance.ts'
import { defineTask, type Task, type TaskContext } from './task.ts'

const PATH = '/admin/v1/organizations/{organization_id}/installations'
const PLACE = z.object({ organization_id: ORGANIZATION_ID })
const ONE = PLACE.extend({ client_id: CLIENT_ID })

/** An installation in an answer. */
const INSTALLATION = z
  .object({
    organization_id: z.string(),
    client_id: z.string(),
    client_name: z.string().nullable(),
    scope: z.string().describe('The scopes that the client can have at most.'),
    acts_for_members: z.boolean().describe('Whether the client may also act for members of the organization.'),
    created_at: ISO,
    disabled_at: ISO_OR_NULL,
    not_before: ISO.describe(
      'The not-before time: tokens of the client for the organization issued earlier are revoked.',
    ),
  })
  .meta({ id: 'Installation' })

export type InstallationDocument = z.output<typeof INSTALLATION>

/** A task that changes one installation and returns the changed installation. */
function change(
  verb: string,
  summary: string,
  run: (context: TaskContext, key: InstallationKey) => Promise<InstalledClient>,
): Task<typeof ONE, typeof INSTALLATION> {
  return defineTask({
    name: `installation.${verb}`,
    method: 'POST',
    path: `${PATH}/{client_id}/${verb}`,
    access: 'write',
    anyClock: verb === 'disable',
    summary,
    input: ONE,
    output: INSTALLATION,
    run: async (context, { organization_id: organizationId, client_id: clientId }) =>
      describeInstallation(await run(context, { organizationId, clientId })),
  })
}

const ENDED_INSTALLATION = INSTALLATION.extend(JWT_ACCEPTANCE).meta({ id: 'EndedInstallation' })

export const INSTALLATION_TASKS: readonly Task[] = [
  defineTask({
    name: 'installation.list',
    method: 'GET',
    path: PATH,
    access: 'read',
    summary: 'List the clients that may act for an organization, newest clients first.',
    input: PLACE.extend({ limit: LIMIT, before: before(CLIENT_ID) }),
    output: z.object({ installations: z.array(INSTALLATION), next: NEXT }),
    async run(context, { organization_id, limit, before: start }) {
      const { rows, next } = await listInstallations(context, organization_id, { limit, before: start })
      return { installations: rows.map(describeInstallation), next: next ?? null }
    },
  }),
  defineTask({
    name: 'installation.install',
    method: 'PUT',
    path: `${PATH}/{client_id}`,
    access: 'write',
    summary: 'Install a client for an organization, replacing any earlier installation.',
    input: ONE.extend({
      scope: SCOPE.describe(
        'The scopes that the client can have at most, separated by spaces. Each is declared by an API.',
      ),
      acts_for_members: z.boolean().default(false).describe('Whether the client may also act for members.'),
    }),
    output: INSTALLATION,
    async run(context, { organization_id: organizationId, client_id: clientId, scope, acts_for_members }) {
      const allowed = { scope, actsForMembers: acts_for_members }
      return describeInstallation(await installClient(context, { organizationId, clientId }, allowed))
    },
  }),
  defineTask({
    ...change(
      'disable',
      'Disable an installation: tokens of the client for the organization stop working.',
      disableInstallation,
    ),
    output: ENDED_INSTALLATION,
    async run(context, { organization_id: organizationId, client_id: clientId }) {
      const installed = await disableInstallation(context, { organizationId, clientId })
      return withJwtAcceptance(context, describeInstallation(installed), installed.installation)
    },
  }),
  change('enable', 'Enable a disabled installation. Revoked tokens stay revoked.', enableInstallation),
  defineTask({
    name: 'installation.remove',
    method: 'DELETE',
    path: `${PATH}/{client_id}`,
    access: 'write',
    summary: 'Uninstall a client from an organization. Tokens of the client for the organization stop working.',
    input: ONE,
    output: z.object({
      organization_id: z.string(),
      client_id: z.string(),
      removed: z.literal(true),
      ...JWT_ACCEPTANCE,
    }),
    async run(context, { organization_id, client_id }) {
      await uninstallClient(context, { organizationId: organization_id, clientId: client_id })
      return withDeletion(context, { organization_id, client_id, removed: true as const })
    },
  }),
]

function describeInstallation({ installation, client }: InstalledClient): InstallationDocument {
  const { organizationId, clientId, scope, actsForMembers, createdAt, disabledAt, notBefore } = installation
  return {
    organization_id: organizationId,
    client_id: clientId,
    client_name: client?.metadata.descriptive.client_name ?? null,
    scope,
    acts_for_members: actsForMembers,
    created_at: iso(createdAt),
    disabled_at: isoOrNull(disabledAt),
    not_before: iso(notBefore),
  }
}
