import type { Context } from '../ports/context.ts'
import type { AdminCredentialRecord } from '../ports/records/admin.ts'
import { after } from '../protocol/brand.ts'
import {
  mintAdminCredentialId,
  parseAdminCredentialId,
  type AdminCredentialId,
  type OrganizationId,
} from '../protocol/ids.ts'
import { sameText } from '../protocol/secrets.ts'
import { AdminError, unknown } from './admin-error.ts'
import { listPage, type Listed } from './page.ts'
import type { Access, Administrator, TaskContext } from './task.ts'

/** The lifetime of credentials in days. All credentials expire. */
export const ADMIN_DAYS = { most: 365, usual: 90 } as const
const DAY_MS = 24 * 60 * 60 * 1000

/** The operator who runs commands beside the server, and who has access to the store. */
export const COMMAND_LINE: Administrator = { actor: 'command-line', access: 'write', organizationId: undefined }

/** The context of an administrator's tasks: every change is recorded with its actor (threats.md ADM-07). */
export function asAdministrator(context: Context, administrator: Administrator): TaskContext {
  return { ...context, store: context.actingAs(administrator.actor), administrator }
}

/** New credentials, with the token that is shown once. */
export interface NewAdminCredential {
  readonly credential: AdminCredentialRecord
  readonly token: string
}

type Needs<Name extends keyof Context['store']> = { readonly store: Pick<Context['store'], Name> }

/** Creates credentials for an administrator. @throws AdminError when the days are invalid, or there is no such organization */
export async function createAdminCredential(
  {
    store,
    clock,
    random,
    secrets,
  }: Needs<'createAdminCredential' | 'findOrganization'> & Pick<Context, 'clock' | 'random' | 'secrets'>,
  wish: {
    readonly name: string
    readonly access: Access
    readonly organizationId: OrganizationId | undefined
    readonly days: number
  },
): Promise<NewAdminCredential> {
  const { access, organizationId } = wish
  if (organizationId !== undefined && (await store.findOrganization(organizationId)) === undefined) {
    throw unknown(`There is no organization ${organizationId}. See "grantor org list".`)
  }
  const now = clock()
  const id = mintAdminCredentialId(now, random)
  const { token, hash } = secrets.mint('admin-token', id, random)
  const credential: AdminCredentialRecord = {
    id,
    name: wish.name,
    secretHash: hash,
    access,
    organizationId,
    createdAt: now,
    expiresAt: after(now, requireDays(wish.days) * DAY_MS),
    revokedAt: undefined,
  }
  await store.createAdminCredential(credential)
  return { credential, token }
}

/** Lists credentials, newest first, including expired and revoked ones. @throws AdminError when the limit or `before` is invalid */
export function listAdminCredentials(
  { store }: Needs<'listAdminCredentials'>,
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<Listed<AdminCredentialRecord, AdminCredentialId>> {
  const before = page.before === undefined ? undefined : requireId(page.before)
  return listPage(store.listAdminCredentials, { before, limit: page.limit })
}

/** Revokes credentials on all nodes before it returns. @throws AdminError when there are no such credentials */
export async function revokeAdminCredential(
  { store, clock }: Needs<'findAdminCredential' | 'revokeAdminCredential'> & Pick<Context, 'clock'>,
  text: string,
): Promise<AdminCredentialRecord> {
  const id = requireId(text)
  await store.revokeAdminCredential({ id, now: clock() })
  const credential = await store.findAdminCredential(id)
  if (credential === undefined) throw noSuchCredential(id)
  return credential
}

/** The result of the authentication of an administrator. */
export type Authentication =
  | { readonly kind: 'administrator'; readonly administrator: Administrator }
  /** The token is expired or revoked, or its organization is disabled or deleted. */
  | { readonly kind: 'dead'; readonly actor: AdminCredentialId }
  /** The server never issued the token, or it is not a token of an administrator. */
  | { readonly kind: 'unknown' }

/** Authenticates an administrator. It reads the store for every request, so that a revocation takes effect at once. */
export async function authenticateAdministrator(
  { store, clock, secrets }: Needs<'findAdminCredential' | 'findOrganization'> & Pick<Context, 'clock' | 'secrets'>,
  token: string,
): Promise<Authentication> {
  const opened = secrets.verify('admin-token', token)
  if (opened === undefined) return { kind: 'unknown' }
  const credential = await store.findAdminCredential(opened.id as AdminCredentialId)
  if (credential === undefined || !sameText(credential.secretHash, opened.hash)) return { kind: 'unknown' }
  const { id, access, organizationId, revokedAt, expiresAt } = credential
  if (revokedAt !== undefined || expiresAt <= clock()) return { kind: 'dead', actor: id }
  if (organizationId !== undefined) {
    const organization = await store.findOrganization(organizationId)
    if (organization === undefined || organization.disabledAt !== undefined) return { kind: 'dead', actor: id }
  }
  return { kind: 'administrator', administrator: { actor: id, access, organizationId } }
}

function requireDays(days: number): number {
  if (Number.isInteger(days) && days >= 1 && days <= ADMIN_DAYS.most) return days
  throw new AdminError(`Credentials are valid for 1 to ${ADMIN_DAYS.most} days.`)
}

function requireId(text: string): AdminCredentialId {
  const id = parseAdminCredentialId(text)
  if (id === undefined) throw new AdminError(`"${text}" is not the id of credentials. See "grantor admin list".`)
  return id
}

function noSuchCredential(id: string): AdminError {
  return unknown(`There are no credentials ${id}. See "grantor admin list".`)
}
