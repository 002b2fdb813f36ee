import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { authenticateAdministrator } from '../../admin/administrators.ts'
import { isOfOrganization, type Administrator, type Task } from '../../admin/task.ts'
import type { Context } from '../../ports/context.ts'
import { invalidToken, OAuthError, tooManyRequests, type Slug } from '../../protocol/errors.ts'
import { isLoopbackHost } from '../../protocol/loopback.ts'
import { problem } from '../../protocol/validation.ts'
import type { PlainRoute } from './routes.ts'

/**
 * Who asks: a Bearer token in the Authorization header, and nowhere else (RFC 6750 §2.1). Failures are counted by network,
 * as those of clients are; a token that is good is never refused for that.
 *
 * @throws OAuthError invalid_token, temporarily_unavailable
 */
export async function authenticate(
  context: Context,
  message: IncomingMessage,
  network: string,
): Promise<Administrator> {
  const token = /^Bearer +([A-Za-z0-9_-]+) *$/i.exec(message.headers.authorization ?? '')?.[1]
  if (token === undefined) {
    const isMissing = message.headers.authorization === undefined
    throw refuse(context, network, isMissing ? 'admin_token_missing' : 'admin_token_wrong')
  }
  const found = await authenticateAdministrator(context, token)
  switch (found.kind) {
    case 'administrator':
      return found.administrator
    case 'unknown':
      throw refuse(context, network, 'admin_token_wrong')
    case 'dead': {
      const refusal = refuse(context, network, 'admin_token_dead')
      recordRefusal(context, found.actor, refusal)
      throw refusal
    }
  }
}

function refuse({ budgets, clock }: Context, network: string, slug: Slug<'invalid_token'>): OAuthError {
  const outcome = budgets.take('client-authentication', network, clock())
  return outcome.isWithin ? invalidToken(slug) : tooManyRequests('client-authentication', outcome)
}

/**
 * Whether the administrator may do a task at this address. Of one organization: only what is below it (threats.md ADM-03);
 * another organization is answered as one that does not exist, whether or not it does.
 *
 * @throws OAuthError insufficient_scope, not_found
 */
export function authorizeTask(
  context: Context,
  { actor, access, organizationId }: Administrator,
  task: Task,
  parameters: Readonly<Record<string, string>>,
): void {
  if (organizationId !== undefined && !isOfOrganization(task)) {
    throw refuseAccess(context, actor, 'admin_of_one_organization')
  }
  if (task.access === 'write' && access !== 'write') throw refuseAccess(context, actor, 'admin_may_only_read')
  if (organizationId === undefined || parameters['organization_id'] === organizationId) return
  const msg = `There is no organization ${parameters['organization_id']}.`
  const loc = ['path', 'organization_id']
  const problems = [problem(loc, 'value_error', msg, parameters['organization_id'], {})]
  throw new OAuthError('not_found', 'object_unknown', { problems })
}

/** Where one of them stands a proxy asks for somebody else. */
const FORWARDING = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']

/**
 * Whether a plain route needs no credentials: machines of this very machine ask without. The Host header must say so too,
 * or a page in a browser here could read it under a name of its own that resolves to this machine; and no proxy may stand
 * between, or all the world would seem to ask from here.
 */
export function isOpen({ access }: PlainRoute, isLoopback: boolean, headers: IncomingHttpHeaders): boolean {
  const { host } = headers
  if (access !== 'machine' || !isLoopback || host === undefined) return false
  if (FORWARDING.some((name) => headers[name] !== undefined)) return false
  const url = URL.parse(`http://${host}`)
  return url !== null && isLoopbackHost(url.hostname)
}

/** What a plain route tells is about everybody, so nobody of one organization may have it. @throws OAuthError insufficient_scope */
export function authorizePlain(
  context: Context,
  { actor, organizationId }: Administrator,
  { access }: PlainRoute,
): void {
  if (access === 'machine' && organizationId !== undefined) {
    throw refuseAccess(context, actor, 'admin_of_one_organization')
  }
}

function refuseAccess(context: Context, actor: string, slug: Slug<'insufficient_scope'>): OAuthError {
  const headers = { 'WWW-Authenticate': 'Bearer realm="grantor", error="insufficient_scope"' }
  const refusal = new OAuthError('insufficient_scope', slug, { headers })
  recordRefusal(context, actor, refusal)
  return refusal
}

/** Somebody holds credentials of ours and tried what they are not good for. Beyond the budget nothing is written down. */
function recordRefusal({ report }: Context, actor: string, { slug, status }: OAuthError): void {
  if (status !== 429) report({ event: 'admin.refused', actor, details: { reason: slug } })
}
