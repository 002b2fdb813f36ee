import type { Context } from '../ports/context.ts'
import type { EpochMs } from '../protocol/brand.ts'
import type { GrantId } from '../protocol/ids.ts'
import type { Resource } from '../protocol/resource.ts'
import { findInactiveReason, type End } from '../principals/inactive-reason.ts'
import { findToken, type FoundToken } from '../principals/find-token.ts'
import { hasExpiredEverywhere } from '../principals/has-expired-everywhere.ts'
import { unknown } from './admin-error.ts'

/** A token, and the reason why it is inactive; undefined: it is active. */
export interface InspectedToken {
  readonly token: FoundToken
  readonly end: End | undefined
}

/** Inspects a token. Returns undefined for a token that this server did not issue, or that it has deleted. */
export async function inspectToken(
  context: Pick<Context, 'clock' | 'secrets' | 'store' | 'tokenReader' | 'notBefore'>,
  text: string,
): Promise<InspectedToken | undefined> {
  const token = await findToken(context, text)
  if (token === undefined) return undefined
  return { token, end: await findInactiveReason(context, token, context.clock()) }
}

/** The revoked access token, or the revoked grant with all of its tokens. */
export type RevokedToken =
  | {
      readonly kind: 'access'
      readonly tokenId: string
      /** undefined: the token is opaque. */
      readonly jwtExpiresAt: EpochMs | undefined
    }
  | { readonly kind: 'family'; readonly grantId: GrantId; readonly resources: readonly Resource[] }

/**
 * Revokes a token on all nodes before it returns (decision 0020). A refresh token is revoked with its grant, and so is an
 * access token with the extent `family`.
 *
 * @throws AdminError when it is not a token of this server, or has no grant
 */
export async function revokeToken(
  context: Pick<Context, 'clock' | 'clockCheck' | 'secrets' | 'store' | 'tokenReader'>,
  text: string,
  extent: 'token' | 'family',
): Promise<RevokedToken> {
  const { store, clock, clockCheck } = context
  const found = await findToken(context, text)
  if (found === undefined) throw unknown('The server did not issue this token, or has deleted it.')
  const grantId = found.kind === 'refresh' ? found.grant.id : extent === 'family' ? found.facts.grantId : undefined
  const { clientId, userId, organizationId, resources } = found.kind === 'refresh' ? found.grant : found.facts
  const about = { clientId, userId, organizationId }
  if (grantId !== undefined) {
    await store.revokeGrant({ id: grantId, now: clock(), about })
    return { kind: 'family', grantId, resources }
  }
  if (found.kind === 'refresh' || extent === 'family') {
    throw unknown('The client got this token without a user, so there is no grant to revoke.')
  }
  const { tokenId } = found.facts
  const expiresAt = (found.facts.expiresAt * 1000) as EpochMs
  if (!hasExpiredEverywhere(clockCheck, expiresAt)) await store.revokeToken({ tokenId, expiresAt, about })
  const isOpaque = context.secrets.verify('access-token', text) !== undefined
  return { kind: 'access', tokenId, jwtExpiresAt: isOpaque ? undefined : expiresAt }
}
