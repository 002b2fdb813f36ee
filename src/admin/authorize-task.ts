import { problem } from '../base/validation.ts'
import type { Context } from '../ports/context.ts'
import { OAuthError, type Reason } from '../protocol/errors.ts'
import { noSuchOrganization } from './admin-error.ts'
import { mayPerform, type Administrator, type Task } from './task.ts'

/**
 * Checks whether the administrator may run a task at this path. An administrator of one organization may only run tasks below
 * that organization (threats.md ADM-03). For any other organization the answer is the same as for one that does not exist.
 *
 * @throws OAuthError insufficient_scope, not_found
 */
export function authorizeTask(
  context: Context,
  { actor, access, organizationId }: Administrator,
  task: Task,
  parameters: Readonly<Record<string, string>>,
): void {
  if (access === 'metrics') throw refuseAccess(context, actor, 'admin_may_only_read_metrics')
  if ((access === 'delegate') !== (task.access === 'delegate')) {
    throw refuseAccess(context, actor, 'admin_of_sign_in')
  }
  if (organizationId !== undefined && task.extent !== 'organization') {
    throw refuseAccess(context, actor, 'admin_of_one_organization')
  }
  if (!mayPerform({ access }, task))
    throw refuseAccess(context, actor, access === 'read' ? 'admin_may_only_read' : 'admin_access_too_narrow')
  if (organizationId === undefined || parameters['organization_id'] === organizationId) return
  const other = parameters['organization_id'] ?? ''
  const { message } = noSuchOrganization(other)
  const problems = [problem(['path', 'organization_id'], 'value_error', message, other, {})]
  throw new OAuthError('not_found', 'object_unknown', { problems })
}

export function refuseAccess(context: Context, actor: string, reason: Reason<'insufficient_scope'>): OAuthError {
  const headers = { 'WWW-Authenticate': 'Bearer realm="grantor", error="insufficient_scope"' }
  const refusal = new OAuthError('insufficient_scope', reason, { headers })
  recordRefusal(context, actor, refusal)
  return refusal
}

/** Records that credentials were used for something that they do not allow. Beyond the budget nothing is recorded. */
export function recordRefusal({ report }: Context, actor: string, { reason, status }: OAuthError): void {
  if (status !== 429) report({ event: 'admin.refused', actor, details: { reason } })
}
