import type { ClientId } from './ids.ts'
import { REFUSALS } from './refusals.ts'
import type { Problem } from './validation.ts'

export type ErrorCode = keyof typeof REFUSALS
export type Reason<Code extends ErrorCode = ErrorCode> = (typeof REFUSALS)[Code]['reasons'][number]

/** What may differ from the table's row for one refusal. */
export interface RefusalOptions {
  readonly status?: number
  /** Instead of the table's text: what it names is the caller's own or public. */
  readonly explanation?: string | undefined
  readonly problems?: readonly Problem[]
  readonly headers?: Readonly<Record<string, string>>
  readonly retryAfterSeconds?: number
}

/** A refusal on its way to the one place that turns it into bytes (RFC 6749 §5.2, RFC 7591 §3.2.2). */
export class OAuthError extends Error {
  readonly code: ErrorCode
  readonly reason: Reason
  readonly status: number
  readonly description: string
  /** The description where it says more than the code; it is logged too. */
  readonly explanation: string | undefined
  readonly problems: readonly Problem[]
  readonly headers: Readonly<Record<string, string>>
  readonly retryAfterSeconds: number | undefined
  /** The client that was refused, for the log; set by whoever knows it. */
  client: ClientId | undefined
  /** The id of the API credentials that were presented with a wrong secret, for the log. */
  credential: string | undefined

  constructor(code: ErrorCode, reason: Reason, options: RefusalOptions = {}) {
    super(`${code} (${reason})`)
    this.name = 'OAuthError'
    this.code = code
    this.reason = reason
    this.status = options.status ?? REFUSALS[code].status
    this.explanation = options.explanation
    this.description = options.explanation ?? REFUSALS[code].description
    this.problems = options.problems ?? []
    this.headers = options.headers ?? {}
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** 400, or 422 where the shape is wrong (decisions.md D1). */
export function invalidRequest(reason: Reason<'invalid_request'>, options: RefusalOptions = {}): OAuthError {
  return new OAuthError('invalid_request', reason, options)
}

/** 401. RFC 6749 §5.2: with a challenge where the client used the Authorization header. */
export function invalidClient(reason: Reason<'invalid_client'>, usedBasic: boolean): OAuthError {
  const headers: Record<string, string> = usedBasic
    ? { 'WWW-Authenticate': 'Basic realm="grantor", charset="UTF-8"' }
    : {}
  return new OAuthError('invalid_client', reason, { headers })
}

/** 401. RFC 6750 §3.1: whoever presented nothing is not told that anything was wrong with it. */
export function invalidToken(reason: Reason<'invalid_token'>): OAuthError {
  const fault = reason.endsWith('_missing') ? '' : ', error="invalid_token"'
  return new OAuthError('invalid_token', reason, { headers: { 'WWW-Authenticate': `Bearer realm="grantor"${fault}` } })
}

export function invalidGrant(reason: Reason<'invalid_grant'>): OAuthError {
  return new OAuthError('invalid_grant', reason)
}

export function unauthorizedClient(reason: Reason<'unauthorized_client'>): OAuthError {
  return new OAuthError('unauthorized_client', reason)
}

export function invalidScope(
  reason: Reason<'invalid_scope'>,
  problems: readonly Problem[],
  explanation: string | undefined,
): OAuthError {
  return new OAuthError('invalid_scope', reason, { problems, explanation })
}

/** RFC 8707 §2. */
export function invalidTarget(reason: Reason<'invalid_target'>, problems: readonly Problem[]): OAuthError {
  return new OAuthError('invalid_target', reason, { problems })
}

/** A budget that is spent. */
export interface SpentBudget {
  /** Requests per minute. */
  readonly limit: number
  readonly remaining: number
  readonly resetSeconds: number
}

/**
 * 429: the caller asked too often. JSON and `temporarily_unavailable`, so that clients keep their tokens (clients.md); with
 * the headers of draft-ietf-httpapi-ratelimit-headers.
 */
export function tooManyRequests(budget: string, { limit, remaining, resetSeconds }: SpentBudget): OAuthError {
  const headers = {
    'RateLimit-Policy': `"${budget}";q=${limit};w=60`,
    RateLimit: `"${budget}";r=${remaining};t=${resetSeconds}`,
  }
  const options = { status: 429, retryAfterSeconds: resetSeconds, headers }
  return new OAuthError('temporarily_unavailable', 'too_many_requests', options)
}

/** 503. */
export function unavailable(reason: Reason<'temporarily_unavailable'>, retryAfterSeconds: number): OAuthError {
  return new OAuthError('temporarily_unavailable', reason, { retryAfterSeconds })
}

/** Every code with its reasons, for the documentation and the test that holds it true. */
export function listRefusals(): readonly {
  code: ErrorCode
  status: number
  description: string
  reasons: readonly string[]
}[] {
  return Object.entries(REFUSALS).map(([code, row]) => ({ code: code as ErrorCode, ...row }))
}
