import assert from 'node:assert/strict'
import type { Context } from '../../../ports/context.ts'
import type { GrantRecord } from '../../../ports/records/grant.ts'
import type { IssuedToken } from '../../../protocol/token/access-token.ts'
import type { EpochMs } from '../../../base/brand.ts'
import {
  invalidGrant,
  invalidRequest,
  invalidScope,
  invalidTarget,
  type OAuthError,
  type Reason,
} from '../../../protocol/errors.ts'
import type { Parameters } from '../../../base/message.ts'
import { isOfApi, parseResources, type Resource } from '../../../protocol/token/resource.ts'
import { isOpenid, NO_SCOPE, parseScope, subtract, type Scope } from '../../../protocol/token/scope.ts'
import { unacceptable } from '../../../base/validation.ts'
import { scopeOfGrant, type GrantedScope } from '../../../requests/grant-scope.ts'
import {
  findGrantRuling,
  findRuling,
  recordRuling,
  type IsMet,
  type PersonalAccess,
  type RuledGrant,
  type Ruling,
} from '../../../tokens/access-rules.ts'
import type { InvalidPrincipal, Principals } from '../../../tokens/invalid-principal.ts'
import type { UserId } from '../../../protocol/ids.ts'
import type { AuthenticatedClient } from '../authenticate-client.ts'
import { withoutIssuer, type ScopeCatalog, type ScopeRecipient } from '../../../requests/scope-catalog.ts'
import { leftOutByRules, scopeError } from '../../../requests/scope-refusal.ts'
import type { TokenRequester } from '../token-profile.ts'

/** Handles one grant type at the token endpoint. It receives an authenticated client and the key that it proved, and checks the parameters itself. */
export type Grant = (context: Context, requester: TokenRequester, form: Parameters) => Promise<IssuedToken>

/**
 * Checks that a credential that is bound to a key came with a proof of it. RFC 9449 §5 and §10. Nothing changes otherwise: a party that only
 * saw the credential could end what it belongs to (threats.md DP-07, DP-08).
 *
 * @throws OAuthError invalid_grant
 */
export function checkKey(
  { report }: Context,
  { client, key }: TokenRequester,
  kind: 'code' | 'refresh-token',
  { bound, userId }: { readonly bound: string | undefined; readonly userId: UserId },
): void {
  if (bound === undefined || bound === key) return
  report({ event: 'credential.presented-with-another-key', clientId: client.id, details: { kind } })
  throw invalidGrant('key_differs', userId)
}

/** Parses `resource` of a token request. RFC 8707 §2.2. @throws OAuthError invalid_target */
export function readResources(form: Parameters): readonly Resource[] {
  const texts = form.all('resource')
  const resources = parseResources(texts)
  if (resources !== undefined) return resources
  const msg = 'A resource is not an absolute URI, or there are too many.'
  throw invalidTarget('resource_malformed', [unacceptable('body', 'resource', msg, texts.join(' '))])
}

/** Parses `scope` of a token request; undefined if there is none. @throws OAuthError invalid_scope */
export function readScope(form: Parameters): Scope | undefined {
  const text = form.get('scope')
  const scope = text === undefined ? undefined : parseScope(text)
  if (text === undefined || scope !== undefined) return scope === NO_SCOPE ? undefined : scope
  throw invalidScope('scope_malformed', [unacceptable('body', 'scope', 'The scope is malformed.', text)], undefined)
}

/**
 * Returns the resources of a token: the requested ones in the order of the grant, or all of the grant. RFC 8707 §2.2. A client that
 * may know who the user is can ask for a token for the issuer, whose userinfo endpoint accepts no other; beside an API it may name the
 * issuer without effect, as in its authorization request.
 *
 * @throws OAuthError invalid_target
 */
export function narrowResources(
  catalog: ScopeCatalog,
  { scope, resources: granted }: Pick<GrantRecord, 'scope' | 'resources'>,
  form: Parameters,
): readonly Resource[] {
  const named = readResources(form)
  if (named.length === 0) return granted
  const requested = withoutIssuer(catalog, scope, named)
  const isGiven = (resource: Resource, one: Resource) => isOfApi(resource, one, catalog.apis)
  const foreign = requested.find((one) => !granted.some((resource) => isGiven(resource, one)))
  if (foreign === undefined) return granted.filter((resource) => requested.some((one) => isGiven(resource, one)))
  throw invalidTarget('resource_not_granted', [
    unacceptable('body', 'resource', 'This resource was not granted.', foreign),
  ])
}

/**
 * Returns the scope of a token for some APIs of a grant (`scopeOfGrant`). If an API has scopes and none of them remains, the user must consent again.
 *
 * @throws OAuthError invalid_grant
 */
