import assert from 'node:assert/strict'
import type { Context } from '../../ports/context.ts'
import type { GrantRecord } from '../../ports/records.ts'
import type { TokenResponse } from '../../protocol/access-token.ts'
import type { EpochMs } from '../../protocol/brand.ts'
import { invalidGrant, invalidRequest, invalidTarget, type OAuthError, type Slug } from '../../protocol/errors.ts'
import type { Parameters } from '../../protocol/message.ts'
import { parseResource, sameResource, type Resource } from '../../protocol/resource.ts'
import { narrow, type Scope } from '../../protocol/scope.ts'
import { unacceptable } from '../../protocol/validation.ts'
import { findLapse, type Lapse } from '../../tokens/find-lapse.ts'
import type { AuthenticatedClient } from '../authenticate-client.ts'
import { offersScopeAt, type Offers } from '../offers.ts'

/** One grant type at the token endpoint. Its fields are checked by itself, after the client. */
export type Grant = (context: Context, client: AuthenticatedClient, form: Parameters) => Promise<TokenResponse>

/** `resource` of a token request. RFC 8707 §2.2. */
export function readResource(form: Parameters): Resource | undefined {
  const text = form.get('resource')
  if (text === undefined) return undefined
  const resource = parseResource(text)
  if (resource !== undefined) return resource
  throw invalidTarget('resource_malformed', [unacceptable('body', 'resource', 'This is not an absolute URI.', text)])
}

/** The resources that a token of a grant is for: the named one, or all of the grant. RFC 8707 §2.2. */
export function narrowResources(granted: readonly Resource[], form: Parameters): readonly Resource[] {
  const asked = readResource(form)
  if (asked === undefined) return granted
  const found = granted.find((resource) => sameResource(resource, asked))
  if (found !== undefined) return [found]
  throw invalidTarget('resource_not_granted', [
    unacceptable('body', 'resource', 'This resource was not granted.', asked),
  ])
}

/** What of a grant's scope a token for one of its several APIs has: the scopes of that API. RFC 8707 §2.2. */
export function scopeFor(
  offers: Offers,
  { scope, resources: granted }: Pick<GrantRecord, 'scope' | 'resources'>,
  resources: readonly Resource[],
): Scope {
  if (resources.length === granted.length) return scope
  return narrow(scope, (token) => offersScopeAt(offers, token, resources))
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
  const lapse = await findLapse(context, { client, userId, organizationId, isUnattended: false }, allowedAt)
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
} as const satisfies Record<Exclude<Lapse, 'installation'>, Slug<'invalid_grant'>>
