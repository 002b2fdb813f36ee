import type { Approval } from '../../../ports/operations/authorization.ts'
import type { Input, Outcome } from '../../../ports/operations/index.ts'
import type {
  ConsentedHost,
  ConsentKey,
  ConsentRecord,
  GrantRecord,
  OpenidGrant,
} from '../../../ports/records/grant.ts'
import type { GrantFilter, LiveGrants, Page } from '../../../ports/store.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { OrganizationId, GrantId, UserId } from '../../../protocol/ids.ts'
import type { StatedAuthentication } from '../../../protocol/sign-in/acr.ts'
import { readResourcesKey } from '../../../protocol/token/resource.ts'
import { NO_SCOPE, scopeTokens, unite, type Scope } from '../../../protocol/token/scope.ts'
import { type NounOperations, when } from '../../noun.ts'
import { idBefore } from '../../rows.ts'
import { holdIdentity } from '../../shared/sign-in/held-sign-in.ts'
import { eachOf, newestOf, rows, shared, type SharedStatement, type Steps } from '../../shared/statement.ts'
import { bigint, json, optionalGroup, optionalJson, optionalScope, table, text, without } from '../../table.ts'

export const GRANTS = table<GrantRecord>({
  id: text('grant_id'),
  clientId: text('client_id'),
  userId: text('user_id'),
  organizationId: text('organization_id'),
  scope: text('scope'),
  ungrantedScope: optionalScope('ungranted_scope'),
  resources: json('resources'),
  createdAt: bigint('created_at'),
  expiresAt: bigint('expires_at'),
  revokedAt: bigint('revoked_at'),
  family: optionalGroup('live_hash', {
    generation: bigint('generation'),
    liveHash: text('live_hash'),
    rotatedAt: bigint('rotated_at'),
    idleExpiresAt: bigint('idle_expires_at'),
    network: text('network'),
    heldFor: text('held_for'),
  }),
  openid: optionalJson<OpenidGrant>('openid'),
  stated: optionalJson<StatedAuthentication>('stated'),
  redirectHost: text('redirect_host'),
  boundKey: optionalGroup('key_thumbprint', {
    thumbprint: text('key_thumbprint'),
    generation: bigint('key_generation'),
  }),
  providerId: text('provider_id'),
})

/** Of the columns, those that users see. */
const CONSENTS = table<ConsentRecord>({
  clientId: text('client_id'),
  redirectHost: text('redirect_host'),
  target: { columns: [], read: (row) => readConsentTarget(row['resources'] as string) },
  scope: text('scope'),
  givenAt: bigint('given_at'),
  under: {
    columns: [],
    read: (row) => ({
      server: (row['server_not_before'] ?? undefined) as EpochMs | undefined,
      organization: (row['organization_not_before'] ?? undefined) as EpochMs | undefined,
    }),
  },
})

/** The columns that a new grant sets: it was not revoked, and its family is not held. */
export const NEW_GRANT = without(GRANTS, 'revoked_at', 'held_for')

const LIST = shared('select * from grants where grant_id < :before order by grant_id desc limit :limit')
const LIST_OF_CLIENT = shared(
  `select * from grants where grant_id < :before and grant_id >= :from and client_id = :clientId
   order by grant_id desc limit :limit`,
)
const OF_USER = `user_id = :userId and grant_id < :before
     and (cast(:clientId as text) is null or client_id = :clientId)
     and (cast(:organizationId as text) is null or organization_id = :organizationId)`
