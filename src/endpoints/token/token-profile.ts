import type { Context } from '../../ports/context.ts'
import type { ApiTokens, JwtType } from '../../ports/records/api.ts'
import type { SigningAlgorithm } from '../../ports/records/key.ts'
import { invalidGrant, invalidTarget } from '../../protocol/errors.ts'
import { sameResource, type Resource } from '../../protocol/token/resource.ts'
import { unacceptable } from '../../base/validation.ts'
import type { ScopeCatalog } from './scope-catalog.ts'

/** The format, the lifetime and the signature of an access token. */
export interface TokenProfile {
  readonly format: ApiTokens['format']
  /** Seconds. */
  readonly lifetime: number
  readonly algorithm: SigningAlgorithm
  readonly jwtType: JwtType
  /** Whether the token of a user has the subject of the operator's application: if each of the APIs wants it. */
  readonly applicationSubject: boolean
}

/**
 * Chooses the profile of an access token for these resources. The APIs determine the format, and the API with the shortest
 * lifetime determines the lifetime. A token without a resource is for the issuer and follows the server's settings.
 *
 * Callers choose the profile before they redeem a code or rotate a refresh token, so that an error here does not use it up
 * (threats.md CODE-09, RT-09).
 *
 * @throws OAuthError invalid_target, if the APIs require different tokens; invalid_grant, if an API is no longer declared
 */
export function chooseTokenProfile(
  { settings: { lifetimes, signingAlgorithm } }: Pick<Context, 'settings'>,
  { apis, isOpen }: ScopeCatalog,
  resources: readonly Resource[],
): TokenProfile {
  const usual = {
    format: 'jwt',
    lifetime: lifetimes.accessToken,
    algorithm: signingAlgorithm,
    jwtType: 'at+jwt',
    applicationSubject: false,
  } as const
  const wanted = resources.map((requested): TokenProfile => {
    const tokens = apis.find(({ resource }) => sameResource(resource, requested))?.tokens
    if (tokens === undefined && !isOpen) throw invalidGrant('resource_gone')
    if (tokens === undefined) return usual
    const { format, lifetime = usual.lifetime, algorithm = usual.algorithm, jwtType, applicationSubject } = tokens
    return { format, lifetime, algorithm, jwtType, applicationSubject }
  })
  const [first, ...others] = wanted
  if (first === undefined) return usual
  if (others.every((other) => isSameKind(first, other))) {
    return {
      ...first,
      lifetime: Math.min(...wanted.map(({ lifetime }) => lifetime)),
      applicationSubject: wanted.every(({ applicationSubject }) => applicationSubject),
    }
  }
  const msg = 'These APIs require different tokens. Name one of them in `resource`.'
  throw invalidTarget('tokens_differ', [unacceptable('body', 'resource', msg, undefined)])
}

function isSameKind(one: TokenProfile, other: TokenProfile): boolean {
  if (one.format !== other.format) return false
  return one.format === 'opaque' || (one.algorithm === other.algorithm && one.jwtType === other.jwtType)
}
