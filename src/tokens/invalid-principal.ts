import type { Context } from '../ports/context.ts'
import type { ClientRecord } from '../ports/records/client.ts'
import type { SessionRecord, UserRecord } from '../ports/records/user.ts'
import type { EpochMs } from '../base/brand.ts'
import type { OrganizationId, UserId } from '../protocol/ids.ts'

/** The principals behind a grant, a code or a token (decision 0005). */
export interface Principals {
  readonly client: ClientRecord | undefined
  /** undefined: the client acts for itself. */
  readonly userId: UserId | undefined
  /** undefined: no organization. */
  readonly organizationId: OrganizationId | undefined
  /** No user took part, so that only the organization's installation permits the client to act there. */
  readonly isUnattended: boolean
}

/** The principal that makes a token invalid. `server`: the server's not-before time, which revokes all tokens. */
export type InvalidPrincipal = 'client' | 'server' | 'user' | 'organization' | 'membership' | 'installation'

/**
 * The validity rule (threats.md TOK-18, RT-11, INT-06, INT-08): a grant, a code or a token is valid only while every
 * principal behind it (client, user, organization, membership, installation) exists, is enabled, and has no not-before time
 * later than `since`, the time at which the user approved it or it was issued. The server's own not-before time applies to
 * all.
 *
 * Returns the first principal that fails; undefined if it is valid.
 */
export async function findInvalidPrincipal(
  { store, notBefore }: Context,
  { client, userId, organizationId, isUnattended }: Principals,
  since: EpochMs,
): Promise<InvalidPrincipal | undefined> {
  if (!isLiveSince(client, since)) return 'client'
  if (organizationId === undefined) {
    // The usual case, without a promise for each principal that does not exist. The not-before time is a copy in memory.
    if (since < (await notBefore())) return 'server'
    if (userId === undefined) return undefined
    return isLiveSince(await store.findUser(userId), since) ? undefined : 'user'
  }
  const isInstalled = isUnattended
  const isMember = userId !== undefined
  const [serverNotBefore, user, organization, membership, installation] = await Promise.all([
    notBefore(),
    userId === undefined ? undefined : store.findUser(userId),
    store.findOrganization(organizationId),
    isMember ? store.findMembership({ userId, organizationId }) : undefined,
    isInstalled ? store.findInstallation({ clientId: client.id, organizationId }) : undefined,
  ])
  if (since < serverNotBefore) return 'server'
  if (userId !== undefined && !isLiveSince(user, since)) return 'user'
  if (!isLiveSince(organization, since)) return 'organization'
  if (isMember && !isLiveSince(membership, since)) return 'membership'
  if (!isInstalled) return undefined
  if (!isLiveSince(installation, since)) return 'installation'
  return isMember && !installation.actsForMembers ? 'installation' : undefined
}

/**
 * Returns the newest not-before time of the principals behind a token without a grant, and of the server. A token that keeps it is
 * invalid after the next revocation, even if the clock that issued the token was ahead (threats.md STO-13).
 */
export async function findNewestNotBefore(
  { store, notBefore }: Context,
  { client, userId, organizationId }: Omit<Principals, 'isUnattended'> & { readonly client: ClientRecord },
): Promise<EpochMs> {
  const principals: (Principal | undefined)[] = [
    client,
    userId === undefined ? undefined : await store.findUser(userId),
  ]
  if (organizationId !== undefined) {
    principals.push(
      ...(await Promise.all([
        store.findOrganization(organizationId),
        store.findInstallation({ clientId: client.id, organizationId }),
        userId === undefined ? undefined : store.findMembership({ userId, organizationId }),
      ])),
    )
  }
  return Math.max(await notBefore(), ...principals.map((principal) => principal?.notBefore ?? 0)) as EpochMs
}

/** What all principals have in common. */
interface Principal {
  readonly disabledAt: EpochMs | undefined
  readonly notBefore: EpochMs | undefined
}

/** Whether the principal exists, is enabled, and has no not-before time later than `since`. */
export function isLiveSince<Record extends Principal>(record: Record | undefined, since: EpochMs): record is Record {
  return record !== undefined && record.disabledAt === undefined && since >= (record.notBefore ?? 0)
}

/**
 * Whether a session signs its user in. A session that has expired, or that started before the not-before time of its user or of the server,
 * may still be stored.
 */
export function isLiveSession(
  { createdAt, expiresAt }: Pick<SessionRecord, 'createdAt' | 'expiresAt'>,
  user: UserRecord | undefined,
  { now, serverNotBefore }: { readonly now: EpochMs; readonly serverNotBefore: EpochMs },
): user is UserRecord {
  return expiresAt > now && createdAt >= serverNotBefore && isLiveSince(user, createdAt)
}
