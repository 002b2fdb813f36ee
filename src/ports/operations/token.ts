import type { ClientId, GrantId, OrganizationId, UserId } from '../../protocol/ids.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { About } from '../records/audit.ts'
import type { GrantRecord } from '../records/grant.ts'
import type { OpaqueTokenRecord } from '../records/api.ts'
import type { CausesMail } from './mail.ts'
import type { CopiesRule } from '../../protocol/client/policy.ts'
import type { IdentityKey } from '../../protocol/sign-in/provider-identity.ts'
import type { JwkThumbprint } from '../../protocol/token/dpop-proof.ts'
import type { SecretHash } from '../../protocol/secrets.ts'

/** The operations on grants and tokens, each as `[input, outcome]`. The rules of index.ts apply. */
export interface TokenOperations {
  /**
   * Rotates a refresh token, or decides what becomes of a grant whose earlier token is presented (decisions 0004 and 0054). Of concurrent
   * requests with one token one returns `rotated`. The rule is in src/store/refresh-rotation.ts.
   */
  rotateRefreshToken: [rotation: Rotation, outcome: RotateOutcome]
  /**
   * Stores the mails that tell a user that a family ended, because two copies of it were in use in different places. `unknown`: there is no
   * such user.
   */
  noticeReuse: [notice: { readonly userId: UserId } & CausesMail, outcome: 'noticed' | 'unknown']
  /**
   * Stores a grant that needs no code, with tokens that are not refreshed. To store it again changes nothing. `unlinked`: the user no longer
   * has the identity by which the provider named the person.
   */
  openGrant: [opening: { readonly grant: GrantRecord; readonly identity: IdentityKey }, outcome: 'opened' | 'unlinked']
  /** Revokes the grant and every token issued on it. RFC 7009 §2.1. `known`: the grant was revoked already. */
  revokeGrant: [
    revocation: { readonly id: GrantId; readonly now: EpochMs } & About,
    outcome: 'revoked' | 'known' | 'unknown',
  ]
  /** Stores an opaque access token. To store it again changes nothing, so that a retry gets the same answer. */
  issueToken: [token: OpaqueTokenRecord, outcome: 'issued']
  /** Revokes one access token, until it would have expired. `known`: the token was revoked already. */
  revokeToken: [
    revocation: { readonly tokenId: string; readonly expiresAt: EpochMs } & About,
    outcome: 'revoked' | 'known',
  ]
  /**
   * Records 1 to 4 different values that are accepted once, all or none. `seen`: one of them was recorded before, so that of
   * concurrent requests with one value, on any node, exactly one returns `fresh`.
   */
  consumeOnce: [keys: readonly ConsumedKey[], outcome: 'fresh' | 'seen']
  /**
   * Takes back what a user allowed a client, for an organization or without one: revokes the grants with every token issued on
   * them, burns the codes that are not redeemed yet, and forgets the user's consents to the client. Returns how many grants were
   * revoked.
   */
  removeApp: [removal: AppRemoval, outcome: { readonly grants: number }]
  /** Revokes all sessions and tokens of the server from before now. */
  revokeAllTokens: [change: { readonly now: EpochMs }, outcome: 'expired']
}

export interface Rotation extends About {
  readonly grantId: GrantId
  /** The generation of the presented token. */
  readonly generation: number
  /** When the presented token was issued. */
  readonly issuedAt: EpochMs
  readonly presentedHash: SecretHash
  readonly successorHash: SecretHash
  readonly now: EpochMs
  readonly idleExpiresAt: EpochMs
  /** The key that the request proved. An unbound family is bound to it. undefined: none, or the family is not bound to keys. */
  readonly key: JwkThumbprint | undefined
  /** How long after a rotation the previous token can still be used to get the same successor. */
  readonly retryMs: number
  /** The network of the request, as `networkTag` of the secrets writes it. '': it is unknown. */
  readonly network: string
  readonly copies: CopiesRule
  /** How long after its issue an earlier token gets the newest one. */
  readonly earlierMs: number
  /** Whether the audit has the event of a parting. Otherwise the endpoint reports it, and it is counted (docs/limits.md). */
  readonly recordsParting: boolean
}

/**
 * Why a copy of a refresh token got nothing (decision 0054): copies are `strict`; the network of the request or of the newest token is unknown; the
 * family is bound to a key, and the token came without it; it is too old; or it came from another network.
 */
export type CopyFault = 'strict' | 'network-unknown' | 'another-key' | 'too-old' | 'elsewhere'

/** The result of presenting a refresh token that this server issued. */
export type RotateOutcome =
  /** `repeated`: a retry within the window. It gets `rotatedAt` of the first answer, so that its access token is the same. */
  | { readonly kind: 'rotated' | 'repeated'; readonly rotatedAt: EpochMs }
  /** An earlier token gets the newest one, which is of this generation, was issued at `rotatedAt` and has this hash. Nothing changed. */
  | {
      readonly kind: 'earlier'
      readonly generation: number
      readonly rotatedAt: EpochMs
      readonly liveHash: SecretHash
    }
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

export interface AppRemoval extends RevocationCutoff {
  readonly userId: UserId
  readonly clientId: ClientId
  /** undefined: what the user allowed without an organization. */
  readonly organizationId: OrganizationId | undefined
}

/** The times with which codes are burned and grants revoked. */
export interface RevocationCutoff {
  /** The codes of authorizations that started before have expired. */
  readonly codesSince: EpochMs
  readonly now: EpochMs
}

/** A value that is accepted once, such as the `jti` of a client's assertion. */
export interface ConsumedKey {
  /** A keyed digest of the value, which does not reveal it. */
  readonly digest: string
  /** From then on the value is rejected for another reason, so that its digest may be removed. */
  readonly expiresAt: EpochMs
}