const LIST_OF_USER = shared(
  `select * from grants where ${eachOf('grants', OF_USER)} order by grant_id desc limit :limit`,
)
const LIST_OF_ORGANIZATION = shared(
  `select * from grants where ${newestOf('organization_id', ':organizationId', 'grant_id')} limit :limit`,
)
const LIST_OF_BOTH = shared(
  `select * from grants where client_id = :clientId and ${newestOf('organization_id', ':organizationId', 'grant_id')}
   limit :limit`,
)
const FIND_CONSENT = shared(
  `select scope from consents
   where user_id = :userId and client_id = :clientId and redirect_host = :redirectHost and resources = :target
     and given_at >= :since and server_not_before = :serverNotBefore
     and organization_not_before is not distinct from cast(:organizationNotBefore as bigint)`,
)
/** Changes nothing where a consent to another scope is valid, but locks its row even then. */
const REMEMBER = shared(
  `insert into consents as c (user_id, client_id, redirect_host, resources, scope, given_at, server_not_before, organization_not_before)
   values (:userId, :clientId, :redirectHost, :target, :scope, :now, :serverNotBefore, :organizationNotBefore)
   on conflict (user_id, client_id, redirect_host, resources)
   do update set scope = excluded.scope, given_at = excluded.given_at, server_not_before = excluded.server_not_before,
       organization_not_before = excluded.organization_not_before
     where c.given_at < :since or c.scope = excluded.scope or c.server_not_before is distinct from excluded.server_not_before
       or c.organization_not_before is distinct from excluded.organization_not_before
   returning user_id`,
)
const EXTEND = shared(
  `update consents set scope = :scope, given_at = :now
   where user_id = :userId and client_id = :clientId and redirect_host = :redirectHost and resources = :target`,
)
const HAS_CONSENTED = shared(
  `select scope from consents
   where user_id = :userId and client_id = :clientId and redirect_host = :redirectHost and given_at >= :since
     and server_not_before = :serverNotBefore limit 1`,
)

const LIVE = `user_id = :userId and revoked_at is null and expires_at > :now
     and (idle_expires_at is null or idle_expires_at > :now)`
const LIVE_OF_CLIENT = `${LIVE}
     and (cast(:clientId as text) is null or client_id = :clientId)
     and (cast(:redirectHost as text) is null or redirect_host = :redirectHost)`
const LIST_LIVE = shared(
  `select * from grants where ${eachOf('grants', LIVE_OF_CLIENT)} order by grant_id desc limit :limit`,
)
const LIST_BY_APP = shared(
  `select * from (
     select *, row_number() over (partition by client_id, organization_id order by grant_id desc) as place
     from grants where ${eachOf('grants', LIVE)}) as ranked
   order by place, grant_id desc limit :limit`,
)
const LIST_CONSENTS = shared(
  'select * from consents where user_id = :userId order by client_id, redirect_host, resources limit :limit',
)
const OF_APP = `user_id = :userId and client_id = :clientId
     and organization_id is not distinct from cast(:organizationId as text)`
const CODES_OF_APP = `authorization_id >= :startedAfter and status = 'approved' and ${OF_APP}`
const GRANTS_OF_APP = `${OF_APP} and revoked_at is null`
const BURN_OF_APP = shared(
  `update authorizations set status = 'burned' where ${eachOf('authorizations', CODES_OF_APP, 'startedAfter')}`,
)
const REVOKE_OF_APP = shared(
  `update grants set revoked_at = :now where ${eachOf('grants', GRANTS_OF_APP)} returning grant_id`,
)
/** Also deletes consents for other organizations: asking the user again is always safe. */
const FORGET_CONSENTS = shared('delete from consents where user_id = :userId and client_id = :clientId')

/** On SQLite in the row that the id names, if it is free. */
const OPEN = shared(
  `insert into grants (/*sqlite slot, */${NEW_GRANT.names})
   values (/*sqlite iif(exists (select 1 from grants where slot = slot_of(:grant_id)), null, slot_of(:grant_id)), */${NEW_GRANT.parameters})
   on conflict (grant_id) do nothing`,
)

const operations = {
  openGrant: {
    keys: ({ grant, identity }) => [grant.id, identity],
    cache: 'kept',
    event: 'no-event',
    run: openGrant,
  },
  removeApp: {
    keys: ({ userId }) => [userId],
    isAlone: true,
    cache: 'kept',
    event: ({ userId, clientId, organizationId }, { grants }) =>
      grants === 0 ? undefined : { event: 'app.removed', userId, clientId, organizationId, details: { grants } },
    run: removeApp,
  },
  // Each engine writes these by itself.
  rotateRefreshToken: {
    cache: 'kept',
    event: ({ grantId, generation, about, recordsParting }, outcome) => {
      switch (outcome.kind) {
        case 'reused': {
          const { wasHeld, why } = outcome
          const details = { generation, ...(why !== undefined && { why }), ...(wasHeld && { parted: true }) }
          return { event: 'refresh-token.reused', ...about, grantId, details }
        }
        case 'parted': {
          if (!recordsParting) return undefined
          const { newest, why } = outcome
          return { event: 'refresh-token.parted', ...about, grantId, details: { generation, newest, why } }
        }
        case 'rotated':
        case 'repeated':
        case 'earlier':
        case 'held':
        case 'inactive':
          return undefined
      }
    },
  },
  revokeGrant: {
    cache: 'kept',
    event: when('revoked', ({ id, about }) => ({ event: 'grant.revoked', ...about, grantId: id })),
  },
} satisfies NounOperations

