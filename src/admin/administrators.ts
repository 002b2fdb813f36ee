import type { Context, StoreNeeds } from '../ports/context.ts'
import type { AdminCredentialId } from '../protocol/ids.ts'
import { conflict, type AdminError } from './admin-error.ts'
import { sameText } from '../protocol/secrets.ts'
import type { Administrator, TaskContext } from './task.ts'

/** The operator who runs commands beside the server, and who has access to the store. */
export const COMMAND_LINE: Administrator = {
  actor: 'command-line',
  access: 'write',
  organizationId: undefined,
  isLoopbackOnly: false,
  holder: undefined,
}

/** A server that changes something by itself: the account of a first start, and clients that it removes. */
export const SERVER: Administrator = { ...COMMAND_LINE, actor: 'server' }

/** The program that Grantor is part of. */
export const LIBRARY: Administrator = { ...COMMAND_LINE, actor: 'library' }

/** The context of an administrator's tasks: every change is recorded with its actor (threats.md ADM-07). */
export function asAdministrator(context: Context, administrator: Administrator): TaskContext {
  return { ...context, store: context.actingAs(administrator.actor), administrator }
}

/**
 * Refuses what would outlive the role of the administrator: a role for a trial ends when the issuer leaves the loopback address, and must
 * not make one, or credentials, that go on (threats.md CON-19).
 *
 * @throws AdminError
 */
export function requireLasting({ isLoopbackOnly }: Pick<Administrator, 'isLoopbackOnly'>, what: string): void {
  if (isLoopbackOnly) throw outlivesTrial(what)
}

/**
 * The error for a change of an account whose role also counts outside the trial: the trial administrator could take that role over, or end
 * it. The store decides, because the role may change meanwhile.
 */
export function roleOutlivesTrial(): AdminError {
  return outlivesTrial('change the account or the role of a person whose role counts elsewhere too')
}

function outlivesTrial(what: string): AdminError {
  return conflict(
    `Your role counts only while the issuer is a loopback address, so you cannot ${what}. The command line can.`,
  )
}

/** The result of the authentication of an administrator. */
export type Authentication =
  | { readonly kind: 'administrator'; readonly administrator: Administrator }
  /** The token is expired or revoked, or its organization is disabled or deleted. */
  | { readonly kind: 'inactive'; readonly actor: AdminCredentialId }
  /** The server never issued the token, or it is not a token of an administrator. */
  | { readonly kind: 'unknown' }

/** Authenticates an administrator. It reads the store for every request, so that a revocation takes effect at once. */
export async function authenticateAdministrator(
  {
    store,
    clock,
    secrets,
  }: Pick<Context, 'clock' | 'secrets'> & StoreNeeds<'findAdminCredential' | 'findOrganization'>,
  token: string,
): Promise<Authentication> {
  const opened = secrets.verify('admin-token', token) ?? secrets.verify('delegate-token', token)
  if (opened === undefined) return { kind: 'unknown' }
  const credential = await store.findAdminCredential(opened.id as AdminCredentialId)
  if (credential === undefined || !sameText(credential.secretHash, opened.hash)) return { kind: 'unknown' }
  const { id, access, organizationId, organizationSince, revokedAt, expiresAt } = credential
  if (revokedAt !== undefined || expiresAt <= clock()) return { kind: 'inactive', actor: id }
  if (organizationId !== undefined) {
    const organization = await store.findOrganization(organizationId)
    const isSame = organization !== undefined && organization.createdAt === organizationSince
    if (!isSame || organization.disabledAt !== undefined) return { kind: 'inactive', actor: id }
  }
  return {
    kind: 'administrator',
    administrator: { actor: id, access, organizationId, isLoopbackOnly: false, holder: undefined },
  }
}
