import * as z from 'zod'
import type { Context } from '../ports/context.ts'
import {
  isReached,
  reachedOf,
  REACHES,
  type Reach,
  type Reached,
  type Standing,
  type Touched,
} from '../ports/operations/reach.ts'
import type { AdminCredentialId, UserId } from '../protocol/ids.ts'
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
  const reach = reachOf(administrator)
  const bounds = reach && { reach, refuse: () => outOfReach(administrator) }
  return { ...context, store: context.actingAs(administrator.actor, bounds), administrator }
}

/** Which accounts an administrator may touch; undefined: all. Your application (`delegate`) decides about its own users. */
function reachOf({ access, isLoopbackOnly: isTrial, organizationId }: Administrator): Reach | undefined {
  const isBelowWrite = access !== 'write' && access !== 'delegate'
  return isTrial || isBelowWrite || organizationId !== undefined ? { isTrial, isBelowWrite, organizationId } : undefined
}

/** The error for an order about an account that is out of reach. */
export function outOfReach({ access, organizationId }: Administrator): AdminError {
  if (organizationId !== undefined)
    return conflict(
      'The account has a role for the console, is in a protected group, belongs to another organization too, or was in use before it joined yours, so you cannot change it.',
    )
  if (access !== 'write')
    return conflict(
      `The account has a role for the console, or is in a protected group. Your access (${access}) does not reach it; write access does.`,
    )
  return outlivesTrial('change the account or the role of a person whose role counts elsewhere too')
}

/**
 * Refuses an order about an account with a role or of another organization, before anything is counted, or where the operation is about what
 * belongs to the account. The operations on the account itself decide once more, with the change. @throws AdminError
 */
export async function requireReach(context: TaskContext, userId: UserId, touched: Touched): Promise<void> {
  const reachOfUser = await findReaches(context, [userId])
  if (!isReached(reachOfUser(userId), touched)) throw outOfReach(context.administrator)
}

/** What of an account you may change, in an answer. */
export const REACH = z
  .enum(REACHES)
  .describe(
    'What of the user is in your reach, besides what your access allows: the account; what an organization or an app has of it; or nothing, because the account has a role or is in a protected group.',
  )

/** Reads what of accounts an administrator may change. */
export async function findReaches(
  { administrator, store }: TaskContext,
  userIds: readonly UserId[],
): Promise<(userId: UserId) => Reached> {
  if (reachOf(administrator) === undefined) return () => 'account'
  const accounts = await store.listAccounts([...new Set(userIds)])
  const reaches = new Map(accounts.map((account) => [account.userId, reachOver(administrator, account)]))
  return (userId) => reaches.get(userId) ?? 'nothing'
}

/** What of an account an administrator may change. */
export function reachOver(administrator: Administrator, account: Standing): Reached {
  return reachedOf(reachOf(administrator), account)
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
  { store, clock, secrets }: Context,
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
