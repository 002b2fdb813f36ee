import type { Context } from '../../../ports/context.ts'
import type { EpochMs } from '../../../base/brand.ts'
import { parseOrganizationId, parseUserId, type OrganizationId, type UserId } from '../../../protocol/ids.ts'
import type { Parameters } from '../../../base/message.ts'
import type { Scope } from '../../../protocol/token/scope.ts'
import { findInvalidPrincipal } from '../../../tokens/invalid-principal.ts'
import type { AuthenticatedClient } from '../authenticate-client.ts'
import { organizationMismatch, userMismatch } from './grant.ts'

/** The organization and the user that a client acts for without a user's consent, and the scope (decision 0005). */
export interface Delegation {
  readonly organizationId: OrganizationId | undefined
  readonly userId: UserId | undefined
  /** The scope of the installation; undefined if the client acts for itself. */
  readonly scope: Scope | undefined
}

/** The client acts for itself. Every client may. */
const NO_DELEGATION: Delegation = { organizationId: undefined, userId: undefined, scope: undefined }

/**
 * Checks `org_id` and `user_id` of a client credentials request (threats.md CC-04). The organization must have installed the
 * client. To act for a member, the installation must allow it. The error is the same for an organization or user that does not
 * exist and for one that the client may not act for.
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
  const [invalid, installation] = await Promise.all([
    findInvalidPrincipal(context, { client, userId: undefined, organizationId, isUnattended: true }, now),
    context.store.findInstallation({ clientId: client.id, organizationId }),
  ])
  if (invalid !== undefined || installation === undefined) throw organizationMismatch(organization)
  const { scope } = installation
  if (user === undefined) return { organizationId, userId: undefined, scope }
  const userId = parseUserId(user)
  if (userId === undefined) throw userMismatch(user)
  if ((await findInvalidPrincipal(context, { client, userId, organizationId, isUnattended: true }, now)) !== undefined)
    throw userMismatch(user)
  return { organizationId, userId, scope }
}
