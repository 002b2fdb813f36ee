import type { GrantRecord } from '../ports/records/grant.ts'
import type { RotateOutcome, Rotation } from '../ports/operations/token.ts'

/**
 * Returns the outcome for a refresh token that was not rotated. If the outcome is `reused`, the caller revokes the grant in the
 * same transaction.
 *
 * The rule for refresh tokens has four steps (decision 0004, RFC 9700 §4.14.2). The refresh tokens of a grant are a family:
 * generation 0, its successor generation 1, and so on. The grant stores the generation, the hash of the current token, and the
 * time of the last rotation. A token says its generation under its tag, and one token of each generation was issued.
 *
 *  1. Check. The token was issued by this server to this client. The family is not revoked or expired. All principals are
 *     enabled. Scope and resources are within the grant. A failure changes nothing. (`endpoints/token/grants/refresh-token.ts`)
 *  2. Rotate. The current token is replaced by its successor. The successor differs from it in its generation, its time of issue and its tag,
 *     which is made with the server's secret, so it need not be stored. If the request proved a key, the successor is bound to it (RFC 9449 §5). The change is on disk before the response is sent. (The `update` in `sqlite/tokens.ts`
 *     and `postgres/tokens.ts`.)
 *  3. Repeat. The previous token is presented within the retry window, with the same key, and its successor has not been used. The response was
 *     probably lost, or two requests were sent at once. The client receives the same successor again. (This function.)
 *  4. Revoke. Any other token of the family means that a token was copied. The whole family is revoked. (This function.)
 */
export function decideRotation(
  grant: GrantRecord | undefined,
  { generation, now, key, retryMs }: Rotation,
): RotateOutcome {
  const family = grant?.family
  if (grant === undefined || family === undefined || grant.revokedAt !== undefined) return { kind: 'inactive' }
  if (grant.expiresAt <= now || family.idleExpiresAt <= now) return { kind: 'inactive' }
  const isPrevious = family.generation === generation + 1
  const isSameKey = grant.boundKey?.thumbprint === key
  if (isPrevious && isSameKey && Math.abs(now - family.rotatedAt) < retryMs)
    return { kind: 'repeated', rotatedAt: family.rotatedAt }
  return { kind: 'reused' }
}
