import type { EpochMs } from '../../base/brand.ts'
import type { CopiesRule } from '../client/policy.ts'
import type { SecretHash } from '../secrets.ts'
import type { JwkThumbprint } from './dpop-proof.ts'

/** The refresh tokens of a grant. Each rotation raises the generation by one; only the newest token is live. */
export interface RefreshFamily {
  /** The generation of the live token. */
  readonly generation: number
  readonly liveHash: SecretHash
  /** When the live token was issued. */
  readonly rotatedAt: EpochMs
  /** When the live token expires unless it is used. */
  readonly idleExpiresAt: EpochMs
  /** The network that got the live token, as `networkTag` of the secrets writes it. '': it is unknown. */
  readonly network: string
  /**
   * The network of an earlier token that was presented elsewhere (decision 0054). The live token is accepted only from there, and everything
   * issued on the grant is inactive until then. undefined: the family is not held.
   */
  readonly heldFor: string | undefined
}

/** The key that a refresh must prove. RFC 9449 §5. */
export interface BoundKey {
  readonly thumbprint: JwkThumbprint
  /** The refresh tokens of this generation and later ones are bound to it. It is 0 if the code was exchanged with a proof. */
  readonly generation: number
}

/** A grant, as far as the rule reads it. */
export interface RefreshedGrant {
  readonly expiresAt: EpochMs
  readonly revokedAt: EpochMs | undefined
  readonly family: RefreshFamily | undefined
  readonly boundKey: BoundKey | undefined
}

/** A refresh token that is presented, and the settings that decide about it. */
export interface PresentedRefresh {
  /** The generation of the presented token. */
  readonly generation: number
  /** When the presented token was issued. */
  readonly issuedAt: EpochMs
  readonly presentedHash: SecretHash
  readonly now: EpochMs
  /** The key that the request proved. An unbound family is bound to it. undefined: none, or the family is not bound to keys. */
  readonly key: JwkThumbprint | undefined
  /** How long after a rotation the previous token can still be used to get the same successor. */
  readonly retryMs: number
  /** The network of the request, as `networkTag` of the secrets writes it. '': it is unknown. */
  readonly network: string
  readonly copies: CopiesRule
  /** How long after its issue an earlier token gets the newest one. */
  readonly earlierMs: number
}

/**
 * Why a copy of a refresh token got nothing (decision 0054): copies are `strict`; the network of the request or of the newest token is unknown; the
 * family is bound to a key, and the token came without it; it is too old; or it came from another network.
 */
export type CopyFault = 'strict' | 'network-unknown' | 'another-key' | 'too-old' | 'elsewhere'

/** An earlier token gets the newest one, which is of this generation, was issued at `rotatedAt` and has this hash. Nothing changed. */
export interface EarlierToken {
  readonly kind: 'earlier'
  readonly generation: number
  readonly rotatedAt: EpochMs
  readonly liveHash: SecretHash
}

/** The result of presenting a refresh token that this server issued. */
export type RotateOutcome =
  /** `repeated`: a retry within the window. It gets `rotatedAt` of the first answer, so that its access token is the same. */
  | { readonly kind: 'rotated' | 'repeated'; readonly rotatedAt: EpochMs }
  | EarlierToken
  /** An earlier token came from another network than the newest, of generation `newest`, or is too old. The store holds the family for its network. */
  | { readonly kind: 'parted'; readonly newest: number; readonly why: 'elsewhere' | 'too-old' }
  /** An earlier token of a family that is held. Nothing changed. */
  | { readonly kind: 'held' }
  /**
   * Another party may have a copy of the token. The store has revoked the family. `wasHeld`: the newest token came from another network than
   * the one that the family was held for. `why`: undefined for a token that was never issued.
   */
  | { readonly kind: 'reused'; readonly wasHeld: boolean; readonly why: CopyFault | undefined }
  /** The grant was revoked, has expired or does not exist. */
  | { readonly kind: 'inactive' }

/**
 * Returns the outcome for a refresh token that was not rotated. The store then changes the grant in the same transaction: if the outcome is
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
 *     change is on disk before the response is sent. (The `update` in
 *     `store/sqlite/tokens.ts` and `store/postgres/tokens.ts`.)
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
export function decideRotation(grant: RefreshedGrant | undefined, presented: PresentedRefresh): RotateOutcome {
  const { generation, issuedAt, now, key, network, retryMs } = presented
  const family = grant?.family
  if (grant === undefined || family === undefined || grant.revokedAt !== undefined) return { kind: 'inactive' }
  if (grant.expiresAt <= now || family.idleExpiresAt <= now) return { kind: 'inactive' }
  const { generation: newest, liveHash, rotatedAt, heldFor } = family
  if (generation >= newest) {
    const isNewest = generation === newest && presented.presentedHash === liveHash
    const wasHeld = isNewest && heldFor !== undefined && heldFor !== network
    return reused(wasHeld ? 'elsewhere' : isNewest ? 'another-key' : undefined, wasHeld)
  }
  if (heldFor !== undefined) return { kind: 'held' }
  const { boundKey } = grant
  const isSameKey = boundKey?.thumbprint === key
  const isWithin = (time: EpochMs, limitMs: number): boolean => Math.abs(now - time) < limitMs
  if (generation === newest - 1 && isSameKey && isWithin(rotatedAt, retryMs)) return { kind: 'repeated', rotatedAt }
  if (presented.copies === 'strict') return reused('strict')
  const earlier = { kind: 'earlier', generation: newest, rotatedAt, liveHash } as const
  if (boundKey !== undefined) return isSameKey && generation >= boundKey.generation ? earlier : reused('another-key')
  if (network === '' || family.network === '') return reused('network-unknown')
  if (network !== family.network) return { kind: 'parted', newest, why: 'elsewhere' }
  return isWithin(issuedAt, presented.earlierMs) ? earlier : { kind: 'parted', newest, why: 'too-old' }
}

/**
 * Returns the newest token for an earlier one, where the grant that was read decides it. Generations only grow, so nothing rotates an earlier
 * token, and nothing is written for it: the answer is that of the moment of the read. What ends or holds the family after that moment could
 * also have come after the answer. undefined: the store decides.
 */
export function findEarlier(grant: RefreshedGrant, presented: PresentedRefresh): EarlierToken | undefined {
  if (grant.family === undefined || presented.generation >= grant.family.generation) return undefined
  const outcome = decideRotation(grant, presented)
  return outcome.kind === 'earlier' ? outcome : undefined
}

function reused(why: CopyFault | undefined, wasHeld = false): RotateOutcome {
  return { kind: 'reused', wasHeld, why }
}
