import { describeNames } from '../../protocol/client/identity.ts'
import type { Context } from '../../ports/context.ts'
import type { AuditEvent } from '../../ports/records/audit.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import { readEvents } from '../../protocol/audit/audit-link.ts'
import { GRANT } from '../../answers/grant.ts'
import { IDENTITY } from '../../answers/identity.ts'
import { PASSKEY } from '../../answers/passkey.ts'
import { SESSION } from '../../answers/session.ts'
import { USER } from '../../answers/user.ts'
import { iso, isoOrNull } from '../../base/iso.ts'
import type { EpochMs } from '../../base/brand.ts'
import { identifierOf } from '../../protocol/client/identifier.ts'
import type { ClientId, UserId } from '../../protocol/ids.ts'

/** The newest rows of each kind. */
const ROW_LIMIT = 1000
/** Links of the audit: no index has the events of a user, so the newest links are searched. */
const LINK_LIMIT = 5000
const SLICE = 200

/** What users see of what operators see. */
const ACCOUNT = USER.pick(
  'user_id',
  'email',
  'email_verified_at',
  'name',
  'profile',
  'has_password',
  'first_signed_in_at',
  'last_signed_in_at',
  'created_at',
)
const GRANT_OF_ACCOUNT = GRANT.pick(
  'grant_id',
  'organization_id',
  'scope',
  'resources',
  'provider_id',
  'created_at',
  'expires_at',
  'revoked_at',
  'refreshed_at',
)
const SESSION_OF_ACCOUNT = SESSION.pick(
  'methods',
  'provider_id',
  'authenticated_at',
  'browser',
  'system',
  'network',
  'started_at',
  'seen_at',
  'expires_at',
)

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
      ...(client === undefined ? { client_name: null } : describeNames(client.metadata)),
    }
  }
  return {
    grantor_export: 1,
    exported_at: iso(now),
    account: ACCOUNT.show(user),
    identities: identities.map(IDENTITY.show),
    authenticator_app:
      app === undefined
        ? null
        : { added_at: iso(app.createdAt), used_at: isoOrNull(app.usedAt), recovery_codes: recoveryCodes },
    passkeys: passkeys.map(PASSKEY.show),
    organizations: await Promise.all(
      memberships.map(async ({ organizationId, createdAt, disabledAt }) => ({
        organization_id: organizationId,
        name: (await store.findOrganization(organizationId))?.name ?? null,
        member_since: iso(createdAt),
        disabled_at: isoOrNull(disabledAt),
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
      grants.map(async (grant) => ({ ...(await named(grant.clientId)), ...GRANT_OF_ACCOUNT.show(grant) })),
    ),
    sessions: sessions.map(SESSION_OF_ACCOUNT.show),
    audit,
  }
}

/** The newest events about the user. Of their details, those that are about a person: where the request came from. */
async function findEvents({ store }: Context, userId: UserId): Promise<object> {
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

function describeEvent(entry: AuditEvent, recordedAt: EpochMs): object {
  const { event, clientId, organizationId, grantId, details = {} } = entry
  return {
    recorded_at: iso(recordedAt),
    event,
    client_id: clientId ?? null,
    organization_id: organizationId ?? null,
    grant_id: grantId ?? null,
    ...Object.fromEntries(ORIGIN.map((name) => [name, details[name] ?? null])),
  }
}

/** `networks`: of repetitions, each with its number. */
const ORIGIN = ['browser', 'system', 'network', 'networks'] as const
