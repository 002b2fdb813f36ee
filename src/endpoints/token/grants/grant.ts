import assert from 'node:assert/strict'
import type { Context } from '../../../ports/context.ts'
import type { GrantRecord } from '../../../ports/records/grant.ts'
import type { IssuedToken } from '../../../protocol/access-token.ts'
import type { EpochMs } from '../../../protocol/brand.ts'
import {
  invalidGrant,
  invalidRequest,
  invalidScope,
  invalidTarget,
  type OAuthError,
  type Slug,
} from '../../../protocol/errors.ts'
import type { Parameters } from '../../../protocol/message.ts'
import { parseResources, sameResource, type Resource } from '../../../protocol/resource.ts'
import { narrow, NO_SCOPE, parseScope, type Scope } from '../../../protocol/scope.ts'
import { unacceptable } from '../../../protocol/validation.ts'
import { findInvalidPrincipal, type InvalidPrincipal } from '../../../principals/invalid-principal.ts'
import type { AuthenticatedClient } from '../authenticate-client.ts'
import {
  audienceOf,
  declarationsOf,
  declaredSince,
  givenBy,
  type ScopeCatalog,
  type ScopeRecipient,
} from '../scope-catalog.ts'
import { withoutShare } from '../scope-decision.ts'

/** One grant type at the token endpoint. Its fields are checked by itself, after the client. */
export type Grant = (context: Context, client: AuthenticatedClient, form: Parameters) => Promise<IssuedToken>

/** The values of `resource` of a token request. RFC 8707 §2.2. */
export function readResources(form: Parameters): readonly Resource[] {
  const texts = form.all('resource')
  const resources = parseResources(texts)
  if (resources !== undefined) return resources
  const msg = 'These are not absolute URIs, or too many of them.'
  throw invalidTarget('resource_malformed', [unacceptable('body', 'resource', msg, texts.join(' '))])
}

/** `scope` of a token request; undefined: it names none. @throws OAuthError invalid_scope */
export function readScope(form: Parameters): Scope | undefined {
  const text = form.get('scope')
  const scope = text === undefined ? undefined : parseScope(text)
  if (text === undefined || scope !== undefined) return scope === NO_SCOPE ? undefined : scope
  throw invalidScope('scope_malformed', [unacceptable('body', 'scope', 'This is not a scope.', text)], undefined)
}

/** The resources that a token of a grant is for: the named ones in the order of the grant, or all. RFC 8707 §2.2. */
export function narrowResources(granted: readonly Resource[], form: Parameters): readonly Resource[] {
  const asked = readResources(form)
  if (asked.length === 0) return granted
  const foreign = asked.find((one) => !granted.some((resource) => sameResource(resource, one)))
  if (foreign === undefined) return granted.filter((resource) => asked.some((one) => sameResource(resource, one)))
  throw invalidTarget('resource_not_granted', [
    unacceptable('body', 'resource', 'This resource was not granted.', foreign),
  ])
}

/**
 * What of a grant's scope a token for some of its APIs has: the scopes of those. RFC 8707 §2.2. What one of them gives to
 * approved clients only, and not to this one, is dropped: an API may have declared the name after the consent, or an approval was
 * taken back. Of a grant for several APIs, a scope that one of them declares since a time after the consent is dropped there: the
 * person allowed it at another API. An API whose scopes are none of the grant's, because it declared them later, needs another consent.
 *
 * @throws OAuthError invalid_grant
 */
export function scopeFor(
  catalog: ScopeCatalog,
  client: ScopeRecipient['client'],
  { scope, resources: granted }: Pick<GrantRecord, 'scope' | 'resources'>,
  resources: readonly Resource[],
  allowedAt: EpochMs,
): Scope {
  const isWhole = resources.length === granted.length
  const audience = resources.length === 0 ? 'issuer' : 'apis'
  const asker: ScopeRecipient = { kind: 'user', client }
  const apis = audienceOf(catalog, resources)
  const own = narrow(scope, (token) => {
    const declared = declarationsOf(apis, token)
    if (declared.length === 0) return isWhole || catalog.isOpen
    if (granted.length > 1 && declaredSince(catalog, token, resources) > allowedAt) return false
    return givenBy(declared, asker, audience).length > 0
  })
  if (withoutShare(catalog, own, resources).length > 0) throw invalidGrant('scope_gone')
  return own
}

/**
 * `org_id` and `user_id` narrow, never widen (decisions.md D4): they must be those of the grant. One answer for "does not
 * exist" and "not yours".
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

/** 400, for every organization that the request cannot be for. */
export function organizationMismatch(organization: string): OAuthError {
  const msg = 'This request is not for that organization.'
  return invalidRequest('organization_mismatch', { problems: [unacceptable('body', 'org_id', msg, organization)] })
}

/** 400, for every user whom the request cannot be for. */
export function userMismatch(user: string): OAuthError {
  const msg = 'This request is not for that user.'
  return invalidRequest('user_mismatch', { problems: [unacceptable('body', 'user_id', msg, user)] })
}

/**
 * Refuses what a person allowed before somebody of those it speaks for was gone or began anew (threats.md RT-11, TOK-18,
 * UI-13).
 */
export async function requireLive(
  context: Context,
  client: AuthenticatedClient,
  { userId, organizationId }: Pick<GrantRecord, 'userId' | 'organizationId'>,
  allowedAt: EpochMs,
): Promise<void> {
  const lapse = await findInvalidPrincipal(context, { client, userId, organizationId, isUnattended: false }, allowedAt)
  if (lapse === undefined) return
  assert(lapse !== 'installation', 'A person took part, so nothing rests on an installation.')
  throw invalidGrant(SLUGS[lapse])
}

const SLUGS = {
  client: 'client_not_live',
  everybody: 'everything_ended',
  user: 'user_not_live',
  organization: 'organization_not_live',
  membership: 'membership_not_live',
} as const satisfies Record<Exclude<InvalidPrincipal, 'installation'>, Slug<'invalid_grant'>>
