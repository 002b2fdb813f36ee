import type { OpaqueTokenRecord } from '../ports/records/api.ts'
import type { AuthorizationRecord, AuthorizationStatus } from '../ports/records/authorization.ts'
import type { ConsentKey, ConsentRecord } from '../ports/records/grant.ts'
import type { Hit } from '../ports/operations/server.ts'
import type { EpochMs } from '../base/brand.ts'
import type { AccessTokenFacts } from '../protocol/token/access-token.ts'
import type { AuthorizationId, ClientId, OpaqueTokenId, OrganizationId, UserId } from '../protocol/ids.ts'
import { readResourcesKey } from '../protocol/token/resource.ts'
import type { SecretHash } from '../protocol/secrets.ts'
import { MAXIMA } from '../base/maxima.ts'

/** What both stores share: the columns of the schema (migrations/), and the records that are made from them. */

/** A value of a column or of a statement's parameter. */
export type Value = string | number | null
export type Row = Readonly<Record<string, Value>>

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
type StoredRequest = Pick<AuthorizationRecord, (typeof REQUEST_MEMBERS)[number]>

/** The browsers that are remembered for each user. Beyond it the one seen longest ago is removed. */
export const BROWSER_LIMIT = MAXIMA.browsers.most

/** The sessions of a user. Beyond it the oldest is removed, as if it had expired. */
export const SESSION_LIMIT = MAXIMA.sessions.most

/**
 * Returns the start of the fixed window. Fixed windows can be counted exactly, and their rows can be swept once the window
 * is over.
 */
export function windowStart({ now, windowMs }: Pick<Hit, 'now' | 'windowMs'>): number {
  return now - (now % windowMs)
}

/** Returns an id below which all ids from before a time sort: ids start with 12 hex digits of milliseconds. */
export function idBefore(time: number, prefix: string): string {
  return prefix + Math.max(0, time).toString(16).padStart(12, '0')
}

/** Reads the record from the row that a query found, if it found one. */
export function recordOf<T>(row: unknown, read: (row: Row) => T): T | undefined {
  return row === undefined ? undefined : read(row as Row)
}

/** The text of the column `request`. */
export function requestText(authorization: AuthorizationRecord): string {
  return JSON.stringify(Object.fromEntries(REQUEST_MEMBERS.map((name) => [name, authorization[name]])))
}

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

/**
 * The part of a consent's key that says what the consent is for: the organization, a space, and the resources (`resourcesKey`). Without an
 * organization it begins with the space, because a chosen id of an organization may look like a resource.
 */
export function consentTarget({ organizationId, resources }: ConsentKey): string {
  return `${organizationId ?? ''} ${resources}`
}

/** Reads what `consentTarget` wrote. Many resources are stored as a digest, which names none. */
export function readConsentTarget(target: string): ConsentRecord['target'] {
  const end = target.indexOf(' ')
  const organizationId = end === 0 ? undefined : (target.slice(0, end) as OrganizationId)
  return { organizationId, resources: readResourcesKey(target.slice(end + 1)) }
}

export function opaqueTokenOf(row: Row): OpaqueTokenRecord {
  const facts = JSON.parse(row['facts'] as string) as AccessTokenFacts
  return {
    id: row['token_id'] as OpaqueTokenId,
    hash: row['token_hash'] as SecretHash,
    // JSON has no undefined, so absent members are set to undefined here.
    facts: {
      ...facts,
      userId: facts.userId,
      organizationId: facts.organizationId,
      grantId: facts.grantId,
      authentication: facts.authentication,
    },
  }
}
