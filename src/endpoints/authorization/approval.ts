import type { Context, OutcomeEvent } from '../../ports/context.ts'
import type { CookieChanges, Reply } from '../../ports/message.ts'
import type { DeviceEndPage } from '../../ports/pages/device.ts'
import type { AuditEvent } from '../../ports/records/audit.ts'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import type { NotifiedClient } from '../../ports/records/logout-notice.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import type { SessionRecord } from '../../ports/records/user.ts'
import type { PageReason } from '../../protocol/authorization/page-refusals.ts'
import { DEVICE_REDEMPTION_SECONDS } from '../../protocol/authorization/user-code.ts'
import { followsFapi } from '../../protocol/client/policy.ts'
import { after, type EpochMs } from '../../base/brand.ts'
import { grantIdOf, type UserId } from '../../protocol/ids.ts'
import { sameText, type MintedCredential } from '../../protocol/secrets.ts'
import { errorPage } from '../error-page.ts'
import { PATHS, pageAddress } from '../paths.ts'
import { sessionIdFor } from '../openid/id-token.ts'
import { describeError, explain, refuse, type Fault } from './authorization-error.ts'
import type { Subject } from './interaction.ts'
import { consentKey, type Approver } from './remembered-consent.ts'
import { respond } from './response.ts'
import { stateAuthentication } from './step-up.ts'

/** An authorization in the browser that goes on with it. */
type Ending = Subject & { readonly uiLocales: string | undefined }

/** What a user allows. */
export interface Approval {
  readonly approver: Approver
  /** The request with what the user allowed of its scope. */
  readonly allowed: AuthorizationRecord
  readonly session: SessionRecord
  /** Later requests may use the consent. Not if the user was never asked (client/policy.ts), or at the operator's application. */
  readonly isRemembered: boolean
}

/**
 * Approves an authorization and redirects to the client with the code. RFC 6749 §4.1.2.
 *
 * An authorization has one code, even if the form is submitted several times (threats.md UI-03). The code is derived from the
 * authorization and the approver. A repeated submission, usually a double click, therefore returns the same code until it is
 * redeemed or expires. A repeated submission for another organization or scope is rejected, because a code has one meaning.
 *
 * A pushed request is used up first: of several authorizations of it, only one can be approved. A crash between the two operations leaves a
 * request that only this authorization can use.
 *
 * An implied consent is not remembered: the user was not asked, and the rule that implies the consent may change.
 */
export async function approve(
  context: Context,
  subject: Ending,
  { approver, allowed, session, isRemembered }: Approval,
  cookies: CookieChanges,
): Promise<Reply> {
  const { authorization, client } = subject
  const now = context.clockCheck.now()
  const { id, browserHash } = authorization
  const { userId, organization } = approver
  const parts = [browserHash, userId, allowed.scope, ...(organization === undefined ? [] : [organization.id])]
  const known = { client: client.id, user: userId }
  const { device, pushedRequestId } = authorization
  if (pushedRequestId !== undefined) {
    const use = await context.store.usePushedRequest({ id: pushedRequestId, authorizationId: id, now })
    if (use !== 'used') return errorPage(use === 'taken' ? 'pushed_request_used' : 'authorization_unknown', known)
  }
  const taken = await connect(context, authorization, now)
  if (taken !== undefined) return errorPage(taken, known)
  const code = context.secrets.derive('authorization-code', id, parts)
  const key = isRemembered ? await consentKey(context, subject, authorization, approver) : undefined
  const outcome = await context.store.approveAuthorization({
    id,
    userId,
    organizationId: organization?.id,
    codeHash: code.hash,
    now,
    codeExpiresAt: after(now, redeemableFor(context, subject) * 1000),
    decided: decidedRequest(
      authorization,
      await stateIn(context, { allowed, client, organizationId: organization?.id }, session),
      session,
    ),
    remember: key === undefined ? undefined : { ...key, scope: allowed.scope },
    session,
    notified: notifiedOf(context, subject, allowed, session),
    about: { clientId: client.id, ...auditedOf(authorization) },
  })
  if (outcome === 'unknown') return errorPage('authorization_unknown', known)
  const isRepeated = outcome === 'decided'
  if (isRepeated && !(await isAwaiting(context, authorization, code, now)))
    return errorPage('authorization_decided', known)
  const event: OutcomeEvent = {
    event: isRepeated ? 'authorization.repeated' : 'authorization.approved',
    ...known,
  }
  if (device !== undefined) {
    const appsUri = pageAddress(context.issuer, PATHS.accountApps, { uiLocales: subject.uiLocales })
    return { ...deviceEnd({ kind: 'connected', appsUri }, cookies), event }
  }
  return { ...respond(context, authorization, { kind: 'code', code: code.token }, cookies), event }
}

/**
 * Connects the device of an authorization with it, so that no other browser answers the device. If the node stops before the answer is
 * stored, only this authorization can answer. Returns why it cannot; undefined: it can, or there is no device.
 */
async function connect(
  { store }: Context,
  { id, device }: AuthorizationRecord,
  now: EpochMs,
): Promise<PageReason | undefined> {
  if (device === undefined) return undefined
  switch (await store.connectDevice({ id: device.id, authorizationId: id, now })) {
    case 'connected':
      return undefined
    case 'taken':
      return 'authorization_decided'
    case 'unknown':
      return 'authorization_expired'
  }
}

