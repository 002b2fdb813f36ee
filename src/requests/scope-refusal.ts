import type { Context } from '../ports/context.ts'
import { AUTHORIZATION_FAULTS } from '../protocol/authorization/request.ts'
import { invalidScope, type OAuthError, type Reason } from '../protocol/errors.ts'
import type { ClientId, OrganizationId, UserId } from '../protocol/ids.ts'
import { NO_SCOPE, scopeTokens, type Scope } from '../protocol/token/scope.ts'
import { unacceptable } from '../base/validation.ts'

/** Why a client does not get a scope, as docs/apis.md lists it. */
const REASONS = {
  not_declared: 'not declared',
  not_registered: 'not registered by the client',
  not_approved: 'not approved for the client',
  not_installed: 'not part of the installation',
  not_requested: 'given on request only',
  not_asserted: 'not in the assertion',
  not_exchanged: 'not given in exchange for the token',
  not_authenticated: 'requires another sign-in of the user',
  access_rule: 'not given for this user',
} as const

export type ScopeReason = keyof typeof REASONS

/** Why a request is refused because of its scopes: for the client, the log and the audit. */
export interface ScopeRefusal {
  readonly reason: Exclude<Reason<'invalid_scope'>, 'scope_malformed'>
  readonly description: string
  /** The scopes by reason, or the APIs. The list is shorter than in the description, because the audit stores it. */
  readonly details: Readonly<Record<string, string>>
}

/** The maximum number of scopes or APIs in a text, and of characters of each. The text says how many more there are. */
interface TextLimit {
  readonly count: number
  readonly length: number
}

const RESPONSE: TextLimit = { count: 8, length: 100 }
/** Any caller can cause an entry, and chooses its text. */
const AUDIT: TextLimit = { count: 3, length: 40 }
/** The operator chooses the names of APIs, so they may be longer. */
const AUDIT_OF_APIS: TextLimit = { ...RESPONSE, count: AUDIT.count }

/** No scope remains for the APIs `bare`. If `bare` is empty, no scope remains at all. */
export function nothingRemains(withheld: ReadonlyMap<string, ScopeReason>, bare: readonly string[]): ScopeRefusal {
  const forApis = bare.length === 0 ? '' : ` for ${named(bare, RESPONSE)}`
  const dropped = [...withheld].map(([token, reason]) => `${shorten(token, RESPONSE)} (${REASONS[reason]})`)
  const why = dropped.length === 0 ? 'none of its scopes was requested or registered' : list(dropped, RESPONSE)
  return {
    reason: 'scope_not_allowed',
    description: `The client gets no scope${forApis}: ${why}.`,
    details: byReason(withheld),
  }
}

/** Access rules leave nothing for the user, or nothing of an API. A request without scope counts as one that asks who the user is. */
export function leftOutByRules(leftOut: Scope, resources: readonly string[]): ScopeRefusal {
  const tokens = leftOut === NO_SCOPE && resources.length === 0 ? ['openid'] : scopeTokens(leftOut)
  return nothingRemains(new Map(tokens.map((token) => [token, 'access_rule'])), resources)
}

/** A refresh requests scopes that were not granted. RFC 6749 §6. */
export function moreThanGranted(tokens: readonly string[]): ScopeRefusal {
  return {
    reason: 'scope_not_allowed',
    description: `The request has more scope than was granted: ${named(tokens, RESPONSE)}.`,
    details: { not_granted: named(tokens, AUDIT) },
  }
}

/** Without `resource`, all scopes must belong to one API. RFC 9068 §3. */
export function ambiguousAudience(apis: readonly string[]): ScopeRefusal {
  return {
    reason: 'audience_ambiguous',
    description: `The request names no resource, and its scopes belong to several APIs: ${named(apis, RESPONSE)}.`,
    details: { apis: named(apis, AUDIT_OF_APIS) },
  }
}

/** The scopes belong to APIs that are the issuer now, and so get no tokens. */
export function apiOfIssuer(apis: readonly string[]): ScopeRefusal {
  return {
    reason: 'scope_not_allowed',
    description: `The scopes belong to an API that has the address of this server: ${named(apis, RESPONSE)}.`,
    details: { apis: named(apis, AUDIT_OF_APIS) },
  }
}

/** The scopes and the resources are more than a token has, which has to be short enough for headers and for the endpoints that read it. */
export function tooMuchForToken(): ScopeRefusal {
  return {
    reason: 'token_too_long',
    description: AUTHORIZATION_FAULTS.token_too_long,
    details: {},
  }
}

/** The error for a token that is too long by what else it states, as an exchanged one by the APIs that act. */
export function tokenTooLong(scope: string): OAuthError {
  const { reason, description } = tooMuchForToken()
  return invalidScope(reason, [unacceptable('body', 'scope', 'The token would be too long.', scope)], description)
}

/** If an API has no scopes, only a user's consent limits which clients get a token for it. */
export function consentNeeded(apis: readonly string[]): ScopeRefusal {
  return {
    reason: 'scope_not_allowed',
    description: `Tokens for an API without scopes need the consent of a user: ${named(apis, RESPONSE)}.`,
    details: { apis: named(apis, AUDIT_OF_APIS) },
  }
}

/** The client of the refused request, with the user and the organization if they are known. */
interface About {
  readonly clientId: ClientId
  readonly userId: UserId | undefined
  readonly organizationId: OrganizationId | undefined
}

/** Returns the error for the token endpoint, and records it in the audit. RFC 6749 §5.2. */
export function scopeError(
  context: Context,
  about: About,
  refusal: ScopeRefusal,
  sent: string | undefined,
): OAuthError {
  reportScope(context, about, refusal)
  const problems = [unacceptable('body', 'scope', 'This client may not have this scope.', sent)]
  return invalidScope(refusal.reason, problems, refusal.description)
}

export function reportScope(
  context: Context,
  { clientId, userId, organizationId }: About,
  { reason, details }: ScopeRefusal,
): void {
  context.report({ event: 'scope.refused', clientId, userId, organizationId, details: { reason, ...details } })
}

function byReason(withheld: ReadonlyMap<string, ScopeReason>): Readonly<Record<string, string>> {
  const groups = Map.groupBy(withheld.keys(), (token) => withheld.get(token) ?? 'not_declared')
  return Object.fromEntries([...groups].map(([reason, tokens]) => [reason, named(tokens, AUDIT)]))
}

function named(texts: readonly string[], limit: TextLimit): string {
  return list(
    texts.map((text) => shorten(text, limit)),
    limit,
  )
}

function list(texts: readonly string[], { count }: TextLimit): string {
  const more = texts.length - count
  return [...texts.slice(0, count), ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
}

/** RFC 6749 §5.2: a description contains no quotes or backslashes. Scopes have none. Resources may contain both. */
function shorten(text: string, { length }: TextLimit): string {
  const escaped = text.replaceAll('"', '%22').replaceAll('\\', '%5C')
  return escaped.length <= length ? escaped : `${escaped.slice(0, length)}...`
}
