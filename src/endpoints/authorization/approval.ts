import type { Context } from '../../ports/context.ts'
import type { CookieChanges, Reply } from '../../ports/message.ts'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import { answerUri, type AuthorizationAnswer } from '../../protocol/authorization-response.ts'
import { after, type EpochMs } from '../../protocol/brand.ts'
import type { UserId } from '../../protocol/ids.ts'
import { sameText, type MintedCredential } from '../../protocol/secrets.ts'
import { consentKey, type Approver } from './remembered-consent.ts'
import { errorPage } from '../error-page.ts'

type Needs = Pick<Context, 'apis' | 'clock' | 'clockCheck' | 'issuer' | 'secrets' | 'settings'> & {
  readonly store: Pick<Context['store'], 'approveAuthorization' | 'denyAuthorization' | 'findAuthorization'>
}

/**
 * The person allowed it, now or before. RFC 6749 §4.1.2.
 *
 * One authorization has one code, however often the form is sent (threats.md UI-03). It is derived, so that a form that is
 * sent again because its answer was lost, by a double click above all, gets it again while it is unspent and fresh. A form
 * that is sent again for another organization does not: one code never means two things.
 */
export async function approve(
  context: Needs,
  authorization: AuthorizationRecord,
  client: ClientRecord,
  approver: Approver,
  cookies: CookieChanges,
): Promise<Reply> {
  const now = context.clockCheck.now()
  const { id, browserHash } = authorization
  const { userId, organization } = approver
  const parts = [browserHash, userId, ...(organization === undefined ? [] : [organization.id])]
  const code = context.secrets.derive('authorization-code', id, parts)
  const key = await consentKey(context, client, authorization, approver)
  const outcome = await context.store.approveAuthorization({
    id,
    userId,
    organizationId: organization?.id,
    codeHash: code.hash,
    now,
    codeExpiresAt: after(now, context.settings.lifetimes.code * 1000),
    remember: key === undefined ? undefined : { ...key, scope: authorization.scope },
    about: { clientId: client.id },
  })
  if (outcome === 'unknown') return errorPage('expired')
  const isRepeated = outcome === 'decided'
  if (isRepeated && !isAwaiting(await context.store.findAuthorization(id), code, now))
    return errorPage('already-completed')
  const event = { event: isRepeated ? 'authorization.repeated' : 'authorization.approved', client: client.id }
  return { ...answer(context, authorization, { kind: 'code', code: code.token }, cookies), event }
}

/** Whether the client may still redeem this very code. */
function isAwaiting(authorization: AuthorizationRecord | undefined, code: MintedCredential, now: EpochMs): boolean {
  if (authorization?.status.kind !== 'approved') return false
  return sameText(authorization.status.codeHash, code.hash) && now < authorization.expiresAt
}

const DENIED = { kind: 'error', error: 'access_denied', description: 'The person denied the request.' } as const

/** The person refused. RFC 6749 §4.1.2.1. */
export async function deny(context: Needs, authorization: AuthorizationRecord, userId: UserId): Promise<Reply> {
  const outcome = await context.store.denyAuthorization({
    id: authorization.id,
    now: context.clock(),
    about: { clientId: authorization.clientId, userId },
  })
  if (outcome !== 'denied') return errorPage(outcome === 'decided' ? 'already-completed' : 'expired')
  const event = { event: 'authorization.denied', client: authorization.clientId }
  return { ...answer(context, authorization, DENIED, {}), event }
}

function answer(
  { issuer }: Pick<Context, 'issuer'>,
  { redirectUri, state }: AuthorizationRecord,
  result: AuthorizationAnswer,
  cookies: CookieChanges,
): Reply {
  return { kind: 'redirect', location: answerUri(redirectUri, result, state, issuer), cookies }
}
