import type { Context, StoreNeeds } from '../../ports/context.ts'
import type { NoticeOutcome } from '../../ports/outbound.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import type { LogoutNoticeRecord } from '../../ports/records/logout-notice.ts'
import { evaluateClient } from '../../clients/evaluate-client.ts'
import { toSeconds } from '../../base/brand.ts'
import { identifierOf } from '../../protocol/client/identifier.ts'
import { mintOrderedId } from '../../protocol/ids.ts'
import { logoutTokenClaims } from '../../protocol/openid/logout-token.ts'
import { idTokenAlgorithmOf } from './id-token.ts'

/** A client that is notified, and where. */
export interface NoticeTarget {
  readonly client: ClientRecord
  readonly uri: string
}

type SendNeeds = Pick<Context, 'clockCheck' | 'issuer' | 'keys' | 'outbound' | 'random' | 'tokens'>
type FindNeeds = Pick<Context, 'clientPolicy'> & StoreNeeds<'findClient'>
/** What the functions of this file need. */
export type NoticeNeeds = SendNeeds & FindNeeds

/** Returns where a notice goes now; undefined: the client is unknown, disabled or blocked, or is no longer notified. */
export async function findNoticeTarget(
  context: FindNeeds,
  { clientId }: Pick<LogoutNoticeRecord, 'clientId'>,
): Promise<NoticeTarget | undefined> {
  const client = await context.store.findClient(clientId)
  if (client === undefined || client.disabledAt !== undefined) return undefined
  const allowed = await evaluateClient(context, client, { phase: 'use', redirectUri: undefined })
  if ('kind' in allowed || allowed.rights.noticeUri === undefined) return undefined
  return { client, uri: allowed.rights.noticeUri }
}

/**
 * Notifies a client that a session of the user has ended. OpenID Connect Back-Channel Logout 1.0 §2.5. Each attempt has a logout
 * token of its own, because the token is valid for two minutes. It is signed as the ID tokens of the client are.
 *
 * @throws OAuthError temporarily_unavailable
 */
export async function sendNotice(
  context: SendNeeds,
  { client, uri }: NoticeTarget,
  { userId, sid }: LogoutNoticeRecord,
  signal: AbortSignal,
): Promise<NoticeOutcome> {
  const algorithm = idTokenAlgorithmOf(client)
  await context.keys.ensureIdTokenKey(algorithm)
  const now = context.clockCheck.now()
  const claims = logoutTokenClaims({
    issuer: context.issuer,
    audience: identifierOf(client),
    userId,
    sessionId: sid,
    issuedAt: toSeconds(now),
    tokenId: mintOrderedId(now, context.random),
  })
  const token = await context.tokens.signLogoutToken(claims, algorithm)
  return context.outbound.notify({ url: uri, form: { logout_token: token }, signal })
}
