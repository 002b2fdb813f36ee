import { AUTHENTICATION_EXPLANATIONS } from './authentication-reasons.ts'
import type { ClientId, UserId } from './ids.ts'
import { REFUSALS } from './refusals.ts'
import type { TokenType } from './token/access-token.ts'
import { PROOF_ALGORITHMS } from './token/dpop-proof.ts'
import type { Problem } from '../base/validation.ts'

export type ErrorCode = keyof typeof REFUSALS
export type Reason<Code extends ErrorCode = ErrorCode> = {
  [Name in Code]: keyof (typeof REFUSALS)[Name]['reasons']
}[Code]

/** Values that replace or complete those of the refusal's row in the table. */
export interface RefusalOptions {
  readonly status?: number
  /** Replaces the table's text. It may name only what the caller sent or what is public. */
  readonly explanation?: string | undefined
  readonly problems?: readonly Problem[]
  readonly headers?: Readonly<Record<string, string>>
  readonly retryAfterSeconds?: number
  /** For the log. */
  readonly cause?: unknown
  /** For the log alone: what the server compared (`compared`), or the reason behind one that says nothing about accounts. */
  readonly detail?: string | undefined
  readonly user?: UserId | undefined
}

/** A refused request. One place turns it into a response (RFC 6749 §5.2, RFC 7591 §3.2.2). */
export class OAuthError extends Error {
  readonly code: ErrorCode
  readonly reason: Reason
  readonly status: number
  description: string
  /** The description of this one refusal, if it differs from the table's; it is also logged. */
  readonly explanation: string | undefined
  /** For the log alone. */
  readonly detail: string | undefined
  readonly problems: readonly Problem[]
  readonly headers: Readonly<Record<string, string>>
  readonly retryAfterSeconds: number | undefined
  /** The client whose request was refused, for the log. Set where the client becomes known. */
  client: ClientId | undefined
  /** The user of the code or refresh token of the request, for the log. */
  readonly user: UserId | undefined
  /** The id of the API credentials of the request, also if their secret was wrong, for the log. */
  credential: string | undefined