export function scopeFor(
  catalog: ScopeCatalog,
  client: ScopeRecipient['client'],
  grant: GrantedScope,
  resources: readonly Resource[],
  allowedAt: EpochMs,
): Scope {
  const scope = scopeOfGrant(catalog, client, grant, resources, allowedAt)
  if (scope === undefined) throw invalidGrant('scope_gone')
  return scope
}

/** What access rules leave of a token of a grant. */
export interface Ruled<Granted> {
  readonly scope: Scope
  /** As its tokens show it: without `openid`, if that is left out. The stored grant keeps its scope. */
  readonly grant: Granted
  readonly leftOut: Scope
}

/**
 * Applies the access rules to the scope of a token of a grant, as they are now; undefined: they take nothing. Called before a code or a refresh
 * token is used up: when the rule goes, the same one works.
 *
 * @throws OAuthError invalid_grant
 */
export async function applyRules<Granted extends RuledGrant>(
  context: Context,
  client: AuthenticatedClient,
  grant: Granted,
  { scope, resources }: { readonly scope: Scope; readonly resources: readonly Resource[] },
): Promise<Ruled<Granted> | undefined> {
  const { asked, ruling } = await findGrantRuling(context, client, grant, { scope, resources })
  if (ruling === undefined) return undefined
  recordRuling(context, asked, ruling)
  if (ruling.isNothing) throw invalidGrant('access_rule', grant.userId)
  const { leftOut } = ruling
  if (leftOut === NO_SCOPE) return undefined
  const left = { ...grant, scope: subtract(grant.scope, leftOut) }
  return {
    scope: subtract(scope, leftOut),
    grant: isOpenid(grant.scope) && !isOpenid(left.scope) ? { ...left, openid: undefined } : left,
    leftOut,
  }
}

/**
 * Applies the access rules to a token without a grant of its own, as those of the grant's; undefined: they take nothing.
 *
 * @throws OAuthError invalid_scope
 */
export async function ruleScope(
  context: Context,
  access: PersonalAccess,
  isMet: IsMet,
  form: Parameters,
): Promise<Ruling | undefined> {
  const ruling = await findRuling(context, access, isMet)
  if (ruling === undefined) return undefined
  recordRuling(context, access, ruling)
  const { client, userId, organizationId } = access
  if (ruling.isNothing) {
    const about = { clientId: client.id, userId, organizationId }
    throw scopeError(context, about, leftOutByRules(ruling.leftOut, []), form.get('scope'))
  }
  return ruling.leftOut === NO_SCOPE ? undefined : ruling
}

/**
 * Checks that `org_id` and `user_id`, if they are sent, are those of the grant (decision 0005). The error is the same for an
 * organization or user that does not exist.
 *
 * @throws OAuthError invalid_request
 */
export function checkOwner(
  form: Parameters,
  { userId, organizationId }: Pick<GrantRecord, 'userId' | 'organizationId'>,
): void {
  const organization = form.get('org_id')
  if (organization !== undefined && organization !== organizationId) throw organizationMismatch(organization)
  const user = form.get('user_id')
  if (user !== undefined && user !== userId) throw userMismatch(user)
}

/** The error for an `org_id` that does not apply to the request. */
export function organizationMismatch(organization: string): OAuthError {
  const msg = 'This request is not for that organization.'
  return invalidRequest('organization_mismatch', { problems: [unacceptable('body', 'org_id', msg, organization)] })
}

/** The error for a `user_id` that does not apply to the request. */
export function userMismatch(user: string): OAuthError {
  const msg = 'This request is not for that user.'
  return invalidRequest('user_mismatch', { problems: [unacceptable('body', 'user_id', msg, user)] })
}

/**
 * Throws if a principal behind the grant was disabled, deleted or invalidated after the user approved it (threats.md RT-11,
 * TOK-18, UI-13). `invalid`: what `findInvalidPrincipal` returned of `principalsOf` the grant.
 *
 * @throws OAuthError invalid_grant
 */
export function requireLive(invalid: InvalidPrincipal | undefined, userId: UserId): void {
  if (invalid === undefined) return
  assert(invalid !== 'installation', 'A grant of a user does not depend on an installation.')
  throw invalidGrant(REASONS[invalid], userId)
}

/** The principals behind a grant that a user approved. */
export function principalsOf(
  client: AuthenticatedClient,
  { userId, organizationId }: Pick<GrantRecord, 'userId' | 'organizationId'>,
): Principals {
  return { client, userId, organizationId, isUnattended: false }
}

const REASONS = {
  client: 'client_not_live',
  server: 'everything_ended',
  user: 'user_not_live',
  organization: 'organization_not_live',
  membership: 'membership_not_live',
} as const satisfies Record<Exclude<InvalidPrincipal, 'installation'>, Reason<'invalid_grant'>>
