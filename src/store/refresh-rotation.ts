import type { GrantRecord } from '../ports/records/grant.ts'
import type { RotateOutcome, Rotation } from '../ports/operation-inputs.ts'

/**
 * What a refresh token that could not be rotated was, from its grant as it stands now. decisions.md D5, steps 3 and 4;
 * `reused` must be made true by revoking the grant.
 */
export function decideRotation(
  grant: GrantRecord | undefined,
  { generation, presentedHash, now, retryMs }: Rotation,
): RotateOutcome {
  const family = grant?.family
  if (grant === undefined || family === undefined || grant.revokedAt !== undefined) return { kind: 'inactive' }
  if (grant.expiresAt <= now || family.idleExpiresAt <= now) return { kind: 'inactive' }
  const isOneBefore = family.generation === generation + 1 && family.previousHash === presentedHash
  if (isOneBefore && Math.abs(now - family.rotatedAt) < retryMs)
    return { kind: 'repeated', rotatedAt: family.rotatedAt }
  return { kind: 'reused' }
}
