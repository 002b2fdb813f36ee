import type { EpochMs } from '../base/brand.ts'
import type { GrantRecord } from '../ports/records/grant.ts'
import type { Resource } from '../protocol/token/resource.ts'
import { isIdentityScope, narrow, type Scope } from '../protocol/token/scope.ts'
import {
  audienceOf,
  declarationsOf,
  declaredSince,
  givenBy,
  givesIdentity,
  type ScopeCatalog,
  type ScopeRecipient,
} from './scope-catalog.ts'
import { withoutShare } from './scope-decision.ts'

/** What of a grant decides the scope of its tokens. */
export type GrantedScope = Pick<GrantRecord, 'scope' | 'resources' | 'stated'>

/**
 * Returns the scope of a token for some APIs of a grant. RFC 8707 §2.2. It is the scope of the grant without:
 *
 *  1. scopes that none of these APIs declares, if the token is for fewer APIs than the grant. Identity scopes are in tokens for the
 *     issuer alone, because any other API could present its tokens at the userinfo endpoint;
 *  2. scopes that an API now gives only to approved clients, if this client is not approved. The API may have declared the scope
 *     after the consent, or the operator may have withdrawn the approval;
 *  3. scopes that require a level that the authentication of the grant does not have. The API may have required it after the consent;
 *  4. scopes that one of these APIs declared after the consent, if the grant is for several APIs. The user allowed the scope for
 *     another API.
 *
 * undefined: an API has scopes, and none of them remains. What access rules take is not considered here.
 */
export function scopeOfGrant(
  catalog: ScopeCatalog,
  client: ScopeRecipient['client'],
  { scope, resources: granted, stated }: GrantedScope,
  resources: readonly Resource[],
  allowedAt: EpochMs,
): Scope | undefined {
  const isWhole = resources.length === granted.length
  const audience = resources.length === 0 ? 'issuer' : 'apis'
  const recipient: ScopeRecipient = { kind: 'user', client }
  const apis = audienceOf(catalog, resources)
  const own = narrow(scope, (token) => {
    if (isIdentityScope(token)) return audience === 'issuer' && givesIdentity(client, token)
    const declared = declarationsOf(apis, token)
    if (audience === 'issuer' && !isWhole) return false
    if (declared.length === 0) return isWhole || catalog.isOpen
    if (granted.length > 1 && declaredSince(catalog, token, resources) > allowedAt) return false
    if (declared.some(({ stepUp }) => stepUp !== undefined && stepUp.level > (stated?.level ?? 1))) return false
    return givenBy(declared, recipient, audience).length > 0
  })
  return withoutShare(catalog, own, resources).length > 0 ? undefined : own
}
