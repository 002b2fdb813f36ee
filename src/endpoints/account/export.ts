import type { Context } from '../../ports/context.ts'
import type { AuditEvent } from '../../ports/records/audit.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import { readEvents } from '../../protocol/audit/audit-link.ts'
import { describePasskey } from '../../users/passkey-document.ts'
import { describeIdentity } from '../../users/provider-routing.ts'
import type { EpochMs } from '../../base/brand.ts'
import { firstSignInOf } from '../../protocol/sign-in/account.ts'
import { identifierOf } from '../../protocol/client/identifier.ts'
import type { ClientId, UserId } from '../../protocol/ids.ts'

/** The newest rows of each kind. */
const ROW_LIMIT = 1000
/** Links of the audit: no index has the events of a user, so the newest links are searched. */
const LINK_LIMIT = 5000
const SLICE = 200

/**
 * What is kept about a user, as a document: snake_case, null for absent values, times as ISO 8601. It has no secret, no hash and no
 * address of an administrator (threats.md ACC-12).
 */
export async function exportUser(context: Context, user: UserRecord, now: EpochMs): Promise<object> {
  const { store } = context
  const { id: userId } = user
  const page = { userId, before: undefined, limit: ROW_LIMIT }
  const [memberships, identities, consents, grants, sessions, audit, app, recoveryCodes, passkeys] = await Promise.all([
    store.listMemberships(userId),
    store.listIdentities(userId),
    store.listConsents(userId, ROW_LIMIT),
    store.listGrants(page),
    store.listSessions(page),
    findEvents(context, userId),
    store.findSecondFactor(userId),
    store.countRecoveryCodes(userId),
    store.listPasskeys(userId),
  ])
  const named = async (id: ClientId): Promise<object> => {
    const client = await store.findClient(id)
    return {
      client_id: client === undefined ? id : identifierOf(client),
      client_name: client?.metadata.client_name ?? null,
    }
  }
  return {
    grantor_export: 1,
    exported_at: iso(now),
    account: {
      user_id: userId,
      email: user.email ?? null,
      email_verified_at: iso(user.emailVerifiedAt),
      name: user.name ?? null,
      profile: user.profile,
      has_password: user.passwordHash !== undefined,
      first_signed_in_at: iso(firstSignInOf(user)),
      created_at: iso(user.createdAt),
    },
    identities: identities.map(describeIdentity),
    authenticator_app:
      app === undefined
        ? null
        : { added_at: iso(app.createdAt), used_at: iso(app.usedAt), recovery_codes: recoveryCodes },
    passkeys: passkeys.map(describePasskey),
    organizations: await Promise.all(
      memberships.map(async ({ organizationId, createdAt, disabledAt }) => ({
        organization_id: organizationId,
        name: (await store.findOrganization(organizationId))?.name ?? null,
        member_since: iso(createdAt),
        disabled_at: iso(disabledAt),
      })),
    ),
    consents: await Promise.all(
      consents.map(async ({ clientId, redirectHost, target, scope, givenAt }) => ({
        ...(await named(clientId)),
        redirect_host: redirectHost,
        organization_id: target.organizationId ?? null,
        scope,
        resources: target.resources,
        given_at: iso(givenAt),
      })),
    ),
    grants: await Promise.all(
      grants.map(async (grant) => ({
        ...(await named(grant.clientId)),
        grant_id: grant.id,
        organization_id: grant.organizationId ?? null,
        scope: grant.scope,
        resources: grant.resources,
        provider_id: grant.providerId ?? null,
        created_at: iso(grant.createdAt),
        expires_at: iso(grant.expiresAt),
        revoked_at: iso(grant.revokedAt),
        refreshed_at: iso(grant.family?.rotatedAt),
      })),
    ),
    sessions: sessions.map(({ authentication, agent, network, createdAt, seenAt, expiresAt }) => ({
      methods: authentication.methods,
      provider_id: authentication.providerId ?? null,
      authenticated_at: iso(authentication.at),
      browser: agent?.browser ?? null,
      system: agent?.system ?? null,
      network: network ?? null,
      started_at: iso(createdAt),
      seen_at: iso(seenAt),
      expires_at: iso(expiresAt),
    })),
    audit,
  }
}

/** The newest events about the user, without their details. */
async function findEvents({ store }: Pick<Context, 'store'>, userId: UserId): Promise<object> {
  const events: object[] = []
  let before: string | undefined
  for (let read = 0; read < LINK_LIMIT; read += SLICE) {
    const links = await store.listAuditLinks({ before, limit: SLICE, since: 0 as EpochMs })
    for (const link of links) {
      const found = (readEvents(link) as readonly AuditEvent[]).filter((event) => event.userId === userId)
      events.push(...found.toReversed().map((event) => describeEvent(event, link.recordedAt)))
    }
    before = links.at(-1)?.id
    if (links.length < SLICE) return { events, is_complete: true }
  }
  return { events, is_complete: false }
}

function describeEvent({ event, clientId, organizationId, grantId }: AuditEvent, recordedAt: EpochMs): object {
  return {
    recorded_at: iso(recordedAt),
    event,
    client_id: clientId ?? null,
    organization_id: organizationId ?? null,
    grant_id: grantId ?? null,
  }
}

function iso(time: EpochMs | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString()
}
