import type { Context, OutcomeEvent } from '../../ports/context.ts'
import type { CookieChanges, Reply } from '../../ports/message.ts'
import { viewDestination } from '../../clients/destination.ts'
import type { AllowedClient } from '../../clients/evaluate-client.ts'
import { AUTHORIZATION_FAULTS, type AuthorizationFault } from '../../protocol/authorization/request.ts'
import type { AuthorizationAnswer, AuthorizationErrorCode } from '../../protocol/authorization/response.ts'
import { OAuthError, type Reason } from '../../protocol/errors.ts'
import type { ClientId, UserId } from '../../protocol/ids.ts'
import { REFUSALS } from '../../protocol/refusals.ts'
import { isPrivateUse, type RedirectUri } from '../../protocol/uri/redirect-uri.ts'
import { formTarget, viewClient } from './client-view.ts'
import { hasAllowedHost } from './remembered-consent.ts'
import { respond, returnPath, type ResponseTarget } from './response.ts'
import { reportScope, type ScopeRefusal } from '../../requests/scope-refusal.ts'

/** A request whose client and redirect URI have been checked, so errors may be sent there. RFC 6749 §4.1.2.1. */
export interface Trusted extends AllowedClient, ResponseTarget {
  readonly redirectUri: RedirectUri
  readonly isInFrame: boolean
  /** `prompt=none`. Not known, and false, until the request has been read. */
  readonly isSilent: boolean
}

/** Why a request is refused: `error` for the client, `reason` for the log. */
export interface Fault {
  readonly error: AuthorizationErrorCode
  readonly reason: AuthorizationFault
  /** Set if the request is refused because of its scopes. */
  readonly refusal?: ScopeRefusal
  /** Set if the text of the table does not say enough. It has at most what `describeUri` returns of the request. */
  readonly description?: string
  /** The user read it on a page that names the client, and sent the browser back. */
  readonly isRead?: true
}

/** The same for an organization that the user does not belong to and for one that does not exist (threats.md AUTH-22). */
export const NOT_A_MEMBER: Fault = { error: 'access_denied', reason: 'organization_of_others' }

/** RFC 9126 §6. */
export const NOT_PUSHED: Fault = { error: 'invalid_request', reason: 'par_required' }

export const NO_SESSION: Fault = { error: 'login_required', reason: 'no_session' }

/** OpenID Connect Core 1.0 §3.1.2.1: the user of `id_token_hint` is not the one who signed in. */
export const OTHER_USER: Fault = { error: 'login_required', reason: 'user_differs' }

/**
 * Returns the error to the client (decision 0022).
 *
 * The browser is redirected at once if the policy allows it for the client, if this user has allowed the client with this host before
 * (`hasAllowedHost`), or if the setting says so. OpenID Connect Core 1.0 §3.1.2.6: an application that renews silently needs that. Otherwise the user sees a page with a link that names the host: anyone can register a client, and an automatic
 * redirect would make the server an open redirector. A frame cannot show that page, and its redirect moves no tab, so `answerInFrame`.
 */
export async function refuse(
  context: Context,
  trusted: Trusted,
  userId: UserId | undefined,
  fault: Fault,
  cookies: CookieChanges = {},
): Promise<Reply> {
  const { error, reason, refusal } = fault
  const { client, rights, redirectUri } = trusted
  const answer = describeError(fault)
  const { description } = answer
  if (refusal !== undefined) reportScope(context, { clientId: client.id, userId, organizationId: undefined }, refusal)
  const event: OutcomeEvent = { event: 'authorization.refused', client: client.id, user: userId, reason, description }
  const isAllowed =
    rights.mayReceiveErrors ||
    context.settings.redirectErrors ||
    (userId !== undefined && (await hasAllowedHost(context, client, userId, redirectUri)))
  if (isAllowed) return { ...respond(context, trusted, answer, cookies), event }
  const shown = answerInFrame(trusted, fault)
  if (shown !== undefined) return { ...respond(context, trusted, shown, cookies), event }
  const view = viewClient({ client, rights }, viewDestination(redirectUri), context.clock())
  const back = returnPath(context, trusted, answer)
  return {
    kind: 'page',
    status: 400,
    page: { kind: 'return', problem: error, notes: { error, reason, explanation: description }, client: view, back },
    ...(back.kind === 'form' ? { formTarget: formTarget(redirectUri) } : {}),
    cookies,
    event,
  }
}

/**
 * What a client gets in a frame, whose user has not allowed it: the same for every user (threats.md AUTH-27). Without `prompt=none`
 * a browser without a session gets a page, so every other one does. undefined: the page; also where the redirect would open an app.
 */
function answerInFrame({ isInFrame, isSilent, redirectUri }: Trusted, fault: Fault): ErrorAnswer | undefined {
  if (!isInFrame || isPrivateUse(redirectUri)) return undefined
  if (!ABOUT_USER.has(fault.reason)) return describeError(fault)
  return isSilent ? describeError(NO_SESSION) : undefined
}

/** The faults that depend on who is signed in. */
const ABOUT_USER: ReadonlySet<AuthorizationFault> = new Set<AuthorizationFault>([
  'access_rule',
  'authentication_too_weak',
  'authentication_unmet',
  'no_consent',
  'no_session',
  'organization_of_others',
  'user_differs',
])

type ErrorAnswer = Extract<AuthorizationAnswer, { readonly kind: 'error' }>

export function describeError(fault: Fault): ErrorAnswer {
  return { kind: 'error', error: fault.error, description: explain(fault) }
}

/** The `error_description` of a fault. */
export function explain({ reason, refusal, description }: Fault): string {
  return refusal?.description ?? description ?? AUTHORIZATION_FAULTS[reason]
}

/**
 * The error for a client that sent the request itself, and no browser, if token requests have its code too. A refusal of scopes is recorded
 * in the audit.
 */
export function findKeptError(context: Context, clientId: ClientId, fault: Fault): OAuthError | undefined {
  const { error, reason, refusal } = fault
  if (refusal !== undefined) reportScope(context, { clientId, userId: undefined, organizationId: undefined }, refusal)
  const code = KEPT_CODES.find((kept) => kept === error)
  return code !== undefined && isReasonOf(code, reason)
    ? new OAuthError(code, reason, { explanation: explain(fault) })
    : undefined
}

const KEPT_CODES = ['invalid_scope', 'invalid_target', 'unauthorized_client'] as const

function isReasonOf(code: (typeof KEPT_CODES)[number], reason: string): reason is Reason<typeof code> {
  return Object.hasOwn(REFUSALS[code].reasons, reason)
}