const reads = {
  *listGrants(page: Page<GrantId> & GrantFilter): Steps<readonly GrantRecord[]> {
    const { before, from, limit, userId, organizationId, clientId } = page
    const parameters = { before: before ?? '~', from, limit, userId, organizationId, clientId }
    return (yield* rows(narrowest(page), parameters)).map(GRANTS.read)
  },
  *listLiveGrants(asked: LiveGrants): Steps<readonly GrantRecord[]> {
    const parameters = { ...asked, clientId: asked.clientId, redirectHost: asked.redirectHost }
    return (yield* rows(LIST_LIVE, parameters)).map(GRANTS.read)
  },
  *listGrantsByApp(asked: Pick<LiveGrants, 'userId' | 'now' | 'limit'>): Steps<readonly GrantRecord[]> {
    return (yield* rows(LIST_BY_APP, asked)).map(GRANTS.read)
  },
  *listConsents(userId: UserId, limit: number): Steps<readonly ConsentRecord[]> {
    return (yield* rows(LIST_CONSENTS, { userId, limit })).map(CONSENTS.read)
  },
  *findConsent(key: ConsentKey): Steps<Scope | undefined> {
    return (yield* rows(FIND_CONSENT, consentParameters(key)))[0]?.['scope'] as Scope | undefined
  },
  *hasConsented(key: ConsentedHost): Steps<boolean> {
    return (yield* rows(HAS_CONSENTED, { ...key, serverNotBefore: key.under.server })).length > 0
  },
}

export const grants = { operations, reads }

/**
 * The part of a consent's key that says what the consent is for: the organization, a space, and the resources (`resourcesKey`). Without an
 * organization it begins with the space, because a chosen id of an organization may look like a resource.
 */
function consentTarget({ organizationId, resources }: ConsentKey): string {
  return `${organizationId ?? ''} ${resources}`
}

/** The parameters of a statement about a consent. */
function consentParameters({ under, ...key }: ConsentKey) {
  return {
    ...key,
    target: consentTarget({ ...key, under }),
    serverNotBefore: under.server,
    organizationNotBefore: under.organization,
  }
}

/** Reads what `consentTarget` wrote. Many resources are stored as a digest, which names none. */
function readConsentTarget(target: string): ConsentRecord['target'] {
  const end = target.indexOf(' ')
  const organizationId = end === 0 ? undefined : (target.slice(0, end) as OrganizationId)
  return { organizationId, resources: readResourcesKey(target.slice(end + 1)) }
}

function* openGrant({ grant, identity }: Input<'openGrant'>): Steps<Outcome<'openGrant'>> {
  if ((yield* holdIdentity(identity, grant.userId)) === undefined) return 'unlinked'
  yield* rows(OPEN, NEW_GRANT.values(grant))
  return 'opened'
}

function* removeApp(removal: Input<'removeApp'>): Steps<Outcome<'removeApp'>> {
  // A code that another node is redeeming has a grant afterwards, which the next statement sees.
  yield* rows(BURN_OF_APP, { ...removal, startedAfter: idBefore(removal.codesSince, '') })
  const revoked = yield* rows(REVOKE_OF_APP, removal)
  yield* rows(FORGET_CONSENTS, removal)
  return { grants: revoked.length }
}

/** Remembers a consent. A consent that is still valid is extended by the scope. */
export function* rememberConsent(consent: NonNullable<Approval['remember']>, now: EpochMs): Steps<void> {
  const key = { ...consentParameters(consent), now }
  const remembered = yield* rows(REMEMBER, { ...key, scope: sorted(consent.scope) })
  if (remembered.length === 1) return
  const scope = unite((yield* reads.findConsent(consent)) ?? NO_SCOPE, consent.scope)
  yield* rows(EXTEND, { ...key, scope: sorted(scope) })
}

function sorted(scope: Scope): string {
  return scopeTokens(scope).toSorted().join(' ')
}

/** Searches by the filter that leaves the fewest rows. A user has few enough grants to sort them. */
function narrowest({ userId, organizationId, clientId }: GrantFilter): SharedStatement {
  if (userId !== undefined) return LIST_OF_USER
  if (organizationId === undefined) return clientId === undefined ? LIST : LIST_OF_CLIENT
  return clientId === undefined ? LIST_OF_ORGANIZATION : LIST_OF_BOTH
}
