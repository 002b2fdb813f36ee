import type { ClientId } from './ids.ts'
import type { Problem } from './validation.ts'

/**
 * Every refusal of the server. The code is what OAuth clients read, the slug is for logs and docs/errors.md, and the
 * description is fixed, so that an answer never tells more than its code.
 */
const REFUSALS = {
  invalid_request: {
    status: 400,
    description: 'The request lacks a parameter, repeats one, or has one that is malformed.',
    slugs: [
      'parameter_missing',
      'parameter_repeated',
      'parameter_malformed',
      'form_malformed',
      'two_client_authentications',
      'credentials_in_query',
      'user_mismatch',
      'organization_mismatch',
      'verifier_malformed',
      'insecure_transport',
      'headers_too_many',
      'grant_type_missing',
      'media_type_wrong',
      'body_too_large',
      'method_wrong',
      'path_unknown',
    ],
  },
  invalid_client: {
    status: 401,
    description: 'The client is unknown or did not authenticate as it registered.',
    slugs: [
      'client_missing',
      'client_unknown',
      'client_disabled',
      'client_secret_missing',
      'client_secret_wrong',
      'client_secret_unexpected',
      'basic_malformed',
      'api_credentials_wrong',
    ],
  },
  invalid_token: {
    status: 401,
    description: 'The registration access token is missing or not that of this client.',
    slugs: ['management_token_missing', 'management_token_wrong'],
  },
  invalid_grant: {
    status: 400,
    description: 'The authorization code, its verifier or the refresh token is invalid, expired, used or revoked.',
    slugs: [
      'code_unknown',
      'code_expired',
      'code_replayed',
      'code_of_another_client',
      'redirect_uri_mismatch',
      'verifier_missing',
      'verifier_wrong',
      'refresh_unknown',
      'refresh_of_another_client',
      'refresh_expired',
      'refresh_revoked',
      'refresh_reused',
      'resource_gone',
      'user_not_live',
    ],
  },
  unauthorized_client: {
    status: 400,
    description: 'The client is not registered for this, or may not do it.',
    slugs: ['grant_type_not_registered', 'client_public'],
  },
  unsupported_grant_type: {
    status: 422,
    description: 'The grant type is not one of authorization_code, client_credentials and refresh_token.',
    slugs: ['grant_type_unknown'],
  },
  invalid_scope: {
    status: 400,
    description: 'The scope is malformed or more than this client may ask for here.',
    slugs: ['scope_malformed', 'scope_not_allowed'],
  },
  invalid_target: {
    status: 400,
    description: 'The resource is not one that tokens are issued for here.',
    slugs: ['resource_malformed', 'resource_unknown', 'resource_not_granted'],
  },
  invalid_redirect_uri: {
    status: 400,
    description: 'A redirect URI is not allowed.',
    slugs: ['redirect_uri_not_allowed'],
  },
  invalid_client_metadata: {
    status: 400,
    description: 'The client metadata is malformed or not allowed.',
    slugs: [
      'metadata_malformed',
      'metadata_not_allowed',
      'json_malformed',
      'metadata_media_type',
      'metadata_too_large',
    ],
  },
  temporarily_unavailable: {
    status: 503,
    description: 'The server cannot answer now. Try again later.',
    slugs: [
      'too_many_requests',
      'store_unavailable',
      'password_queue_full',
      'overloaded',
      'shutting_down',
      'clock_differs',
      'client_changed_meanwhile',
    ],
  },
  server_error: {
    status: 500,
    description: 'The server met a condition it did not expect.',
    slugs: ['bug'],
  },
} as const

export type ErrorCode = keyof typeof REFUSALS
export type Slug<Code extends ErrorCode = ErrorCode> = (typeof REFUSALS)[Code]['slugs'][number]

/** What may differ from the table's row for one refusal. */
export interface RefusalOptions {
  readonly status?: number
  readonly problems?: readonly Problem[]
  readonly headers?: Readonly<Record<string, string>>
  readonly retryAfterSeconds?: number
}

/** A refusal on its way to the one place that turns it into bytes (RFC 6749 §5.2, RFC 7591 §3.2.2). */
export class OAuthError extends Error {
  readonly code: ErrorCode
  readonly slug: Slug
  readonly status: number
  readonly description: string
  readonly problems: readonly Problem[]
  readonly headers: Readonly<Record<string, string>>
  readonly retryAfterSeconds: number | undefined
  /** The client that was refused, for the log; set by whoever knows it. */
  client: ClientId | undefined

  constructor(code: ErrorCode, slug: Slug, options: RefusalOptions = {}) {
    super(`${code} (${slug})`)
    this.name = 'OAuthError'
    this.code = code
    this.slug = slug
    this.status = options.status ?? REFUSALS[code].status
    this.description = REFUSALS[code].description
    this.problems = options.problems ?? []
    this.headers = options.headers ?? {}
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** 400, or 422 where the shape is wrong (decisions.md D1). */
export function invalidRequest(slug: Slug<'invalid_request'>, options: RefusalOptions = {}): OAuthError {
  return new OAuthError('invalid_request', slug, options)
}

/** 401. RFC 6749 §5.2: with a challenge where the client used the Authorization header. */
export function invalidClient(slug: Slug<'invalid_client'>, usedBasic: boolean): OAuthError {
  const headers: Record<string, string> = usedBasic
    ? { 'WWW-Authenticate': 'Basic realm="grantor", charset="UTF-8"' }
    : {}
  return new OAuthError('invalid_client', slug, { headers })
}

/** 401. RFC 6750 §3.1: whoever presented nothing is not told that anything was wrong with it. */
export function invalidToken(slug: Slug<'invalid_token'>): OAuthError {
  const fault = slug === 'management_token_missing' ? '' : ', error="invalid_token"'
  return new OAuthError('invalid_token', slug, { headers: { 'WWW-Authenticate': `Bearer realm="grantor"${fault}` } })
}

export function invalidGrant(slug: Slug<'invalid_grant'>): OAuthError {
  return new OAuthError('invalid_grant', slug)
}

export function unauthorizedClient(slug: Slug<'unauthorized_client'>): OAuthError {
  return new OAuthError('unauthorized_client', slug)
}

export function invalidScope(slug: Slug<'invalid_scope'>, problems: readonly Problem[]): OAuthError {
  return new OAuthError('invalid_scope', slug, { problems })
}

/** RFC 8707 §2. */
export function invalidTarget(slug: Slug<'invalid_target'>, problems: readonly Problem[]): OAuthError {
  return new OAuthError('invalid_target', slug, { problems })
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
export function unavailable(slug: Slug<'temporarily_unavailable'>, retryAfterSeconds: number): OAuthError {
  return new OAuthError('temporarily_unavailable', slug, { retryAfterSeconds })
}

/** Every code with its slugs, for the documentation and the test that holds it true. */
export function listRefusals(): readonly {
  code: ErrorCode
  status: number
  description: string
  slugs: readonly string[]
}[] {
  return Object.entries(REFUSALS).map(([code, row]) => ({ code: code as ErrorCode, ...row }))
}