  constructor(code: ErrorCode, reason: Reason, options: RefusalOptions = {}) {
    super(`${code} (${reason})`, { cause: options.cause })
    this.name = 'OAuthError'
    this.code = code
    this.reason = reason
    this.status = options.status ?? REFUSALS[code].status
    this.explanation = options.explanation
    this.description = options.explanation ?? REFUSALS[code].description
    this.detail = options.detail
    this.problems = options.problems ?? []
    this.headers = options.headers ?? {}
    this.user = options.user
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/**
 * 400, or 422 if a parameter is missing or has the wrong type (decision 0005). The description names a parameter that is missing,
 * malformed or of another: some clients show nothing else.
 */
export function invalidRequest(reason: Reason<'invalid_request'>, options: RefusalOptions = {}): OAuthError {
  const { explanation = namedParameter(reason, options.problems) } = options
  return new OAuthError('invalid_request', reason, { ...options, explanation })
}

function namedParameter(reason: Reason<'invalid_request'>, [first]: readonly Problem[] = []): string | undefined {
  if (reason === 'parameter_missing') return `The parameter ${first?.loc[1]} is missing.`
  return NAMED_PARAMETERS[reason]
}

const NO_SUBJECT = 'The subject_token is not an active access token for this API alone.'
/** One text for tokens of others and for inactive ones: an API learns nothing of tokens for others. */
const SUBJECT_EXPLANATIONS = {
  subject_inactive: NO_SUBJECT,
  subject_for_another: NO_SUBJECT,
  subject_without_user: 'The subject_token is not that of a user.',
  token_type_unsupported: 'Only access tokens are exchanged for access tokens.',
  actor_unsupported: 'The API is the actor: there is no actor_token.',
  actors_too_many: 'The subject_token was exchanged too often.',
}

/** Where the text of the table, which is about parameters, would be wrong, or can name one. */
const NAMED_PARAMETERS: { readonly [One in Reason<'invalid_request'>]?: string } = {
  verifier_malformed: 'The code_verifier has not 43 to 128 unreserved characters.',
  organization_mismatch: 'The request is not for the organization in org_id.',
  user_mismatch: 'The request is not for the user in user_id.',
  proof_missing: 'The request needs a DPoP proof.',
  method_wrong: 'The path does not have this method.',
  path_unknown: 'There is nothing at this path.',
  media_type_wrong: 'The body has another media type or encoding than the endpoint reads.',
  body_too_large: 'The body is too large.',
  headers_too_many: 'The request has too many headers.',
  ...SUBJECT_EXPLANATIONS,
}

/**
 * 401. RFC 6749 §5.2: the response has a challenge if the client used the Authorization header. The description names the reason only
 * where that says nothing about a client.
 */
export function invalidClient(reason: Reason<'invalid_client'>, usedBasic: boolean): OAuthError {
  const headers: Record<string, string> = usedBasic
    ? { 'WWW-Authenticate': 'Basic realm="grantor", charset="UTF-8"' }
    : {}
  return new OAuthError('invalid_client', reason, { headers, explanation: AUTHENTICATION_EXPLANATIONS[reason] })
}

/**
 * 401. RFC 6750 §3.1: the challenge has no error code if the request had no token. It describes what the holder of a valid token has to
 * do, because many clients show only the challenge. Where a bound token is accepted too, its challenge follows (RFC 9449 §7.1).
 */
export function invalidToken(reason: Reason<'invalid_token'>): OAuthError {
  const explanation = reason === 'access_token_for_another' ? TOKEN_FOR_ANOTHER : undefined
  const fault = reason.endsWith('_missing') ? '' : ', error="invalid_token"'
  const description = explanation === undefined ? '' : `, error_description="${explanation}"`
  const other = reason === 'access_token_missing' ? `, ${proofChallenge(undefined)}` : ''
  const challenge = `Bearer realm="grantor"${fault}${description}${other}`
  return new OAuthError('invalid_token', reason, { headers: { 'WWW-Authenticate': challenge }, explanation })
}

const TOKEN_FOR_ANOTHER =
  'The access token is for an API. For the userinfo endpoint, request one with the issuer as its only resource.'

/** 403. RFC 6750 §3.1, RFC 9449 §7.1: the token lacks a scope. The challenge has the scheme with which the token came. */
export function insufficientScope(scope: string, scheme: TokenType): OAuthError {
  const challenge =
    scheme === 'DPoP'
      ? `${proofChallenge('insufficient_scope')}, scope="${scope}"`
      : `Bearer realm="grantor", error="insufficient_scope", scope="${scope}"`
  return new OAuthError('insufficient_scope', 'openid_missing', { headers: { 'WWW-Authenticate': challenge } })
}

/**
 * Where a proof accompanies something else than an access token, 400. Where an access token was presented with it, 401 with a challenge.
 * RFC 9449 §5 and §7.1.
 */
export type ProofPlace = 'request' | 'access-token'

/** RFC 9449 §5. */
export function invalidDpopProof(reason: Reason<'invalid_dpop_proof'>, place: ProofPlace): OAuthError {
  return new OAuthError('invalid_dpop_proof', reason, proofOptions('invalid_dpop_proof', place, {}))
}

/** RFC 9449 §8 and §9: the client repeats the request with a proof that has this nonce. */
export function useDpopNonce(reason: Reason<'use_dpop_nonce'>, place: ProofPlace, nonce: string): OAuthError {
  return new OAuthError('use_dpop_nonce', reason, proofOptions('use_dpop_nonce', place, { 'DPoP-Nonce': nonce }))
}

function proofOptions(code: ErrorCode, place: ProofPlace, headers: Readonly<Record<string, string>>): RefusalOptions {
  if (place === 'request') return { headers }
  return { status: 401, headers: { ...headers, 'WWW-Authenticate': proofChallenge(code) } }
}

/** 401 to a request for which the token must be presented with a proof, or was. RFC 9449 §7.1. */
export function invalidDpopToken(reason: Reason<'invalid_token'>): OAuthError {
  return new OAuthError('invalid_token', reason, proofOptions('invalid_token', 'access-token', {}))
}

/** RFC 9449 §7.1. undefined: the request had no token. */
function proofChallenge(code: ErrorCode | undefined): string {
  const fault = code === undefined ? '' : `, error="${code}"`
  return `DPoP realm="grantor"${fault}, algs="${PROOF_ALGORITHMS.join(' ')}"`
}

/** `user`: that of the code or refresh token, where it is known, for the log. `detail`: also for the log. */
export function invalidGrant(reason: Reason<'invalid_grant'>, user?: UserId, detail?: string): OAuthError {
  return new OAuthError('invalid_grant', reason, { user, detail })
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
export function invalidTarget(
  reason: Reason<'invalid_target'>,
  problems: readonly Problem[],
  { explanation = TARGET_EXPLANATIONS[reason], detail }: Pick<RefusalOptions, 'explanation' | 'detail'> = {},
): OAuthError {
  return new OAuthError('invalid_target', reason, { problems, explanation, detail })
}

const TARGET_EXPLANATIONS: Partial<Record<Reason<'invalid_target'>, string>> = {
  resource_not_granted: 'The grant does not have this resource.',
  exchange_not_allowed: 'This API may not exchange its tokens for those of the resource, or it is not declared.',
  tokens_differ: 'The APIs of the grant need different tokens. Request again with one resource.',
  binding_differs:
    'One API accepts only bearer tokens, and another one or the client only tokens that are bound to a key.',
}

/** The setting of each budget that has one; of some it is a multiple or a part of the setting (docs/faults.md). For the log. */
const BUDGET_SETTINGS: Readonly<Record<string, string>> = {
  registration: 'GRANTOR_REGISTRATION_RATE',
  'registration-host': 'GRANTOR_REGISTRATION_RATE',
  'registration-server': 'GRANTOR_REGISTRATION_RATE',
  authorization: 'GRANTOR_AUTHORIZATION_RATE',
  pushed: 'GRANTOR_AUTHORIZATION_RATE',
  'client-authentication': 'GRANTOR_CLIENT_FAILURE_RATE',
  'stored-token': 'GRANTOR_STORED_TOKEN_RATE',
  'client-assertion': 'GRANTOR_STORED_TOKEN_RATE',
  'revoked-token': 'GRANTOR_STORED_TOKEN_RATE',
}

/** A rate limit whose requests are used up. */
export interface SpentBudget {
  /** Requests per minute. */
  readonly limit: number
  readonly remaining: number
  readonly resetSeconds: number
}

/**
 * 429: the caller sent too many requests. The error code is `temporarily_unavailable`, so that clients keep their tokens
 * (real-clients.md). The headers are those of draft-ietf-httpapi-ratelimit-headers.
 */
export function tooManyRequests(budget: string, { limit, remaining, resetSeconds }: SpentBudget): OAuthError {
  const headers = {
    'RateLimit-Policy': `"${budget}";q=${limit};w=60`,
    RateLimit: `"${budget}";r=${remaining};t=${resetSeconds}`,
  }
  const setting = BUDGET_SETTINGS[budget]
  const detail = `${budget}: ${limit} a minute${setting === undefined ? '' : ` (${setting})`}`
  return tooMany({ retryAfterSeconds: resetSeconds, headers, detail })
}

/** 429: the user did something too often. `what`: for the log. */
export function tooManyChanges(user: UserId, what: string, retryAfterSeconds: number): OAuthError {
  return tooMany({ retryAfterSeconds, user, detail: what })
}

function tooMany(options: RefusalOptions): OAuthError {
  const error = new OAuthError('temporarily_unavailable', 'too_many_requests', { ...options, status: 429 })
  error.description = 'There were too many requests. Wait as long as Retry-After says.'
  return error
}

/** 429: the proofs of the caller that have not ended are as many as this process keeps, until the first of them end. */
export function tooManyProofs(retryAfterSeconds: number): OAuthError {
  return new OAuthError('temporarily_unavailable', 'too_many_proofs', { status: 429, retryAfterSeconds })
}

/** 503. */
export function unavailable(reason: Reason<'temporarily_unavailable'>, retryAfterSeconds: number): OAuthError {
  return new OAuthError('temporarily_unavailable', reason, { retryAfterSeconds })
}
