import type { Context } from '../ports/context.ts'
import type { EpochMs } from '../protocol/brand.ts'
import type { GrantId } from '../protocol/ids.ts'
import type { Resource } from '../protocol/resource.ts'
import { findInactiveReason, type End } from '../principals/inactive-reason.ts'
import { findToken, type FoundToken } from '../principals/find-token.ts'
import { hasExpiredEverywhere } from '../principals/has-expired-everywhere.ts'
import { unknown } from './admin-error.ts'

/** A token that the operator holds, and why no resource may rely on it at this moment; undefined: it may. */
export interface InspectedToken {
  readonly token: FoundToken
  readonly end: End | undefined
}

/** Says what a token is; undefined: nothing that this server issued and still knows of. */
export async function inspectToken(
  context: Pick<Context, 'clock' | 'secrets' | 'store' | 'tokenReader' | 'notBefore'>,
  text: string,
): Promise<InspectedToken | undefined> {
  const token = await findToken(context, text)
  if (token === undefined) return undefined
  return { token, end: await findInactiveReason(context, token, context.clock()) }
}

/** What was ended: one access token, or a grant with everything that was issued on it. */
export type RevokedToken =
  | {
      readonly kind: 'access'
      readonly tokenId: string
      /** undefined: it is opaque. */
      readonly jwtExpiresAt: EpochMs | undefined
    }
  | { readonly kind: 'family'; readonly grantId: GrantId; readonly resources: readonly Resource[] }

/**
 * Ends a token on every node, before this is answered (decisions.md D5). A refresh token takes its grant with it, and so
 * does an access token of a grant when its `family` is meant.
 *
 * @throws AdminError when it is no token of this server, or none with a family
 */
export async function revokeToken(
  context: Pick<Context, 'clock' | 'clockCheck' | 'secrets' | 'store' | 'tokenReader'>,
  text: string,
  extent: 'token' | 'family',
): Promise<RevokedToken> {
  const { store, clock, clockCheck } = context
  const found = await findToken(context, text)
  if (found === undefined) throw unknown('This is no token that the server issued and still knows of.')
  const grantId = found.kind === 'refresh' ? found.grant.id : extent === 'family' ? found.facts.grantId : undefined
  const { clientId, userId, organizationId, resources } = found.kind === 'refresh' ? found.grant : found.facts
  const about = { clientId, userId, organizationId }
  if (grantId !== undefined) {
    await store.revokeGrant({ id: grantId, now: clock(), about })
    return { kind: 'family', grantId, resources }
  }
  if (found.kind === 'refresh' || extent === 'family') {
    throw unknown('The client got this token without a person, so there is no grant to end with it.')
  }
  const { tokenId } = found.facts
  const expiresAt = (found.facts.expiresAt * 1000) as EpochMs
  if (!hasExpiredEverywhere(clockCheck, expiresAt)) await store.revokeToken({ tokenId, expiresAt, about })
  const isOpaque = context.secrets.verify('access-token', text) !== undefined
  return { kind: 'access', tokenId, jwtExpiresAt: isOpaque ? undefined : expiresAt }
}
