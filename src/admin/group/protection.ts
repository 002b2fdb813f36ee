import * as z from 'zod'
import { forShell } from '../../base/shell.ts'
import type { GroupId } from '../../protocol/access/group.ts'
import { type AdminError, conflict, conflictIn } from '../admin-error.ts'
import type { TaskContext } from '../task.ts'

/** That the operator is sure of a prepared account. */
export const CONFIRMED = z
  .boolean()
  .optional()
  .describe(
    'Do so in a protected group although an administrator for a trial, or with less than write access, prepared the account of a member, and may be able to sign in to it.',
  )

/** @throws AdminError for an administrator of one organization */
export function requireServer({ administrator }: TaskContext): void {
  if (administrator.organizationId !== undefined) throw protectorNeeded()
}

/**
 * Refuses an order of an administrator with bounds about a protected group: it would put accounts out of the reach of others, or back into it, or outlive
 * the role of the administrator. @throws AdminError
 */
export function requireProtector(context: TaskContext): void {
  requireServer(context)
  if (context.administrator.isLoopbackOnly) throw protectorNeeded()
}

/** The error for an administrator with bounds. */
export function protectorNeeded(): AdminError {
  return conflict(
    'Only an administrator of the server, whose role counts for more than a trial, says whether a group is protected, adds members to a protected group, or deletes it.',
  )
}

/** The error for a group that becomes protected with an account as `preparedAccount` says. */
export function preparedMember(id: GroupId): AdminError {
  return conflictIn(
    'confirmed',
    `An administrator for a trial, or with less than write access, created the account of a member of the group, set its password or its address, or made a link for it, and may be able to sign in to it. Who is in the group: grantor group members ${forShell(id)}. Remove the member, or be sure of all and confirm (--yes).`,
    'false',
  )
}
