import { listedNameOf } from '../../protocol/client/identity.ts'
import * as z from 'zod'
import type { Context } from '../../ports/context.ts'
import type { InstallationKey } from '../../ports/operations/organization.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import type { InstallationRecord } from '../../ports/records/organization.ts'
import { isConfidential } from '../../protocol/client/authentication.ts'
import { listedIdOf } from '../../protocol/client/identifier.ts'
import type { ClientId, OrganizationId } from '../../protocol/ids.ts'
import { NO_SCOPE, scopeTokens, type Scope } from '../../protocol/token/scope.ts'
import { conflict, unknown, type AdminError } from '../admin-error.ts'
import { changeTasks } from '../change-tasks.ts'
import { requireClient } from '../client/client.ts'
import { ISO, ISO_OR_NULL, iso, isoOrNull } from '../../base/iso.ts'
import { CLIENT_ID, LIMIT, NEXT, ORGANIZATION_ID, SCOPE, pageStart } from '../fields.ts'
import { requireOrganization } from './organization.ts'
import { findNames, NAMES } from '../names.ts'
import { listPage, type Listed, type PageRequest } from '../page.ts'
import { requireLasting } from '../administrators.ts'
import { tableOf } from '../../answers/table.ts'
import { defineTask, type Task } from '../task.ts'
import { forShell } from '../../base/shell.ts'

/** An installation, with the client. */
interface InstalledClient {
  readonly installation: InstallationRecord
  /** undefined: the client was deleted at the same time. */
  readonly client: ClientRecord | undefined
}

const PATH = '/admin/v1/organizations/{organization_id}/installations'
const PLACE = z.object({ organization_id: ORGANIZATION_ID })
const ONE = PLACE.extend({ client_id: CLIENT_ID })

const { row, table } = tableOf<InstalledClient>()

/** An installation in an answer. */
const INSTALLATION = table({
  organization_id: row(z.string(), ({ installation }) => installation.organizationId),
  client_id: row(z.string(), ({ installation, client }) =>
    client === undefined ? installation.clientId : listedIdOf(client),
  ),
  client_name: row(
    z.string().nullable().describe('With the names in other languages: `Wall (de: Wand)`.'),
    ({ client }) => (client && listedNameOf(client.metadata)) ?? null,
  ),
  scope: row(
    z.string().describe('The scopes that the client can have at most.'),
    ({ installation }) => installation.scope,
  ),
  acts_for_members: row(
    z.boolean().describe('Whether the client may also act for members of the organization.'),
    ({ installation }) => installation.actsForMembers,
  ),
  created_at: row(ISO, ({ installation }) => iso(installation.createdAt)),
  disabled_at: row(ISO_OR_NULL, ({ installation }) => isoOrNull(installation.disabledAt)),
  not_before: row(
    ISO.describe('The not-before time: tokens of the client for the organization issued earlier are revoked.'),
    ({ installation }) => iso(installation.notBefore),
  ),
})
const INSTALLATION_DOCUMENT = z.object(INSTALLATION.shape).meta({ id: 'Installation' })

export type InstallationDocument = z.output<typeof INSTALLATION_DOCUMENT>

const NEW_INSTALLATION_DOCUMENT = INSTALLATION_DOCUMENT.extend({
  previous: INSTALLATION_DOCUMENT.nullable().describe('The installation that was replaced; null: there was none.'),
  notice: z.string().nullable().describe('A warning about the installation; null: none.'),
}).meta({ id: 'NewInstallation' })

export type NewInstallationDocument = z.output<typeof NEW_INSTALLATION_DOCUMENT>

const INSTALLING = 'let a client act for an organization'

const { change, end, remove } = changeTasks({
  noun: 'installation',
  path: `${PATH}/{client_id}`,
  extent: 'organization',
  access: 'write',
  input: ONE,
  output: INSTALLATION_DOCUMENT,
  find: (context, one) => requireInstallation(context, keyOf(one)),
  missing: (one) => notInstalled(keyOf(one)),
  describe: INSTALLATION.show,
  endOf: ({ installation }) => installation,
})

