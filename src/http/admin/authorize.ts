import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { authenticateAdministrator } from '../../admin/administrators.ts'
import { recordRefusal, refuseAccess } from '../../admin/authorize-task.ts'
import type { Administrator } from '../../admin/task.ts'
import type { Context } from '../../ports/context.ts'
import { invalidToken, tooManyRequests, type OAuthError, type Reason } from '../../protocol/errors.ts'
import { isLoopbackHost } from '../../protocol/uri/loopback.ts'
import { payingNetwork } from '../network.ts'
import { scriptSiteOf } from '../request.ts'
import type { PlainRoute } from './routes.ts'

/**
 * Authenticates the administrator by a Bearer token in the Authorization header, and nowhere else (RFC 6750 §2.1). Failures
 * are counted by network, as those of clients are. A valid token is never refused because of them.
 *
 * @throws OAuthError invalid_token, temporarily_unavailable
 */
export async function authenticate(
  context: Context,
  message: IncomingMessage,
  network: string,
): Promise<Administrator> {
  const payer = payingNetwork(network, scriptSiteOf(message.headers))
  const token = /^Bearer +([A-Za-z0-9_-]+) *$/i.exec(message.headers.authorization ?? '')?.[1]
  if (token === undefined) {
    const isMissing = message.headers.authorization === undefined
    throw refuse(context, payer, isMissing ? 'admin_token_missing' : 'admin_token_wrong')
  }
  const found = await authenticateAdministrator(context, token)
  switch (found.kind) {
    case 'administrator':
      return found.administrator
    case 'unknown':
      throw refuse(context, payer, 'admin_token_wrong')
    case 'inactive': {
      const refusal = refuse(context, payer, 'admin_token_inactive')
      recordRefusal(context, found.actor, refusal)
      throw refusal
    }
  }
}

function refuse({ budgets, clock }: Context, network: string, reason: Reason<'invalid_token'>): OAuthError {
  const outcome = budgets.take('client-authentication', network, clock())
  return outcome.isWithin ? invalidToken(reason) : tooManyRequests('client-authentication', outcome)
}

/** Any of these headers means that a proxy forwarded the request. */
export const FORWARDING = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']

/**
 * Whether a plain route needs no credentials: programs on this machine need none, and send none. The Host header must name this
 * machine too. Otherwise a web page could read the route through its own host name that resolves to this machine (DNS rebinding).
 * The request must not come through a proxy, because then every caller would seem to be on this machine.
 */
export function isOpen({ access }: PlainRoute, isLoopback: boolean, headers: IncomingHttpHeaders): boolean {
  const { host, authorization } = headers
  if (access !== 'machine' || !isLoopback || host === undefined || authorization !== undefined) return false
  if (FORWARDING.some((name) => headers[name] !== undefined)) return false
  const url = URL.parse(`http://${host}`)
  return url !== null && isLoopbackHost(url.hostname)
}

/**
 * Routes for machines expose server-wide data, so credentials of one organization are refused. Credentials for the metrics may
 * read them, and no other route.
 *
 * @throws OAuthError insufficient_scope
 */
export function authorizePlain(
  context: Context,
  { actor, access, organizationId }: Administrator,
  route: PlainRoute,
): void {
  if (access === 'delegate') throw refuseAccess(context, actor, 'admin_of_sign_in')
  if (access === 'metrics' && route.access !== 'machine') {
    throw refuseAccess(context, actor, 'admin_may_only_read_metrics')
  }
  if (route.access === 'machine' && organizationId !== undefined) {
    throw refuseAccess(context, actor, 'admin_of_one_organization')
  }
}
