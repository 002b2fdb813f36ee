import type { Context } from '../../../ports/context.ts'
import type { EpochMs } from '../../../protocol/brand.ts'
import { parseOrganizationId, parseUserId, type OrganizationId, type UserId } from '../../../protocol/ids.ts'
import type { Parameters } from '../../../protocol/message.ts'
import type { Scope } from '../../../protocol/scope.ts'
import { findInvalidPrincipal } from '../../../principals/invalid-principal.ts'
import type { AuthenticatedClient } from '../authenticate-client.ts'
import { organizationMismatch, userMismatch } from './grant.ts'

/** For whom a client acts without a person, and what it may have for that (decisions.md D4). */
export interface Delegation {
  readonly organizationId: OrganizationId | undefined
  readonly userId: UserId | undefined
  /** At most this; undefined: nobody but the server limits it. */
  readonly scope: Scope | undefined
}

/** The client acts for itself, as every client may. */
const NO_DELEGATION: Delegation = { organizationId: undefined, userId: undefined, scope: undefined }

/**
 * `org_id` and `user_id` of a request without a person (threats.md CC-04): the organization must have installed the client,
 * and allowed it to act for its members before it acts for one. One answer for "does not exist" and "not yours".
 *
 * @throws OAuthError invalid_request
 */
export async function findDelegation(
  context: Context,
  client: AuthenticatedClient,
  form: Parameters,
  now: EpochMs,
): Promise<Delegation> {
  const organization = form.get('org_id')
  const user = form.get('user_id')
  if (organization === undefined) {
    if (user !== undefined) throw userMismatch(user)
    return NO_DELEGATION
  }
  const organizationId = parseOrganizationId(organization)
  if (organizationId === undefined) throw organizationMismatch(organization)
  const [lapse, installation] = await Promise.all([
    findInvalidPrincipal(context, { client, userId: undefined, organizationId, isUnattended: true }, now),
    context.store.findInstallation({ clientId: client.id, organizationId }),
  ])
  if (lapse !== undefined || installation === undefined) throw organizationMismatch(organization)
  const { scope } = installation
  if (user === undefined) return { organizationId, userId: undefined, scope }
  const userId = parseUserId(user)
  if (userId === undefined) throw userMismatch(user)
  if ((await findInvalidPrincipal(context, { client, userId, organizationId, isUnattended: true }, now)) !== undefined)
    throw userMismatch(user)
  return { organizationId, userId, scope }
}
