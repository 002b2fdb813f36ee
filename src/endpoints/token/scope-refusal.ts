import type { Context } from '../../ports/context.ts'
import { invalidScope, type OAuthError, type Slug } from '../../protocol/errors.ts'
import type { ClientId, OrganizationId, UserId } from '../../protocol/ids.ts'
import { unacceptable } from '../../protocol/validation.ts'

/** Why a client does not get a scope, in the words of docs/apis.md. */
const WORDS = {
  not_declared: 'not declared',
  not_registered: 'not registered by the client',
  not_approved: 'not approved for the client',
  not_installed: 'not part of the installation',
  not_requested: 'given on request only',
} as const

export type ScopeReason = keyof typeof WORDS

/** A request that is refused because of its scopes: the same for the client, the log and the audit. */
export interface ScopeRefusal {
  readonly reason: Exclude<Slug<'invalid_scope'>, 'scope_malformed'>
  readonly description: string
  /** The scopes by reason, or the APIs; fewer and shorter than in the description, because the audit keeps them. */
  readonly details: Readonly<Record<string, string>>
}

/** How many scopes or APIs a text names, and characters of each; the text says how many more there are. */
interface Room {
  readonly count: number
  readonly length: number
}

const ANSWER: Room = { count: 8, length: 100 }
/** Callers choose what stands there, and any caller can have it written. */
const AUDIT: Room = { count: 3, length: 40 }
/** APIs are named as their operator declared them. */
const AUDIT_OF_APIS: Room = { ...ANSWER, count: AUDIT.count }

/** Nothing remains of the scope for the APIs `bare`, or, where that is empty, nothing at all. */
export function nothingRemains(withheld: ReadonlyMap<string, ScopeReason>, bare: readonly string[]): ScopeRefusal {
  const forApis = bare.length === 0 ? '' : ` for ${named(bare, ANSWER)}`
  const reasons = [...withheld].map(([token, reason]) => `${shorten(token, ANSWER)} (${WORDS[reason]})`)
  const why = reasons.length === 0 ? 'no scope of it was requested or registered' : list(reasons, ANSWER)
  return {
    reason: 'scope_not_allowed',
    description: `The client gets no scope${forApis}: ${why}.`,
    details: byReason(withheld),
  }
}

/** A refresh requests these beyond the grant. RFC 6749 §6. */
export function moreThanGranted(tokens: readonly string[]): ScopeRefusal {
  return {
    reason: 'scope_not_allowed',
    description: `The request has more scope than was granted: ${named(tokens, ANSWER)}.`,
    details: { not_granted: named(tokens, AUDIT) },
  }
}

/** Without `resource`, the scopes must name one API. RFC 9068 §3. */
export function ambiguousAudience(apis: readonly string[]): ScopeRefusal {
  return {
    reason: 'audience_ambiguous',
    description: `The request names no resource, and its scopes belong to several APIs: ${named(apis, ANSWER)}.`,
    details: { apis: named(apis, AUDIT_OF_APIS) },
  }
}

/** Where an API has no scopes, only a person's consent limits who gets a token. */
export function consentNeeded(apis: readonly string[]): ScopeRefusal {
  return {
    reason: 'scope_not_allowed',
    description: `Tokens for an API without scopes need the consent of a person: ${named(apis, ANSWER)}.`,
    details: { apis: named(apis, AUDIT_OF_APIS) },
  }
}

/** Whose request is refused, as far as that is known. */
interface About {
  readonly clientId: ClientId
  readonly userId: UserId | undefined
  readonly organizationId: OrganizationId | undefined
}

/** The refusal at the token endpoint; the audit records it. RFC 6749 §5.2. */
export function scopeError(
  context: Pick<Context, 'report'>,
  about: About,
  refusal: ScopeRefusal,
  sent: string | undefined,
): OAuthError {
  reportScope(context, about, refusal)
  const problems = [unacceptable('body', 'scope', 'This client may not have this scope.', sent)]
  return invalidScope(refusal.reason, problems, refusal.description)
}

export function reportScope(
  context: Pick<Context, 'report'>,
  { clientId, userId, organizationId }: About,
  { reason, details }: ScopeRefusal,
): void {
  context.report({ event: 'scope.refused', clientId, userId, organizationId, details: { reason, ...details } })
}

function byReason(withheld: ReadonlyMap<string, ScopeReason>): Readonly<Record<string, string>> {
  const groups = Map.groupBy(withheld.keys(), (token) => withheld.get(token) ?? 'not_declared')
  return Object.fromEntries([...groups].map(([reason, tokens]) => [reason, named(tokens, AUDIT)]))
}

function named(texts: readonly string[], room: Room): string {
  return list(
    texts.map((text) => shorten(text, room)),
    room,
  )
}

function list(texts: readonly string[], { count }: Room): string {
  const more = texts.length - count
  return [...texts.slice(0, count), ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
}

/** RFC 6749 §5.2: a description has neither quotes nor backslashes. A scope has none; a resource may have both. */
function shorten(text: string, { length }: Room): string {
  const escaped = text.replaceAll('"', '%22').replaceAll('\\', '%5C')
  return escaped.length <= length ? escaped : `${escaped.slice(0, length)}...`
}
