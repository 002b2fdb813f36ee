import type { Context } from '../../ports/context.ts'
import type { UserRecord } from '../../ports/records.ts'
import type { TokenResponse } from '../../protocol/access-token.ts'
import type { EpochMs } from '../../protocol/brand.ts'
import { invalidGrant, invalidRequest, invalidTarget } from '../../protocol/errors.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { Parameters } from '../../protocol/message.ts'
import { parseResource, sameResource, type Resource } from '../../protocol/resource.ts'
import { unacceptable } from '../../protocol/validation.ts'
import type { AuthenticatedClient } from '../authenticate-client.ts'

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

/**
 * `org_id` and `user_id` narrow, never widen (decisions.md D4): they must be those of the grant. One answer for "does not
 * exist" and "not yours".
 */
export function checkOwner(form: Parameters, userId: UserId | undefined): void {
  const organization = form.get('org_id')
  if (organization !== undefined) {
    const msg = 'This request is not for that organization.'
    throw invalidRequest('organization_mismatch', { problems: [unacceptable('body', 'org_id', msg, organization)] })
  }
  const user = form.get('user_id')
  if (user !== undefined && user !== userId) {
    const msg = 'This request is not for that user.'
    throw invalidRequest('user_mismatch', { problems: [unacceptable('body', 'user_id', msg, user)] })
  }
}

/** Refuses what a person allowed before they were disabled or changed their password (threats.md RT-11, UI-13). */
export function requireLiveUser(user: UserRecord | undefined, allowedAt: EpochMs): void {
  if (!isLiveUser(user, allowedAt)) throw invalidGrant('user_not_live')
}

/** Whether what they did at a moment still counts: they are there, not disabled, and have the same password. */
export function isLiveUser(user: UserRecord | undefined, since: EpochMs): user is UserRecord {
  return user !== undefined && user.disabledAt === undefined && since >= user.validFrom
}
