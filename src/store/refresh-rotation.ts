import type { GrantRecord } from '../ports/records/grant.ts'
import type { EpochMs } from '../base/brand.ts'
import type { CopyFault, RotateOutcome, Rotation } from '../ports/operations/token.ts'

/**
 * Returns the outcome for a refresh token that was not rotated. The caller then changes the grant in the same transaction: if the outcome is
 * `reused`, it revokes the grant, and if it is `parted`, it holds the family.
 *
 * The refresh tokens of a grant are a family: generation 0, its successor generation 1, and so on. The grant stores the generation, the hash of
 * the newest token, the time of the last rotation and the network that it was for. A token says its generation and the time of its issue under
 * its tag, and one token of each generation was issued. The rule (decisions 0004 and 0054, RFC 9700 §4.14.2), of which the first step that fits
 * counts:
 *
 *  1. Check. The token was issued by this server to this client. The family is not revoked or expired. All principals are
 *     enabled. Scope and resources are within the grant. A failure changes nothing. (`endpoints/token/grants/refresh-token.ts`)
 *  2. Rotate. The newest token is replaced by its successor, which differs from it in its generation, its time of issue and its tag. If the
 *     request proved a key, the successor is bound to it (RFC 9449 §5). A hold ends, if the family is held for the network of the request. The
 *     change is on disk before the response is sent. (The `update` in `sqlite/tokens.ts` and `postgres/tokens.ts`.)
 *  3. Revoke, for a token of a later generation, for another token of the newest generation, and for the newest token where it cannot be
 *     rotated: its family is held for another network, or it came with another key.
 *  4. Refuse an earlier token of a family that is held.
 *  5. Repeat. The previous token is presented within the retry window, with the same key. The response was probably lost, or two requests were
 *     sent at once. The client receives the same successor again.
 *  6. Revoke, for an earlier token of a client whose copies are `strict`.
 *  7. A family that is bound to a key: an earlier token that was bound to the same key gets the newest one, in any network, because the proof
 *     shows that it is no copy. Any other one revokes.
 *  8. Revoke, if the network of the request, or that of the newest token, is unknown.
 *  9. An earlier token that is not older than `earlierMs`, in the network of the newest token, gets the newest one.
 * 10. Part. Any other earlier token means that there are copies in different places. The family is held for the network of the request.
 */
export function decideRotation(grant: GrantRecord | undefined, rotation: Rotation): RotateOutcome {
  const { generation, issuedAt, now, key, network, retryMs } = rotation
  const family = grant?.family
  if (grant === undefined || family === undefined || grant.revokedAt !== undefined) return { kind: 'inactive' }
  if (grant.expiresAt <= now || family.idleExpiresAt <= now) return { kind: 'inactive' }
  const { generation: newest, liveHash, rotatedAt, heldFor } = family
  if (generation >= newest) {
    const isNewest = generation === newest && rotation.presentedHash === liveHash
    const wasHeld = isNewest && heldFor !== undefined && heldFor !== network
    return reused(wasHeld ? 'elsewhere' : isNewest ? 'another-key' : undefined, wasHeld)
  }
  if (heldFor !== undefined) return { kind: 'held' }
  const { boundKey } = grant
  const isSameKey = boundKey?.thumbprint === key
  const isWithin = (time: EpochMs, limitMs: number): boolean => Math.abs(now - time) < limitMs
  if (generation === newest - 1 && isSameKey && isWithin(rotatedAt, retryMs)) return { kind: 'repeated', rotatedAt }
  if (rotation.copies === 'strict') return reused('strict')
  const earlier = { kind: 'earlier', generation: newest, rotatedAt, liveHash } as const
  if (boundKey !== undefined) return isSameKey && generation >= boundKey.generation ? earlier : reused('another-key')
  if (network === '' || family.network === '') return reused('network-unknown')
  if (network !== family.network) return { kind: 'parted', newest, why: 'elsewhere' }
  return isWithin(issuedAt, rotation.earlierMs) ? earlier : { kind: 'parted', newest, why: 'too-old' }
}

function reused(why: CopyFault | undefined, wasHeld = false): RotateOutcome {
  return { kind: 'reused', wasHeld, why }
}
