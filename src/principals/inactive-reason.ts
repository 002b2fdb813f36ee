import type { Context } from '../ports/context.ts'
import type { ClientRecord } from '../ports/records/client.ts'
import type { GrantRecord } from '../ports/records/grant.ts'
import { toSeconds, type EpochMs } from '../protocol/brand.ts'
import { isFromFuture } from '../protocol/clock.ts'
import { findInvalidPrincipal, type InvalidPrincipal } from './invalid-principal.ts'
import type { FoundToken } from './find-token.ts'
import { issueMoment } from './issue-time.ts'

type Needs = Pick<Context, 'notBefore'> & {
  readonly store: Pick<
    Context['store'],
    | 'findClient'
    | 'findGrant'
    | 'findInstallation'
    | 'findMembership'
    | 'findOrganization'
    | 'findUser'
    | 'isTokenRevoked'
  >
}

/** Why a token is good no more: of itself, with its grant, or with one of those that it speaks for. */
export const INACTIVE_REASONS = [
  'expired',
  /** It was issued by a clock that was ahead. */
  'not-yet-valid',
  'revoked',
  /** Of a refresh token: a newer one took its place. */
  'replaced',
  'client',
  'everybody',
  'user',
  'organization',
  'membership',
  'installation',
] as const satisfies readonly (InvalidPrincipal | 'expired' | 'not-yet-valid' | 'revoked' | 'replaced')[]
export type End = (typeof INACTIVE_REASONS)[number]

/** Why no resource may rely on it at this moment (decisions.md D5). undefined: it may. */
export async function findInactiveReason(context: Needs, found: FoundToken, now: EpochMs): Promise<End | undefined> {
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
    store.isTokenRevoked(facts.tokenId),
    facts.grantId === undefined ? undefined : store.findGrant(facts.grantId),
  ])
  if (isRevoked) return 'revoked'
  if (facts.grantId !== undefined) return findGrantReason(context, client, grant, now)
  const { userId, organizationId } = facts
  const principals = { client, userId, organizationId, isUnattended: true }
  return findInvalidPrincipal(context, principals, issueMoment(facts))
}

/** What was issued on a grant counts from when the person allowed it, which is no later. */
async function findGrantReason(
  context: Needs,
  client: ClientRecord | undefined,
  grant: GrantRecord | undefined,
  now: EpochMs,
): Promise<End | undefined> {
  // A grant is swept when it has expired.
  if (grant === undefined || grant.expiresAt <= now) return 'expired'
  if (isFromFuture(grant.createdAt, now)) return 'not-yet-valid'
  if (grant.revokedAt !== undefined) return 'revoked'
  const { userId, organizationId, createdAt } = grant
  const principals = { client, userId, organizationId, isUnattended: false }
  return findInvalidPrincipal(context, principals, createdAt)
}
