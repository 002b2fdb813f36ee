import { ID_TOKEN_ALGORITHMS, USUAL_ID_TOKEN_ALGORITHM, type IdTokenAlgorithm } from './id-token.ts'

/** What a client registers for OpenID Connect. Dynamic Client Registration 1.0 §2. Members that were not sent are absent. */
export interface OpenidMetadata {
  /** How its ID tokens are signed. Absent: with USUAL_ID_TOKEN_ALGORITHM. */
  readonly idTokenAlgorithm?: IdTokenAlgorithm
  /** `max_age` of its requests that have none, in seconds. */
  readonly defaultMaxAge?: number
  /** Where the browser may return after a logout. RP-Initiated Logout 1.0 §3.1. */
  readonly postLogoutRedirectUris?: readonly string[]
}

/** The most that `max_age` can be, in seconds. */
export const MAX_AGE_LIMIT = 1e9

interface Fields {
  readonly id_token_signed_response_alg?: string | null | undefined
  readonly default_max_age?: number | null | undefined
  readonly post_logout_redirect_uris?: readonly string[] | null | undefined
}

/** An algorithm that is not supported, such as `none`, is replaced by the usual one, which the response says (RFC 7591 §2). */
export function readOpenid(fields: Fields): OpenidMetadata {
  const { id_token_signed_response_alg: sent, default_max_age: age, post_logout_redirect_uris: uris } = fields
  const algorithm = ID_TOKEN_ALGORITHMS.find((known) => known === sent) ?? USUAL_ID_TOKEN_ALGORITHM
  return {
    ...(sent === null || sent === undefined || sent === '' ? {} : { idTokenAlgorithm: algorithm }),
    ...(age === null || age === undefined ? {} : { defaultMaxAge: age }),
    ...(uris === null || uris === undefined ? {} : { postLogoutRedirectUris: uris }),
  }
}

/** The same under the names of the registration. */
export function describeOpenid({ idTokenAlgorithm, defaultMaxAge, postLogoutRedirectUris }: OpenidMetadata): Fields {
  return {
    ...(idTokenAlgorithm === undefined ? {} : { id_token_signed_response_alg: idTokenAlgorithm }),
    ...(defaultMaxAge === undefined ? {} : { default_max_age: defaultMaxAge }),
    ...(postLogoutRedirectUris === undefined ? {} : { post_logout_redirect_uris: postLogoutRedirectUris }),
  }
}
