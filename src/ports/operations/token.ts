import type { ClientId, GrantId, OrganizationId, UserId } from '../../protocol/ids.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { About } from '../records/audit.ts'
import type { GrantRecord } from '../records/grant.ts'
import type { OpaqueTokenRecord } from '../records/api.ts'
import type { CausesMail } from './mail.ts'
import type { IdentityKey } from '../../protocol/sign-in/provider-identity.ts'
import type { PresentedRefresh, RotateOutcome } from '../../protocol/token/refresh-rotation.ts'
import type { SecretHash } from '../../protocol/secrets.ts'

/** The operations on grants and tokens, each as `[input, outcome]`. The rules of index.ts apply. */
export interface TokenOperations {
  /**
   * Rotates a refresh token, or decides what becomes of a grant whose earlier token is presented (decisions 0004 and 0054). Of concurrent
   * requests with one token one returns `rotated`. The rule is in src/protocol/token/refresh-rotation.ts.
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

export interface Rotation extends About, PresentedRefresh {
  readonly grantId: GrantId
  readonly successorHash: SecretHash
  readonly idleExpiresAt: EpochMs
  /** Whether the audit has the event of a parting. Otherwise the endpoint reports it, and it is counted (docs/faults.md). */
  readonly recordsParting: boolean
}

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