export const INSTALLATION_TASKS: readonly Task[] = [
  defineTask({
    name: 'installation.list',
    method: 'GET',
    path: PATH,
    access: 'read',
    extent: 'organization',
    summary: 'List the clients that may act for an organization, newest clients first.',
    input: PLACE.extend({ limit: LIMIT, before: pageStart(CLIENT_ID) }),
    output: z.object({ installations: z.array(INSTALLATION_DOCUMENT), next: NEXT }),
    async run(context, { organization_id, ...page }) {
      const { rows, next } = await listInstallations(context, organization_id, page)
      return { installations: rows.map(INSTALLATION.show), next }
    },
  }),
  defineTask({
    name: 'client.list-installations',
    method: 'GET',
    path: '/admin/v1/clients/{client_id}/installations',
    access: 'read',
    summary: 'List the organizations for which a client may act, newest organizations first.',
    input: z.object({ client_id: CLIENT_ID, limit: LIMIT, before: pageStart(ORGANIZATION_ID) }),
    output: z.object({ installations: z.array(INSTALLATION_DOCUMENT), names: NAMES, next: NEXT }),
    async run(context, { client_id, ...page }) {
      const client = await requireClient(context, client_id)
      const { rows, next } = await listPage(
        async (slice) =>
          (await context.store.listInstallationsOfClient({ ...slice, clientId: client.id })).map((one) => ({
            ...one,
            id: one.organizationId,
          })),
        page,
      )
      return {
        installations: rows.map((installation) => INSTALLATION.show({ installation, client })),
        names: await findNames(context, { organizations: rows.map(({ organizationId }) => organizationId) }),
        next,
      }
    },
  }),
  defineTask({
    name: 'installation.install',
    method: 'PUT',
    path: `${PATH}/{client_id}`,
    access: 'write',
    extent: 'organization',
    summary: 'Install a client for an organization, replacing any earlier installation.',
    needsRecentSignIn: true,
    input: ONE.extend({
      scope: SCOPE.describe(
        'The scopes that the client can have at most, separated by spaces. Each is declared by an API. Empty: none, so that APIs which check scopes refuse its tokens.',
      ),
      acts_for_members: z.boolean().default(false).describe('Whether the client may also act for members.'),
    }),
    output: NEW_INSTALLATION_DOCUMENT,
    async run(context, { scope, acts_for_members: actsForMembers, ...one }) {
      requireLasting(context.administrator, INSTALLING)
      const previous = await context.store.findInstallation(keyOf(one))
      const installed = await installClient(context, keyOf(one), { scope, actsForMembers })
      return {
        ...INSTALLATION.show(installed),
        previous: previous === undefined ? null : INSTALLATION.show({ ...installed, installation: previous }),
        notice: scope === NO_SCOPE ? WITHOUT_SCOPE : null,
      }
    },
  }),
  end(
    'disable',
    'Disable an installation: tokens of the client for the organization stop working.',
    ({ store, clock }, one) => store.disableInstallation({ ...keyOf(one), now: clock() }),
  ),
  change(
    'enable',
    'Enable a disabled installation. Revoked tokens stay revoked.',
    ({ administrator, store, clock }, one) => {
      requireLasting(administrator, INSTALLING)
      return store.enableInstallation({ ...keyOf(one), now: clock() })
    },
  ),
  remove(
    'remove',
    'Uninstall a client from an organization. Tokens of the client for the organization stop working.',
    ({ store }, one) => store.uninstall(keyOf(one)),
  ),
]

/** A client may need nothing but the organization in its tokens. */
const WITHOUT_SCOPE =
  'The installation has no scope: the client gets tokens for the organization, and they have no scope either. Install it again with the scopes that it needs.'

function keyOf({ organization_id: organizationId, client_id: clientId }: z.output<typeof ONE>): InstallationKey {
  return { organizationId, clientId }
}

/**
 * Installs a client, which can then act for the organization without a user (decision 0005). It replaces an earlier
 * installation, whose tokens are revoked. The errors tell an administrator of one organization whether a client exists, as an installation
 * does and as the authorization endpoint tells any browser: a `client_id` is no secret, also a chosen one (RFC 6749 §2.2).
 *
 * @throws AdminError when there is no such organization or client, the client cannot act without a user, or no API declares a scope
 */
async function installClient(
  context: Context,
  key: InstallationKey,
  allowed: Pick<InstallationRecord, 'scope' | 'actsForMembers'>,
): Promise<InstalledClient> {
  const { store, clock } = context
  await requireOrganization(context, key.organizationId)
  const client = await requireClient(context, key.clientId)
  if (!isConfidential(client) || !client.metadata.grant_types.includes('client_credentials')) {
    throw conflict(`The client ${client.id} did not register for client_credentials, so it cannot act without a user.`)
  }
  await requireDeclared(context, allowed.scope)
  const now = clock()
  await store.install({ ...key, ...allowed, createdAt: now, disabledAt: undefined, notBefore: now })
  return requireInstallation(context, key)
}

/** Lists installations, newest clients first. @throws AdminError when there is no such organization */
async function listInstallations(
  context: Context,
  organizationId: OrganizationId,
  page: PageRequest<ClientId>,
): Promise<Listed<InstalledClient, ClientId>> {
  const { store } = context
  await requireOrganization(context, organizationId)
  const { rows, next } = await listPage(
    async (slice) =>
      (await store.listInstallations({ ...slice, organizationId })).map((one) => ({ ...one, id: one.clientId })),
    page,
  )
  return { rows: await Promise.all(rows.map((installation) => withClient(context, installation))), next }
}

/** Rejects a mistyped scope, which would never be granted (decision 0006). */
async function requireDeclared({ store, settings }: Context, scope: Scope): Promise<void> {
  const apis = await store.listApis()
  if (settings.isLoopbackIssuer && apis.length === 0) return
  const declared = new Set(apis.flatMap(({ scopes }) => scopes.map(({ name }) => name)))
  const missing = scopeTokens(scope).filter((token) => !declared.has(token))
  if (missing.length === 0) return
  throw conflict(`No API declares the scope ${missing.join(', ')}. See "grantor api list".`)
}

async function requireInstallation(context: Context, key: InstallationKey): Promise<InstalledClient> {
  const installation = await context.store.findInstallation(key)
  if (installation === undefined) throw notInstalled(key)
  return withClient(context, installation)
}

async function withClient({ store }: Context, installation: InstallationRecord): Promise<InstalledClient> {
  return { installation, client: await store.findClient(installation.clientId) }
}

function notInstalled({ clientId, organizationId }: InstallationKey): AdminError {
  return unknown(
    `The client ${clientId} is not installed for the organization ${organizationId}. See "grantor org installations ${forShell(organizationId)}".`,
  )
}
