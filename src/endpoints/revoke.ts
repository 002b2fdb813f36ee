import type { Context } from '../ports/context.ts'
import type { Reply, Request } from '../ports/message.ts'
import type { EpochMs } from '../protocol/brand.ts'
import { findToken } from '../tokens/find-token.ts'
import { authenticateClient } from './authenticate-client.ts'
import { readToken } from './read-token.ts'

const DONE: Reply = { kind: 'json', status: 200, body: {} }

/**
 * Token Revocation. RFC 7009 §2.
 *
 *  §2.1  The client authenticates, then names the token in `token`. `token_type_hint` is not needed.
 *  §2.1  The token must have been issued to that client; if not, nothing happens.
 *  §2.1  Revoking a refresh token also revokes the access tokens of its grant; revoking an access token only that one.
 *  §2.2  The answer is 200 whether or not the token existed, and not before the revocation is on disk.
 *
 * @throws OAuthError invalid_client, invalid_request, temporarily_unavailable
 */
export async function revoke(context: Context, request: Request): Promise<Reply> {
  const token = readToken(request)
  const client = await authenticateClient(context, request)
  const found = await findToken(context, token)
  if (found === undefined) return DONE
  if (found.owner !== client.id) {
    context.report({ event: 'revocation.by-another-client', clientId: client.id })
    return DONE
  }
  const now = context.clock()
  if (found.kind === 'refresh') {
    const { userId, organizationId } = found.grant
    await context.store.revokeGrant({ id: found.grant.id, now, about: { clientId: client.id, userId, organizationId } })
    return { ...DONE, event: { event: 'grant.revoked', client: client.id } }
  }
  const expiresAt = (found.facts.expiresAt * 1000) as EpochMs
  // What has expired is dead already, and would be swept at once.
  const { tokenId, userId, organizationId } = found.facts
  if (expiresAt > now)
    await context.store.revokeToken({ tokenId, expiresAt, about: { clientId: client.id, userId, organizationId } })
  return { ...DONE, event: { event: 'token.revoked', client: client.id } }
}
