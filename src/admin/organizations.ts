import type { Context } from '../ports/context.ts'
import type { OrganizationRecord } from '../ports/records/organization.ts'
import { mintOrganizationId, type OrganizationId } from '../protocol/ids.ts'
import { unknown, type AdminError } from './admin-error.ts'
import { listPage, type Listed } from './page.ts'

type Needs<Name extends keyof Context['store']> = { readonly store: Pick<Context['store'], Name> }
type Changing<Name extends keyof Context['store']> = Needs<Name | 'findOrganization'> & Pick<Context, 'clock'>

/** Creates an organization without members (decision 0019). */
export async function createOrganization(
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
export function listOrganizations(
  { store }: Needs<'listOrganizations'>,
  page: { readonly before: OrganizationId | undefined; readonly limit: number },
): Promise<Listed<OrganizationRecord, OrganizationId>> {
  return listPage(store.listOrganizations, page)
}

/** Finds an organization. @throws AdminError when there is no such organization */
export async function findOrganization(
  { store }: Needs<'findOrganization'>,
  id: OrganizationId,
): Promise<OrganizationRecord> {
  const organization = await store.findOrganization(id)
  if (organization === undefined) throw noSuchOrganization(id)
  return organization
}

/** Renames an organization. The consent page shows the name. @throws AdminError when there is no such organization */
export async function renameOrganization(
  context: Needs<'findOrganization' | 'renameOrganization'>,
  id: OrganizationId,
  name: string,
): Promise<OrganizationRecord> {
  await context.store.renameOrganization({ id, name })
  return findOrganization(context, id)
}

/** Disables an organization: tokens for it are revoked, and no new tokens are issued. @throws AdminError when there is no such organization */
export async function disableOrganization(
  context: Changing<'disableOrganization'>,
  id: OrganizationId,
): Promise<OrganizationRecord> {
  await context.store.disableOrganization({ id, now: context.clock() })
  return findOrganization(context, id)
}

/** Enables an organization. Tokens issued until now stay revoked. @throws AdminError when there is no such organization */
export async function enableOrganization(
  context: Changing<'enableOrganization'>,
  id: OrganizationId,
): Promise<OrganizationRecord> {
  await context.store.enableOrganization({ id, now: context.clock() })
  return findOrganization(context, id)
}

/** Sets the not-before time of an organization to now. Clients can request new tokens. @throws AdminError when there is no such organization */
export async function revokeTokensOfOrganization(
  context: Changing<'expireOrganization'>,
  id: OrganizationId,
): Promise<OrganizationRecord> {
  await context.store.expireOrganization({ id, now: context.clock() })
  return findOrganization(context, id)
}

/** Deletes an organization with its memberships and installations. @throws AdminError when there is no such organization */
export async function deleteOrganization({ store }: Needs<'deleteOrganization'>, id: OrganizationId): Promise<void> {
  if ((await store.deleteOrganization(id)) === 'unknown') throw noSuchOrganization(id)
}

function noSuchOrganization(id: OrganizationId): AdminError {
  return unknown(`There is no organization ${id}. See "grantor org list".`)
}
