import type { Context } from '../../ports/context.ts'
import type { GrantRecord } from '../../ports/records/grant.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { AccessTokenFacts } from '../../protocol/token/access-token.ts'
import type { EpochMs } from '../../base/brand.ts'
import { isVerified } from '../../protocol/client/policy.ts'
import { findToken } from '../../tokens/find-token.ts'
import { hasExpiredEverywhere } from '../../tokens/has-expired-everywhere.ts'
import { authenticateClient, type AuthenticatedClient } from '../token/authenticate-client.ts'
import { readToken } from './read-token.ts'
import { callerOf, takeStoredTokenBudget } from '../token/stored-tokens.ts'

const DONE: Reply = { kind: 'json', status: 200, body: {} }

/**
 * Token Revocation. RFC 7009 §2.
 *
 *  §2.1  The client authenticates and sends the token in `token`. `token_type_hint` is ignored.
 *  §2.1  If the token was issued to another client, it is not revoked.
 *  §2.1  Revoking a refresh token also revokes the access tokens of its grant. Revoking an access token revokes only that one, if its grant
 *        has a refresh token. Otherwise it is the only token of the client, and nothing else would end those that APIs got in exchange: it
 *        ends its grant, and without a grant the tokens that name it as the first (decision 0040).
 *  §2.2  The response is 200 whether or not the token exists. It is sent after the revocation is on disk.
 *
 * @throws OAuthError invalid_client, invalid_request, temporarily_unavailable
 */
export async function revoke(context: Context, request: Request): Promise<Reply> {
  const token = readToken(request)
  const client = await authenticateClient(context, request)
  const found = await findToken(context, token)
  if (found === undefined) return DONE
  if (found.owner !== client.id) {
    context.report({ event: 'revocation.requested-by-another-client', clientId: client.id })
    return DONE
  }
  if (found.kind === 'refresh') return revokeGrant(context, client, found.grant)
  const grant = await findGrantOfOneToken(context, found.facts)
  if (grant !== undefined) return revokeGrant(context, client, grant)
  const expiresAt = (found.facts.expiresAt * 1000) as EpochMs
  if (!hasExpiredEverywhere(context.clockCheck, expiresAt))
    await revokeToken(context, client, found.facts, request.network)
  return { ...DONE, event: { event: 'token.revoked', client: client.id } }
}

async function revokeGrant(
  { clock, store }: Context,
  client: AuthenticatedClient,
  { id, userId, organizationId }: GrantRecord,
): Promise<Reply> {
  await store.revokeGrant({ id, now: clock(), about: { clientId: client.id, userId, organizationId } })
  return { ...DONE, event: { event: 'grant.revoked', client: client.id } }
}

/**
 * The grant of an access token, if it has no refresh token: that of an identity assertion, or of a code or device of a client without
 * refresh tokens.
 */
async function findGrantOfOneToken(
  { store }: Context,
  { grantId }: AccessTokenFacts,
): Promise<GrantRecord | undefined> {
  const grant = grantId === undefined ? undefined : await store.findGrant(grantId)
  return grant?.family === undefined ? grant : undefined
}

/**
 * Revokes one access token. A client can obtain and revoke any number of tokens without a user, so a budget limits its
 * revocations. Above a lower rate, the audit counts them instead of recording each (threats.md BND-04). The audit records every
 * revocation of a verified client.
 */
async function revokeToken(
  context: Context,
  client: AuthenticatedClient,
  { tokenId, userId, organizationId, expiresAt }: AccessTokenFacts,
  network: string,
): Promise<void> {
  takeStoredTokenBudget(context, client, network, 'revoked-token')
  const { budgets, clock, report, store } = context
  const isRecorded =
    isVerified(client) || budgets.take('recorded-revocation', callerOf(client, network), clock(), network).isWithin
  const revocation = { tokenId, expiresAt: (expiresAt * 1000) as EpochMs }
  const about = { clientId: client.id, userId, organizationId }
  const outcome = await store.revokeToken(isRecorded ? { ...revocation, about } : revocation)
  if (outcome === 'revoked' && !isRecorded) report({ event: 'token.revoked', clientId: client.id })
}
