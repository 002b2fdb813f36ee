import type { Context } from '../ports/context.ts'
import type { ClientRecord } from '../ports/records/client.ts'
import type { EpochMs } from '../protocol/brand.ts'
import type { OrganizationId, UserId } from '../protocol/ids.ts'

/** Whom something that was allowed or issued speaks for (decisions.md D4). */
export interface Principals {
  readonly client: ClientRecord | undefined
  /** undefined: the client acts for itself. */
  readonly userId: UserId | undefined
  /** undefined: for no organization. */
  readonly organizationId: OrganizationId | undefined
  /** No person took part, so that the organization's installation is what gives the client anything there. */
  readonly isUnattended: boolean
}

/** Who is gone, disabled, or began anew since. `everybody`: the operator ended everything from before a moment. */
export type InvalidPrincipal = 'client' | 'everybody' | 'user' | 'organization' | 'membership' | 'installation'

type Needs = Pick<Context, 'notBefore'> & {
  readonly store: Pick<Context['store'], 'findInstallation' | 'findMembership' | 'findOrganization' | 'findUser'>
}

/**
 * THE RULE of who must be there for a grant, a code or a token to count (threats.md TOK-18, RT-11, INT-06, INT-08): all
 * whom it speaks for, not disabled, and without a moment after `since`, when it was allowed or issued, from which on alone
 * their things count. undefined: it counts.
 */
export async function findInvalidPrincipal(
  { store, notBefore }: Needs,
  { client, userId, organizationId, isUnattended }: Principals,
  since: EpochMs,
): Promise<InvalidPrincipal | undefined> {
  if (!isLiveSince(client, since)) return 'client'
  const isInstalled = isUnattended && organizationId !== undefined
  const isMember = userId !== undefined && organizationId !== undefined
  const [everybodyFrom, user, organization, membership, installation] = await Promise.all([
    notBefore(),
    userId === undefined ? undefined : store.findUser(userId),
    organizationId === undefined ? undefined : store.findOrganization(organizationId),
    isMember ? store.findMembership({ userId, organizationId }) : undefined,
    isInstalled ? store.findInstallation({ clientId: client.id, organizationId }) : undefined,
  ])
  if (since < everybodyFrom) return 'everybody'
  if (userId !== undefined && !isLiveSince(user, since)) return 'user'
  if (organizationId !== undefined && !isLiveSince(organization, since)) return 'organization'
  if (isMember && !isLiveSince(membership, since)) return 'membership'
  if (!isInstalled) return undefined
  if (!isLiveSince(installation, since)) return 'installation'
  return isMember && !installation.actsForMembers ? 'installation' : undefined
}

/** What all whom a token may speak for have in common. */
interface Principal {
  readonly disabledAt: EpochMs | undefined
  readonly notBefore: EpochMs | undefined
}

/** Whether what was done in its name at a moment still counts: it is there, not disabled, and did not begin anew since. */
export function isLiveSince<Record extends Principal>(record: Record | undefined, since: EpochMs): record is Record {
  return record !== undefined && record.disabledAt === undefined && since >= (record.notBefore ?? 0)
}
