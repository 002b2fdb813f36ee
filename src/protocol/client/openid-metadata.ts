import * as z from 'zod'
import { ID_TOKEN_ALGORITHMS, DEFAULT_ID_TOKEN_ALGORITHM, type IdTokenAlgorithm } from '../openid/id-token.ts'
import { knownAcrValues, type Acr } from '../sign-in/acr.ts'
import { checkOutboundUrl, type OutboundPolicy } from '../uri/outbound-url.ts'
import { problem, type Problem } from '../../base/validation.ts'

/** What a client registers for OpenID Connect. Dynamic Client Registration 1.0 §2. Members that were not sent are absent. */
export interface OpenidMetadata {
  /** How its ID tokens are signed. Absent: with DEFAULT_ID_TOKEN_ALGORITHM. */
  readonly idTokenAlgorithm?: IdTokenAlgorithm
  /** `max_age` of its requests that have none, in seconds. */
  readonly defaultMaxAge?: number
  /** `acr_values` of its requests that name no level. */
  readonly defaultAcrValues?: readonly Acr[]
  /** Whether each of its ID tokens has `auth_time`, so that a user whose time of authentication is unknown signs in again. */
  readonly requireAuthTime?: boolean
  /** Where the browser may return after a logout. RP-Initiated Logout 1.0 §3.1. */
  readonly postLogoutRedirectUris?: readonly string[]
  /** Where the client is notified of the end of a session. Back-Channel Logout 1.0 §2.2. */
  readonly backchannelLogoutUri?: string
  /** Has no effect: every logout token has a `sid`. */
  readonly backchannelLogoutSessionRequired?: boolean
}

/** The most that `max_age` can be, in seconds. */
export const MAX_AGE_LIMIT = 1e9

/** The members of a registration. */
export const OPENID_SHAPE = {
  id_token_signed_response_alg: z.string().nullish(),
  default_max_age: z.int().min(0).max(MAX_AGE_LIMIT).nullish(),
  default_acr_values: z.array(z.string()).nullish(),
  require_auth_time: z.boolean().nullish(),
  post_logout_redirect_uris: z.array(z.string()).nullish(),
  backchannel_logout_uri: z.string().nullish(),
  backchannel_logout_session_required: z.boolean().nullish(),
}

interface Fields {
  readonly id_token_signed_response_alg?: string | null | undefined
  readonly default_max_age?: number | null | undefined
  readonly default_acr_values?: readonly string[] | null | undefined
  readonly require_auth_time?: boolean | null | undefined
  readonly post_logout_redirect_uris?: readonly string[] | null | undefined
  readonly backchannel_logout_uri?: string | null | undefined
  readonly backchannel_logout_session_required?: boolean | null | undefined
}

/** What decides where a client may be notified. */
export interface NoticePolicy {
  /** Where the server may send requests; undefined: nowhere. */
  readonly outbound: OutboundPolicy | undefined
  /** Whether the client may be notified at this URL (client/policy.ts). */
  readonly mayBeNotifiedAt: (url: string) => boolean
  /** Where the client is notified already, which stays allowed. */
  readonly notifiedAt?: string | undefined
}

/**
 * An algorithm that is not supported, such as `none`, is replaced by the usual one, and unknown values of `acr` are left out, which the
 * response says (RFC 7591 §2). The members
 * for back-channel logout are left out where the client would not be notified, so that it does not rely on that.
 */
export function readOpenid(fields: Fields, policy: NoticePolicy, fault: (problem: Problem) => void): OpenidMetadata {
  const { id_token_signed_response_alg: sent, default_max_age: age, post_logout_redirect_uris: uris } = fields
  const { require_auth_time: isTimeRequired } = fields
  const acrValues = knownAcrValues(fields.default_acr_values ?? [])
  const algorithm = ID_TOKEN_ALGORITHMS.find((known) => known === sent) ?? DEFAULT_ID_TOKEN_ALGORITHM
  return {
    ...(sent === null || sent === undefined || sent === '' ? {} : { idTokenAlgorithm: algorithm }),
    ...(age === null || age === undefined ? {} : { defaultMaxAge: age }),
    ...(acrValues.length === 0 ? {} : { defaultAcrValues: acrValues }),
    ...(isTimeRequired === null || isTimeRequired === undefined ? {} : { requireAuthTime: isTimeRequired }),
    ...(uris === null || uris === undefined ? {} : { postLogoutRedirectUris: uris }),
    ...readBackchannelLogout(fields, policy, fault),
  }
}

function readBackchannelLogout(
  { backchannel_logout_uri: uri, backchannel_logout_session_required: isSessionRequired }: Fields,
  { outbound, mayBeNotifiedAt, notifiedAt }: NoticePolicy,
  fault: (problem: Problem) => void,
): OpenidMetadata {
  if (uri === null || uri === undefined || uri === '') return {}
  const isNew = uri !== notifiedAt
  if (isNew && (outbound === undefined || !mayBeNotifiedAt(uri))) return {}
  const verdict = isNew && outbound !== undefined && checkOutboundUrl(uri, outbound)
  if (verdict && verdict.kind === 'refused')
    fault(problem(['body', 'backchannel_logout_uri'], 'value_error', `The URL ${verdict.reason}.`, uri, {}))
  const isGiven = isSessionRequired !== null && isSessionRequired !== undefined
  return {
    backchannelLogoutUri: uri,
    ...(isGiven ? { backchannelLogoutSessionRequired: isSessionRequired } : {}),
  }
}
