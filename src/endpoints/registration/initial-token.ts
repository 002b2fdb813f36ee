import type { Context } from '../../ports/context.ts'
import type { Request } from '../../ports/message.ts'
import type { InitialTokenRecord } from '../../ports/records/initial-token.ts'
import { requiresInitialToken } from '../../protocol/client/policy.ts'
import { invalidToken, type OAuthError } from '../../protocol/errors.ts'
import type { InitialTokenId } from '../../protocol/ids.ts'
import { sameText } from '../../protocol/secrets.ts'
import { countFailure } from '../token/authenticate-client.ts'

/**
 * Reads the initial access token of a registration. RFC 7591 §3: it is a bearer token (RFC 6750 §2.1). Returns undefined if the
 * request has none and needs none. That it has uses left is decided when the client is stored (`registerWithToken`).
 *
 * @throws OAuthError invalid_token, temporarily_unavailable
 */
export async function readInitialToken(context: Context, request: Request): Promise<InitialTokenRecord | undefined> {
  const presented = /^Bearer +(.+)$/i.exec(request.authorization ?? '')?.[1]
  if (presented === undefined) {
    if (requiresInitialToken(context.settings)) throw invalidToken('initial_token_missing')
    return undefined
  }
  const opened = context.secrets.verify('initial-token', presented)
  const token = opened && (await context.store.findInitialToken(opened.id as InitialTokenId))
  if (
    opened === undefined ||
    token === undefined ||
    !sameText(token.secretHash, opened.hash) ||
    !isUsable(token, context)
  ) {
    throw rejectInitialToken(context, request.network)
  }
  return token
}

/** One refusal for every token that cannot be used, so that a caller does not learn which tokens exist. */
export function rejectInitialToken(context: Context, network: string): OAuthError {
  countFailure(context, network)
  return invalidToken('initial_token_wrong')
}

function isUsable({ usesLeft, expiresAt, revokedAt }: InitialTokenRecord, { clock }: Context): boolean {
  return usesLeft > 0 && revokedAt === undefined && expiresAt > clock()
}
