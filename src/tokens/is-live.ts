import type { Context } from '../ports/context.ts'
import type { ClientRecord, GrantRecord } from '../ports/records.ts'
import { toSeconds, type EpochMs } from '../protocol/brand.ts'
import { findLapse } from './find-lapse.ts'
import type { FoundToken } from './find-token.ts'
import { issueMoment } from './issue-moment.ts'

type Needs = Pick<Context, 'validFrom'> & {
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

/** Whether a resource may rely on it at this moment: not expired, not revoked, and nobody that it speaks for is gone (decisions.md D5). */
export async function isLive(context: Needs, found: FoundToken, now: EpochMs): Promise<boolean> {
  const { store } = context
  if (found.kind === 'refresh') {
    const { grant, isNewest } = found
    if (!isNewest || now >= (grant.family?.idleExpiresAt ?? 0)) return false
    return isLiveGrant(context, await store.findClient(found.owner), grant, now)
  }
  const { facts } = found
  if (facts.expiresAt <= toSeconds(now)) return false
  const [client, isRevoked, grant] = await Promise.all([
    store.findClient(found.owner),
    store.isTokenRevoked(facts.tokenId),
    facts.grantId === undefined ? undefined : store.findGrant(facts.grantId),
  ])
  if (isRevoked) return false
  if (facts.grantId !== undefined) return isLiveGrant(context, client, grant, now)
  const { userId, organizationId } = facts
  const principals = { client, userId, organizationId, isUnattended: true }
  return (await findLapse(context, principals, issueMoment(facts))) === undefined
}

/** What was issued on a grant counts from when the person allowed it, which is no later. */
async function isLiveGrant(
  context: Needs,
  client: ClientRecord | undefined,
  grant: GrantRecord | undefined,
  now: EpochMs,
): Promise<boolean> {
  if (grant === undefined || grant.revokedAt !== undefined || grant.expiresAt <= now) return false
  const { userId, organizationId, createdAt } = grant
  const principals = { client, userId, organizationId, isUnattended: false }
  return (await findLapse(context, principals, createdAt)) === undefined
}
