import type { Context } from '../ports/context.ts'
import type { InstallationKey } from '../ports/operation-inputs.ts'
import type { ClientRecord } from '../ports/records/client.ts'
import type { InstallationRecord } from '../ports/records/organization.ts'
import type { ClientId, OrganizationId } from '../protocol/ids.ts'
import { scopeTokens, type Scope } from '../protocol/scope.ts'
import { conflict, unknown, type AdminError } from './admin-error.ts'
import { showClient } from './clients.ts'
import { findOrganization } from './organizations.ts'
import { listPage, type Listed } from './page.ts'

type Needs<Name extends keyof Context['store']> = { readonly store: Pick<Context['store'], Name> }
type Changing<Name extends keyof Context['store']> = Needs<Name | 'findClient' | 'findInstallation'>

/** An installation, with the client. */
export interface InstalledClient {
  readonly installation: InstallationRecord
  /** undefined: the client was deleted at the same time. */
  readonly client: ClientRecord | undefined
}

/**
 * Installs a client, which can then act for the organization without a user (decision 0019). It replaces an earlier
 * installation, whose tokens are revoked.
 *
 * @throws AdminError when there is no such organization or client, the client cannot act without a user, or no API declares a scope
 */
export async function installClient(
  context: Needs<'findClient' | 'findInstallation' | 'findOrganization' | 'install' | 'listApis'> &
    Pick<Context, 'clock' | 'settings'>,
  key: InstallationKey,
  allowed: Pick<InstallationRecord, 'scope' | 'actsForMembers'>,
): Promise<InstalledClient> {
  const { store, clock } = context
  await findOrganization(context, key.organizationId)
  const client = await showClient(context, key.clientId)
  if (client.secretHash === undefined || !client.metadata.grantTypes.includes('client_credentials')) {
    throw conflict(`The client ${client.id} did not register for client_credentials, so it cannot act without a user.`)
  }
  await requireDeclared(context, allowed.scope)
  const now = clock()
  await store.install({ ...key, ...allowed, createdAt: now, disabledAt: undefined, notBefore: now })
  return findInstallation(context, key)
}

/** Lists installations, newest clients first. @throws AdminError when there is no such organization, or the limit is invalid */
export async function listInstallations(
  context: Needs<'findClient' | 'findOrganization' | 'listInstallations'>,
  organizationId: OrganizationId,
  page: { readonly before: ClientId | undefined; readonly limit: number },
): Promise<Listed<InstalledClient, ClientId>> {
  const { store } = context
  await findOrganization(context, organizationId)
  const { rows, next } = await listPage(
    async (slice) =>
      (await store.listInstallations({ ...slice, organizationId })).map((one) => ({ ...one, id: one.clientId })),
    page,
  )
  return { rows: await Promise.all(rows.map((installation) => withClient(context, installation))), next }
}

/** Disables an installation: tokens of the client for the organization are revoked, and no new tokens are issued. @throws AdminError when the client is not installed there */
export async function disableInstallation(
  context: Changing<'disableInstallation'> & Pick<Context, 'clock'>,
  key: InstallationKey,
): Promise<InstalledClient> {
  await context.store.disableInstallation({ ...key, now: context.clock() })
  return findInstallation(context, key)
}

/** Enables an installation: the client can request new tokens for the organization. @throws AdminError when the client is not installed there */
export async function enableInstallation(
  context: Changing<'enableInstallation'> & Pick<Context, 'clock'>,
  key: InstallationKey,
): Promise<InstalledClient> {
  await context.store.enableInstallation({ ...key, now: context.clock() })
  return findInstallation(context, key)
}

/** Uninstalls a client. Its tokens for the organization are revoked. @throws AdminError when the client is not installed there */
export async function uninstallClient({ store }: Needs<'uninstall'>, key: InstallationKey): Promise<void> {
  if ((await store.uninstall(key)) === 'unknown') throw notInstalled(key)
}

/** Rejects a mistyped scope, which would never be granted (decision 0006). */
async function requireDeclared(
  { store, settings }: Needs<'listApis'> & Pick<Context, 'settings'>,
  scope: Scope,
): Promise<void> {
  const apis = await store.listApis()
  if (settings.isLoopbackIssuer && apis.length === 0) return
  const declared = new Set(apis.flatMap(({ scopes }) => scopes.map(({ name }) => name)))
  const missing = scopeTokens(scope).filter((token) => !declared.has(token))
  if (missing.length === 0) return
  throw conflict(`No API declares the scope ${missing.join(', ')}. See "grantor api list".`)
}

async function findInstallation(
  context: Needs<'findClient' | 'findInstallation'>,
  key: InstallationKey,
): Promise<InstalledClient> {
  const installation = await context.store.findInstallation(key)
  if (installation === undefined) throw notInstalled(key)
  return withClient(context, installation)
}

async function withClient({ store }: Needs<'findClient'>, installation: InstallationRecord): Promise<InstalledClient> {
  return { installation, client: await store.findClient(installation.clientId) }
}

function notInstalled({ clientId, organizationId }: InstallationKey): AdminError {
  return unknown(
    `The client ${clientId} is not installed for the organization ${organizationId}. See "grantor org installations ${organizationId}".`,
  )
}
