import type { Context } from '../../ports/context.ts'
import type { ApiTokens, JwtType } from '../../ports/records/api.ts'
import type { SigningAlgorithm } from '../../ports/records/key.ts'
import { invalidGrant, invalidTarget } from '../../protocol/errors.ts'
import { sameResource, type Resource } from '../../protocol/resource.ts'
import { unacceptable } from '../../protocol/validation.ts'
import type { ScopeCatalog } from './scope-catalog.ts'

/** How one access token is made. */
export interface TokenProfile {
  readonly format: ApiTokens['format']
  /** Seconds. */
  readonly lifetime: number
  readonly algorithm: SigningAlgorithm
  readonly jwtType: JwtType
}

/**
 * How an access token for these resources is made: as their APIs want it, and as long as the one that wants it shortest. A
 * token without a resource, which is for the issuer, is as the server's settings say.
 *
 * To be asked before anything is spent, so that a refusal leaves code and refresh token alone (threats.md CODE-09, RT-09).
 *
 * @throws OAuthError invalid_target, when one token cannot be what all of them take; invalid_grant, when one is declared no more
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
  } as const
  const wanted = resources.map((asked): TokenProfile => {
    const tokens = apis.find(({ resource }) => sameResource(resource, asked))?.tokens
    if (tokens === undefined && !isOpen) throw invalidGrant('resource_gone')
    if (tokens === undefined) return usual
    const { format, lifetime = usual.lifetime, algorithm = usual.algorithm, jwtType } = tokens
    return { format, lifetime, algorithm, jwtType }
  })
  const [first, ...others] = wanted
  if (first === undefined) return usual
  if (others.every((other) => isSameMake(first, other))) {
    return { ...first, lifetime: Math.min(...wanted.map(({ lifetime }) => lifetime)) }
  }
  const msg = 'These APIs take different tokens: ask for one of them with `resource`.'
  throw invalidTarget('tokens_differ', [unacceptable('body', 'resource', msg, undefined)])
}

function isSameMake(one: TokenProfile, other: TokenProfile): boolean {
  if (one.format !== other.format) return false
  return one.format === 'opaque' || (one.algorithm === other.algorithm && one.jwtType === other.jwtType)
}