function auditedOf({ device }: AuthorizationRecord): Pick<AuditEvent, 'details'> {
  return device === undefined ? {} : { details: { device: true } }
}

function deviceEnd(end: DeviceEndPage['end'], cookies: CookieChanges): PageReply {
  return { kind: 'page', status: end.kind === 'refused' ? 400 : 200, page: { kind: 'device-end', end }, cookies }
}

type PageReply = Extract<Reply, { readonly kind: 'page' }>

/** Seconds. A device polls every few seconds, and may slow down. */
function redeemableFor(context: Context, { authorization, client }: Subject): number {
  return authorization.device === undefined ? codeLifetime(context, client) : DEVICE_REDEMPTION_SECONDS
}

/** Seconds. FAPI 2.0 Security Profile §5.3.2.1: at most 60. */
function codeLifetime({ settings: { lifetimes } }: Context, client: ClientRecord): number {
  return followsFapi(client) ? Math.min(FAPI_CODE_SECONDS, lifetimes.code) : lifetimes.code
}

const FAPI_CODE_SECONDS = 60

/** The request with the authentication that tokens state, if they do. */
async function stateIn(
  context: Context,
  approved: Parameters<typeof stateAuthentication>[1],
  { authentication }: SessionRecord,
): Promise<AuthorizationRecord> {
  const { allowed } = approved
  const stated = await stateAuthentication(context, approved, authentication)
  return stated === undefined ? allowed : { ...allowed, stated }
}

/** The request as the user decided it, with the session that ID tokens describe; undefined: as it was sent. */
function decidedRequest(
  authorization: AuthorizationRecord,
  allowed: AuthorizationRecord,
  { rootId, authentication: { methods, at } }: SessionRecord,
): AuthorizationRecord | undefined {
  const { openid } = allowed
  if (openid !== undefined) return { ...allowed, openid: { ...openid, session: { rootId, methods, at } } }
  return allowed === authorization ? undefined : allowed
}

/** Whether and how the client is notified of the end of the session. Back-Channel Logout 1.0 §2.5: if the user signs in to it. */
function notifiedOf(
  context: Context,
  { client: { id: clientId }, rights }: Subject,
  { openid }: AuthorizationRecord,
  session: SessionRecord,
): NotifiedClient | undefined {
  if (rights.noticeUri === undefined || openid === undefined || !context.settings.outbound.isOn) return undefined
  const { userId, rootId } = session
  return { userId, clientId, sid: sessionIdFor(context, rootId, clientId), session }
}

/** Whether the client can still redeem this code, or has got this answer by itself. */
async function isAwaiting(
  { store }: Context,
  { id, device }: AuthorizationRecord,
  code: MintedCredential,
  now: EpochMs,
): Promise<boolean> {
  const authorization = await store.findAuthorization(id)
  if (authorization?.status.kind !== 'approved') return false
  if (!sameText(authorization.status.codeHash, code.hash) || now >= authorization.expiresAt) return false
  return device !== undefined || (await store.findGrant(grantIdOf(id))) === undefined
}

const DENIED = { kind: 'error', error: 'access_denied', description: 'The person denied the request.' } as const

/**
 * Ends an authorization without a code. RFC 6749 §4.1.2.1, RFC 8628 §3.5.
 *
 * If the user denied it, or went back from the page that says why nothing is left, the browser returns to the client: the user has seen the client's name and where the form leads. If
 * the server found a fault, the rules of `refuse` apply. A device learns it by its next poll, and the browser shows a page.
 */
export async function deny(
  context: Context,
  { authorization, client, rights }: Subject,
  userId: UserId | undefined,
  fault: Fault | undefined,
  cookies: CookieChanges,
): Promise<Reply> {
  const now = context.clock()
  const known = { client: client.id, user: userId }
  const taken = await connect(context, authorization, now)
  if (taken !== undefined) return errorPage(taken, known)
  const about = { clientId: client.id, userId, ...auditedOf(authorization) }
  const outcome = await context.store.denyAuthorization({ id: authorization.id, now, about })
  if (outcome !== 'denied')
    return errorPage(outcome === 'decided' ? 'authorization_decided' : 'authorization_unknown', known)
  const isRead = fault?.isRead === true
  if (fault !== undefined && !isRead && authorization.device !== undefined) return refuseDevice(known, fault, cookies)
  if (fault !== undefined && !isRead)
    return refuse(
      context,
      { ...authorization, client, rights, isInFrame: false, isSilent: false },
      userId,
      fault,
      cookies,
    )
  const event: OutcomeEvent =
    fault === undefined
      ? { event: 'authorization.denied', ...known }
      : { event: 'authorization.refused', ...known, reason: fault.reason, description: explain(fault) }
  if (authorization.device !== undefined) return { ...deviceEnd({ kind: 'denied' }, cookies), event }
  const answer = fault === undefined ? DENIED : describeError(fault)
  return { ...respond(context, authorization, answer, cookies), event }
}

/** The page for a fault of the request of a device, which no address of the client can receive. */
function refuseDevice(known: Pick<OutcomeEvent, 'client' | 'user'>, fault: Fault, cookies: CookieChanges): Reply {
  const { error, reason } = fault
  const description = explain(fault)
  const notes = { error, reason, explanation: description }
  const event: OutcomeEvent = { event: 'authorization.refused', ...known, reason, description }
  return { ...deviceEnd({ kind: 'refused', problem: error, notes }, cookies), event }
}
