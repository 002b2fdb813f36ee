import type { Context } from '../ports/context.ts'
import type { ClientRecord } from '../ports/records/client.ts'
import type { GrantRecord } from '../ports/records/grant.ts'
import type { AccessTokenFacts } from '../protocol/token/access-token.ts'
import { toSeconds, type EpochMs } from '../base/brand.ts'
import { isFromFuture } from '../base/clock.ts'
import { ALWAYS_MET, findRuling, hasNoRules } from './access-rules.ts'
import { findInvalidPrincipal, type InvalidPrincipal } from './invalid-principal.ts'
import type { FoundToken } from './find-token.ts'

/** The milliseconds that a time-ordered id begins with (ids.ts). */
const TIME_PREFIX = /^[0-9a-f]{12}/

/** Why a token is inactive: because of the token itself, its grant, or a principal behind it. */
export const INACTIVE_REASONS = [
  'expired',
  /** The token was issued by a node whose clock was ahead. */
  'not-yet-valid',
  'revoked',
  /** An earlier refresh token was used in another network: the grant gives nothing until the newest one is used there (decision 0054). */
  'held',
  /** A refresh token that was rotated. */
  'replaced',
  'client',
  'server',
  'user',
  'organization',
  'membership',
  'installation',
  /** Access rules leave nothing of it for its user. */
  'access-rule',
] as const satisfies readonly (
  | InvalidPrincipal
  | 'expired'
  | 'not-yet-valid'
  | 'revoked'
  | 'held'
  | 'replaced'
  | 'access-rule'
)[]
export type End = (typeof INACTIVE_REASONS)[number]

/**
 * Returns the token with the scope that access rules leave of it at this time, or why a resource must not accept it (decision 0005). A refresh
 * token keeps its scope: each token that it gets has what is left.
 */
export async function checkToken<Found extends FoundToken>(
  context: Context,
  found: Found,
  now: EpochMs,
): Promise<Found | End> {
  const reason = await findInactiveReason(context, found, now)
  if (reason !== undefined) return reason
  if (found.kind === 'refresh' || hasNoRules(context, found.facts.organizationId)) return found
  const { organizationId, resources, scope, userId } = found.facts
  const client = userId === undefined ? undefined : await context.store.findClient(found.owner)
  if (client === undefined || userId === undefined) return found
  const ruling = await findRuling(context, { client, userId, organizationId, scope, resources }, ALWAYS_MET)
  if (ruling === undefined) return found
  return ruling.isNothing ? 'access-rule' : { ...found, facts: { ...found.facts, scope: ruling.scope } }
}

async function findInactiveReason(context: Context, found: FoundToken, now: EpochMs): Promise<End | undefined> {
  const { store } = context
  if (found.kind === 'refresh') {
    const { grant, isNewest } = found
    if (now >= (grant.family?.idleExpiresAt ?? 0)) return 'expired'
    const end = await findGrantReason(context, await store.findClient(found.owner), grant, now)
    return end ?? (isNewest ? undefined : 'replaced')
  }
  const { facts } = found
  if (facts.expiresAt <= toSeconds(now)) return 'expired'
  if (isFromFuture((facts.issuedAt * 1000) as EpochMs, now)) return 'not-yet-valid'
  const [client, isRevoked, grant] = await Promise.all([
    store.findClient(found.owner),
    isRevokedToken(store, facts),
    facts.grantId === undefined ? undefined : store.findGrant(facts.grantId),
  ])
  if (isRevoked) return 'revoked'
  if (facts.grantId !== undefined) return findGrantReason(context, client, grant, now)
  const { userId, organizationId } = facts
  const principals = { client, userId, organizationId, isUnattended: true }
  const since = Math.min(issueTime(facts), facts.issuedAfter ?? Infinity) as EpochMs
  return findInvalidPrincipal(context, principals, since)
}

/** Whether the token was revoked, or the client's token that APIs exchanged for it, which it never outlives. */
async function isRevokedToken(
  store: Context['store'],
  { tokenId, firstTokenId }: Pick<AccessTokenFacts, 'tokenId' | 'firstTokenId'>,
): Promise<boolean> {
  if (firstTokenId === undefined) return store.isTokenRevoked(tokenId)
  return (await Promise.all([tokenId, firstTokenId].map((id) => store.isTokenRevoked(id)))).includes(true)
}

/**
 * Returns why a grant gives no access; undefined if it does. A token that was issued on a grant is checked from the time of the user's
 * approval, which is never later than the token's.
 */
export async function findGrantReason(
  context: Context,
  client: ClientRecord | undefined,
  grant: GrantRecord | undefined,
  now: EpochMs,
): Promise<End | undefined> {
  // Expired grants are swept, so a missing grant has expired.
  if (grant === undefined || grant.expiresAt <= now) return 'expired'
  if (isFromFuture(grant.createdAt, now)) return 'not-yet-valid'
  if (grant.revokedAt !== undefined) return 'revoked'
  if (grant.family?.heldFor !== undefined) return 'held'
  const { userId, organizationId, createdAt } = grant
  const principals = { client, userId, organizationId, isUnattended: false }
  return findInvalidPrincipal(context, principals, createdAt)
}

/**
 * Returns when an access token without a grant was issued, to the millisecond.
 *
 * `iat` has whole seconds only, and an organization that installs a client may get its first token within the same second.
 * The milliseconds are in the token's `jti`: it starts with the time of issue, or with the expiry time, which is a whole
 * number of seconds later. For a `jti` that does not, the start of the second is returned, so that a token from before a
 * not-before time never appears to be from after it (threats.md INT-06).
 */
export function issueTime({ tokenId, issuedAt, expiresAt }: AccessTokenFacts): EpochMs {
  const second = issuedAt * 1000
  const idTime = Number.parseInt(TIME_PREFIX.exec(tokenId)?.[0] ?? '', 16) as EpochMs
  const isOfThisToken = toSeconds(idTime) === issuedAt || toSeconds(idTime) === expiresAt
  return (isOfThisToken ? second + (idTime % 1000) : second) as EpochMs
}
