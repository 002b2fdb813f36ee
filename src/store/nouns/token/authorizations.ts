import type { AuthorizationRecord, AuthorizationStatus } from '../../../ports/records/authorization.ts'
import type { OpenCodes } from '../../../ports/store.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { AuthorizationId, ClientId, OrganizationId, UserId } from '../../../protocol/ids.ts'
import type { SecretHash } from '../../../protocol/secrets.ts'
import { type NounOperations, when } from '../../noun.ts'
import { idBefore, type Row } from '../../rows.ts'
import { eachOf, idKey, rows, shared, type Steps } from '../../shared/statement.ts'

/** The members of an authorization that no statement searches by. They are stored as JSON. Only an approval may change them. */
const REQUEST_MEMBERS = [
  'redirectUri',
  'responseMode',
  'state',
  'codeChallenge',
  'keyThumbprint',
  'scope',
  'ungrantedScope',
  'resources',
  'mustSignIn',
  'mustConsent',
  'authenticatedSince',
  'authentication',
  'stated',
  'onlyUserId',
  'loginHint',
  'organizationId',
  'openid',
  'pushedRequestId',
  'device',
] as const satisfies readonly (keyof AuthorizationRecord)[]

/** The columns that `authorizationOf` reads. */
export const AUTHORIZATION_COLUMNS = [
  'authorization_id',
  'client_id',
  'browser_hash',
  'request',
  'created_at',
  'expires_at',
  'status',
  'user_id',
  'organization_id',
  'code_hash',
  'approved_at',
] as const

/**
 * A code was redeemed exactly if a grant has the id of its authorization. Both rows are on one shard. A statement that
 * waits for the lock of a redemption does not look again, but the next one sees the grant.
 */
export const NOT_REDEEMED = 'not exists (select 1 from grants where grant_id = authorization_id)'

const OF_CODE = `authorization_id = :id and code_hash = :codeHash and status = 'approved' and expires_at > :now`
/** Changes nothing, and waits for a redemption. */
const HOLD = shared(`update authorizations set status = status where ${OF_CODE} returning authorization_id`)
const BURN = shared(
  `update authorizations set status = 'burned' where ${OF_CODE} and ${NOT_REDEEMED} returning authorization_id`,
)

const DENY = shared(
  `update authorizations set status = 'denied'
   where authorization_id = :id and status = 'pending' and expires_at > :now returning authorization_id`,
)
const FIND_STATE = shared('select status, expires_at from authorizations where authorization_id = :id')

const OPEN = `user_id = :userId and authorization_id >= :startedAfter and status = 'approved' and expires_at > :now
     and ${NOT_REDEEMED}`
const LIST_OPEN = shared(
  `select * from authorizations where ${eachOf('authorizations', OPEN, 'startedAfter')}
   order by authorization_id desc limit :limit`,
)

const operations = {
  denyAuthorization: {
    keys: idKey,
    cache: 'kept',
    event: when('denied', ({ id, about }) => ({
      event: 'authorization.denied',
      ...about,
      details: { authorization: id, ...about?.details },
    })),
    *run({ id, now }) {
      return (yield* rows(DENY, { id, now })).length === 1 ? 'denied' : yield* whyNotPending(id, now)
    },
  },
  burnCode: {
    keys: idKey,
    cache: 'kept',
    event: when('burned', ({ id, about }) => ({ event: 'code.burned', ...about, details: { authorization: id } })),
    *run({ id, codeHash, now }) {
      const code = { id, codeHash, now }
      if ((yield* rows(HOLD, code)).length === 0) return 'spent'
      return (yield* rows(BURN, code)).length === 1 ? 'burned' : 'spent'
    },
  },
  // Each engine writes these by itself.
  startAuthorization: { cache: 'kept', event: 'no-event' },
  approveAuthorization: {
    cache: 'kept',
    event: when('approved', ({ id, userId, organizationId, about }) => ({
      event: 'authorization.approved',
      ...about,
      userId,
      organizationId,
      details: { authorization: id, ...about?.details },
    })),
  },
  redeemCode: {
    cache: 'kept',
    // A token that is issued normally is counted instead (tokens.issued).
    event: when('replayed', ({ grant: { id, clientId, userId, organizationId } }) => ({
      event: 'code.replayed',
      clientId,
      userId,
      organizationId,
      details: { authorization: id },
    })),
  },
} satisfies NounOperations

const reads = {
  *listOpenCodes({ userId, now, codesSince, limit }: OpenCodes): Steps<readonly AuthorizationRecord[]> {
    const parameters = { userId, now, startedAfter: idBefore(codesSince, ''), limit }
    return (yield* rows(LIST_OPEN, parameters)).map(authorizationOf)
  },
}

export const authorizations = { operations, reads }

type StoredRequest = Pick<AuthorizationRecord, (typeof REQUEST_MEMBERS)[number]>

/** The text of the column `request`. */
export function requestText(authorization: AuthorizationRecord): string {
  return JSON.stringify(Object.fromEntries(REQUEST_MEMBERS.map((name) => [name, authorization[name]])))
}

export function authorizationOf(row: Row): AuthorizationRecord {
  const request = JSON.parse(row['request'] as string) as StoredRequest
  const { openid } = request
  // Each member is named: JSON has no undefined, so it leaves out members that are absent.
  return {
    redirectUri: request.redirectUri,
    state: request.state,
    codeChallenge: request.codeChallenge,
    keyThumbprint: request.keyThumbprint,
    scope: request.scope,
    resources: request.resources,
    mustSignIn: request.mustSignIn,
    mustConsent: request.mustConsent,
    authenticatedSince: request.authenticatedSince,
    authentication: request.authentication,
    stated: request.stated,
    onlyUserId: request.onlyUserId,
    loginHint: request.loginHint,
    organizationId: request.organizationId,
    openid: openid && { nonce: openid.nonce, idTokenClaims: openid.idTokenClaims, session: openid.session },
    pushedRequestId: request.pushedRequestId,
    device: request.device,
    responseMode: request.responseMode,
    ungrantedScope: request.ungrantedScope,
    id: row['authorization_id'] as AuthorizationId,
    clientId: row['client_id'] as ClientId,
    browserHash: row['browser_hash'] as SecretHash,
    createdAt: row['created_at'] as EpochMs,
    expiresAt: row['expires_at'] as EpochMs,
    status: statusOf(row),
  }
}

function statusOf(row: Row): AuthorizationStatus {
  const approval = {
    userId: row['user_id'] as UserId,
    organizationId: (row['organization_id'] ?? undefined) as OrganizationId | undefined,
    codeHash: row['code_hash'] as SecretHash,
    approvedAt: row['approved_at'] as EpochMs,
  }
  switch (row['status']) {
    case 'pending':
    case 'denied':
      return { kind: row['status'] }
    case 'approved':
    case 'burned':
      return { kind: row['status'], ...approval }
    default:
      throw new Error(`An authorization has the unknown status ${String(row['status'])}.`)
  }
}

/** Why an authorization was not pending: the user decided before, or it does not exist or has expired. */
export function* whyNotPending(id: AuthorizationId, now: EpochMs): Steps<'decided' | 'unknown'> {
  const [row] = yield* rows(FIND_STATE, { id })
  const isGone = row === undefined || (row['status'] === 'pending' && (row['expires_at'] as number) <= now)
  return isGone ? 'unknown' : 'decided'
}
