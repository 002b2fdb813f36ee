import type { Context } from '../../ports/context.ts'
import type { GroupClaim } from '../../protocol/access/group-claim.ts'
import type { ApiTokens, JwtType } from '../../ports/records/api.ts'
import type { SigningAlgorithm } from '../../ports/records/key.ts'
import { isConfidential } from '../../protocol/client/authentication.ts'
import { invalidGrant, invalidRequest, invalidTarget } from '../../protocol/errors.ts'
import type { JwkThumbprint } from '../../protocol/token/dpop-proof.ts'
import { findNamed, type Resource } from '../../protocol/token/resource.ts'
import { unacceptable } from '../../base/validation.ts'
import type { AuthenticatedClient } from './authenticate-client.ts'
import { requiresProof } from './proof.ts'
import { findApi, findResource, type ScopeCatalog } from '../../requests/scope-catalog.ts'

/** The format, the lifetime and the signature of an access token. */
export interface TokenProfile {
  readonly format: ApiTokens['format']
  /** Seconds. */
  readonly lifetime: number
  readonly algorithm: SigningAlgorithm
  readonly jwtType: JwtType
  /** Whether the token of a user has the subject of the operator's application: if each of the APIs wants it. */
  readonly applicationSubject: boolean
  /** The claim with the groups of the user, if the token is for one API that reads them. */
  readonly groups: GroupClaim | undefined
  /** The key that the token is bound to. undefined: a bearer token. RFC 9449 §6. */
  readonly key: JwkThumbprint | undefined
}

/** The client that requests a token, and the key whose proof came with the request. */
export interface TokenRequester {
  readonly client: AuthenticatedClient
  readonly key: JwkThumbprint | undefined
  /** For the events that the log has beside the line of the request. */
  readonly requestId: string
  /** The network whose budgets the request takes. */
  readonly network: string
  /** That of the caller; undefined: it is unknown. */
  readonly callerNetwork: string | undefined
}

/** The same where an API requests a token: then there is no client that demands a key. */
type TokenHolder = Pick<TokenRequester, 'key'> & { readonly client: TokenRequester['client'] | undefined }

/**
 * Chooses the profile of an access token for these resources. The APIs determine the format, and the API with the shortest
 * lifetime determines the lifetime. A token without a resource is for the issuer and follows the server's settings.
 *
 * Callers choose the profile before they redeem a code or rotate a refresh token, so that an error here does not use it up
 * (threats.md CODE-09, RT-09).
 *
 * The token is bound to the key of the request, unless one of the APIs forbids it.
 *
 * @throws OAuthError invalid_target, if the APIs or the client require different tokens; invalid_grant, if an API is no longer declared;
 *   invalid_request, if an API requires a proof
 */
export function chooseTokenProfile(
  { settings: { lifetimes, signingAlgorithm } }: Context,
  catalog: ScopeCatalog,
  resources: readonly Resource[],
  requester: TokenHolder,
): TokenProfile {
  const usual = {
    format: 'jwt',
    lifetime: lifetimes.accessToken,
    algorithm: signingAlgorithm,
    jwtType: 'at+jwt',
    applicationSubject: false,
    groups: undefined,
    binding: 'any',
  } as const
  if (resources.length === 0) return { ...usual, key: requester.key }
  const wanted = resources.map((requested): WantedProfile => {
    const api = findApi(catalog, requested)
    if (api === undefined && findResource(catalog, requested) === undefined) throw invalidGrant('resource_gone')
    if (api === undefined) return usual
    const { groups } = api
    const {
      format,
      lifetime = usual.lifetime,
      algorithm = usual.algorithm,
      jwtType,
      applicationSubject,
      binding,
    } = api.tokens
    return { format, lifetime, algorithm, jwtType, applicationSubject, groups, binding }
  })
  const [first, ...others] = wanted
  const key = chooseKey(wanted, requester)
  if (first !== undefined && others.every((other) => isSameKind(first, other))) {
    return {
      ...first,
      key,
      lifetime: Math.min(...wanted.map(({ lifetime }) => lifetime)),
      applicationSubject: wanted.every(({ applicationSubject }) => applicationSubject),
      groups: others.length === 0 ? first.groups : undefined,
    }
  }
  const msg = 'These APIs require different tokens. Name one of them in `resource`.'
  throw invalidTarget('tokens_differ', [unacceptable('body', 'resource', msg, undefined)])
}

/**
 * Checks that the refresh token of a public client will be bound, if it is for an API that accepts only bound tokens: who stole an unbound
 * one would get tokens for its own key. RFC 9449 §5.
 *
 * @throws OAuthError invalid_request
 */
export function requireGrantKey(
  { apis }: ScopeCatalog,
  granted: readonly Resource[],
  { client, key }: TokenRequester,
): void {
  if (key !== undefined || isConfidential(client) || !client.metadata.grant_types.includes('refresh_token')) return
  const isBound = granted.some((one) => findNamed(apis, one)?.tokens.binding === 'dpop')
  if (isBound) throw invalidRequest('proof_missing')
}

type WantedProfile = Omit<TokenProfile, 'key'> & Pick<ApiTokens, 'binding'>

function chooseKey(wanted: readonly WantedProfile[], { client, key }: TokenHolder): JwkThumbprint | undefined {
  const isForbidden = wanted.some(({ binding }) => binding === 'bearer')
  const isRequired = wanted.some(({ binding }) => binding === 'dpop')
  if (isForbidden && (isRequired || (client !== undefined && requiresProof(client)))) {
    const msg = 'One of these APIs accepts only bearer tokens, and another one or the client only bound ones.'
    throw invalidTarget('binding_differs', [unacceptable('body', 'resource', msg, undefined)])
  }
  if (isRequired && key === undefined) throw invalidRequest('proof_missing')
  return isForbidden ? undefined : key
}

function isSameKind(one: WantedProfile, other: WantedProfile): boolean {
  if (one.format !== other.format) return false
  return one.format === 'opaque' || (one.algorithm === other.algorithm && one.jwtType === other.jwtType)
}
