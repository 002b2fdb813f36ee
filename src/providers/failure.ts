import type { OutboundFailure } from '../ports/outbound.ts'
import type { UpstreamFailure, UpstreamReason } from '../ports/provider-sign-in.ts'

/** A request to a provider that got no usable answer. openid-client passes it on as the cause of its own error. */
export class ProviderUnavailable extends Error {
  readonly outcome: OutboundFailure

  /** `message`: a sentence for the operator, in the place of the reason. */
  constructor(outcome: OutboundFailure, message?: string) {
    super(message ?? sentenceOf(outcome))
    this.name = 'ProviderUnavailable'
    this.outcome = outcome
  }
}

const UNREACHED: readonly string[] = ['connection-failed', 'connection-closed', 'name-unresolved', 'timeout']

function sentenceOf({ reason, detail }: OutboundFailure): string {
  const code = detail === undefined ? reason : `${reason} ${detail}`
  return UNREACHED.includes(reason) ? `The provider cannot be reached (${code}).` : code
}

export function failure(reason: UpstreamReason, detail: string): UpstreamFailure {
  return { kind: 'failed', reason, detail }
}

/** The members of errors of oauth4webapi that say what happened. Their causes may have tokens, so they are not read. */
interface ProtocolError {
  readonly error?: unknown
  readonly code?: unknown
}

/** What an error of openid-client means. Its message, the code and an OAuth error code are kept; descriptions of others are not. */
export function failureOf(error: unknown): UpstreamFailure {
  const unavailable = findUnavailable(error)
  if (unavailable !== undefined) {
    const { kind, reason } = unavailable.outcome
    if (reason === 'off') return failure('off', 'GRANTOR_OUTBOUND is off.')
    if (kind === 'limited') return failure('busy', 'Too many requests to providers are under way.')
    // A status such as 403 is an answer, which may be to this one request alone.
    return failure(
      kind === 'unacceptable' || isRefusal(unavailable.outcome) ? 'invalid' : 'unreachable',
      unavailable.message,
    )
  }
  if (!(error instanceof Error)) return failure('invalid', 'unknown')
  const { error: oauthError, code } = error as ProtocolError
  if (error.name === 'AuthorizationResponseError') return failure('refused', nameOf(oauthError))
  if (error.name === 'ResponseBodyError' || error.name === 'WWWAuthenticateChallengeError') {
    return failure('rejected', nameOf(oauthError))
  }
  return failure('invalid', `${error.message} (${nameOf(code)})`)
}

/** Whether the provider answered with a 5xx. */
export function isServerError(error: unknown): boolean {
  const outcome = findUnavailable(error)?.outcome
  return outcome?.kind === 'unreachable' && outcome.reason === 'status' && !isRefusal(outcome)
}

/** Whether the provider may answer again soon, so that a copy of an earlier answer serves meanwhile. A limit of this server is no such case. */
export function isForNow(error: unknown): boolean {
  const outcome = findUnavailable(error)?.outcome
  return outcome?.kind === 'unreachable' && outcome.reason !== 'off'
}

/** Whether the ID token names a key that the provider did not have when its keys were fetched. The code is that of oauth4webapi. */
export function isUnknownKey(error: unknown): boolean {
  return error instanceof Error && (error as ProtocolError).code === 'OAUTH_KEY_SELECTION_FAILED'
}

/** A 4xx. */
function isRefusal({ reason, detail }: OutboundFailure): boolean {
  return reason === 'status' && detail?.startsWith('4') === true
}

function findUnavailable(error: unknown): ProviderUnavailable | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ProviderUnavailable) return cause
  }
  return undefined
}

/** An error code of the provider, as far as it is one (RFC 6749 §4.1.2.1). */
function nameOf(code: unknown): string {
  return typeof code === 'string' && /^[\w.-]{1,60}$/.test(code) ? code : 'unknown'
}
