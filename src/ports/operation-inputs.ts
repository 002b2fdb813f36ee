import type { KeyRecord } from './records/key.ts'
import type { EpochMs } from '../base/brand.ts'
import type { ClientMetadata } from '../protocol/client/metadata.ts'
import type { ClientSource } from '../protocol/client/policy.ts'
import type { AuthorizationId, ClientId, GrantId, InitialTokenId, OrganizationId, UserId } from '../protocol/ids.ts'
import type { Scope } from '../protocol/token/scope.ts'
import type { IdentityKey } from '../protocol/sign-in/provider-identity.ts'
import type { SecretHash } from '../protocol/secrets.ts'
import type { AuditEvent } from './records/audit.ts'
import type { ApprovingSession, NotifiedClient } from './records/logout-notice.ts'
import type { AuthorizationRecord } from './records/authorization.ts'
import type { ClientRecord, MetadataDocument } from './records/client.ts'
import type { ConsentKey, GrantRecord } from './records/grant.ts'
import type { InstallationRecord, MembershipRecord } from './records/organization.ts'

export type SharedClient = ClientRecord & { readonly dedupeKey: string }

export interface RegistrationWithToken {
  readonly client: ClientRecord
  readonly tokenId: InitialTokenId
  readonly now: EpochMs
  /** Whether the client is never swept, although it never gets a token. */
  readonly isKept: boolean
}

/** A client whose id is the URL of its metadata document. */
export type DocumentClient = ClientRecord & { readonly document: MetadataDocument }

export interface DocumentRenewal {
  readonly id: ClientId
  /** The metadata, and when the document was fetched, as the caller read them. */
  readonly previous: { readonly metadata: ClientMetadata; readonly fetchedAt: EpochMs }
  readonly metadata: ClientMetadata
  readonly document: Omit<MetadataDocument, 'url'>
  /** As in `ClientUpdate`. */
  readonly identityFrom: EpochMs | undefined
  /** Set when the client stopped authenticating: tokens from before this time are revoked. */
  readonly notBefore: EpochMs | undefined
}

export interface SecretRotation {
  readonly id: ClientId
  /** The hash of the present secret, as the caller read it. */
  readonly previous: SecretHash
  readonly secretHash: SecretHash
  /** The other secret that remains valid until `keptUntil`: `previous`, or the one that `previous` replaced. */
  readonly kept: SecretHash
  readonly keptUntil: EpochMs
}

export type MembershipKey = Pick<MembershipRecord, 'userId' | 'organizationId'>
export type InstallationKey = Pick<InstallationRecord, 'clientId' | 'organizationId'>

export interface ClientUpdate {
  readonly id: ClientId
  readonly previous: ClientMetadata
  readonly metadata: ClientMetadata
  /**
   * Set when the name or a redirect host changed. Invalidates earlier consents and, unless an operator made the change, clears the
   * verification and the approved scopes.
   */
  readonly identityFrom: EpochMs | undefined
}

/** A filter that is absent or undefined matches every client. */
export interface ClientFilter {
  readonly source?: ClientSource | undefined
  readonly isUsed?: boolean | undefined
  readonly isVerified?: boolean | undefined
  readonly isDisabled?: boolean | undefined
  /** The client was not used since this time, or never. */
  readonly unusedSince?: EpochMs | undefined
}

/**
 * Which client, user and organization an operation is about, where its input does not contain them. Only the audit uses it,
 * and records it unchecked.
 */
export interface About {
  readonly about?: Pick<AuditEvent, 'clientId' | 'userId' | 'organizationId'>
}

export interface Approval extends About {
  readonly id: AuthorizationId
  readonly userId: UserId
  readonly organizationId: OrganizationId | undefined
  readonly codeHash: SecretHash
  readonly now: EpochMs
  readonly codeExpiresAt: EpochMs
  /** The request with the part of its scope that the user allowed (RFC 6749 §3.3), and with the session. undefined: the same. */
  readonly decided: AuthorizationRecord | undefined
  /** undefined: do not remember this consent. */
  readonly remember: (ConsentKey & { readonly scope: Scope }) | undefined
  /** The session in which the user approves, which must be active. undefined: the user approves without one. */
  readonly session: ApprovingSession | undefined
  /** The client is notified of the end of the session (`LogoutNoticeRecord`). undefined: it is not. */
  readonly notified: NotifiedClient | undefined
}

export interface Redemption {
  readonly codeHash: SecretHash
  readonly now: EpochMs
  /** Its id is that of the authorization (`grantIdOf`). */
  readonly grant: GrantRecord
}

/** The result of redeeming a code. It is a fact, not an error: the endpoint decides what it means. */
export type RedeemOutcome =
  | 'redeemed'
  /** The code was redeemed before. The store has revoked the grant that it created. */
  | 'replayed'
  /** The code was redeemed before, and its grant was revoked before. Nothing changes. */
  | 'spent'
  /** The code does not exist, has expired or was burned. */
  | 'unknown'

export interface Rotation extends About {
  readonly grantId: GrantId
  /** The generation of the presented token. */
  readonly generation: number
  readonly presentedHash: SecretHash
  readonly successorHash: SecretHash
  readonly now: EpochMs
  readonly idleExpiresAt: EpochMs
  /** How long after a rotation the previous token can still be used to get the same successor. */
  readonly retryMs: number
}

/** The result of presenting a refresh token that this server issued. */
export type RotateOutcome =
  /** `repeated`: a retry within the window. It gets `rotatedAt` of the first answer, so that its access token is the same. */
  | { readonly kind: 'rotated' | 'repeated'; readonly rotatedAt: EpochMs }
  /** The token had been replaced, so another party may have a copy. The store has revoked the family. */
  | { readonly kind: 'reused' }
  /** The grant was revoked, has expired or does not exist. */
  | { readonly kind: 'inactive' }

export interface LinkUse {
  readonly userId: UserId
  readonly hash: SecretHash
  readonly passwordHash: string
  /** The identities that the user confirmed. */
  readonly keep: readonly IdentityKey[]
  readonly now: EpochMs
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

export interface MasterKeyReplacement {
  readonly previous: string
  readonly wrapped: string
  /** The check of the new master key. */
  readonly check: string
  /** One signing key for each purpose and algorithm, encrypted under the new master key. */
  readonly keys: readonly KeyRecord[]
  readonly now: EpochMs
}

export interface Hit {
  readonly bucket: string
  readonly now: EpochMs
  readonly windowMs: number
  /** The number of attempts. */
  readonly by: number
}

/** A value that is accepted once, such as the `jti` of a client's assertion. */
export interface ConsumedKey {
  /** A keyed digest of the value, which does not reveal it. */
  readonly digest: string
  /** From then on the value is rejected for another reason, so that its digest may be removed. */
  readonly expiresAt: EpochMs
}

/**
 * Where each table's last slice ended. Rows that have to be examined, because no index finds what to delete, are examined in
 * slices in the order of their keys. '' at first, and after the end of the table.
 */
export interface SweepPlace {
  /** This one remains at the end of the table: an expired authorization is examined once, because it no longer changes. */
  readonly authorizationsAfter: AuthorizationId | ''
  readonly grantsAfter: GrantId | ''
  /** The ids of a user and a client, with a space between them. */
  readonly consentsAfter: string
}

export interface Sweep extends SweepPlace {
  readonly now: EpochMs
  readonly limit: number
  /** Revocations are removed if their token expired before this time. */
  readonly revocationsBefore: EpochMs
  /** Clients are removed if they were registered before this time and never got a token (decision 0021). */
  readonly unusedSince: EpochMs
  /** If more of them registered since then, the oldest are removed too, however old they are (decision 0021). */
  readonly unusedClients: number
  /** But none that was registered at this time or later. */
  readonly evictedBefore: EpochMs
  /** Codes of authorizations from before this time have expired. Authorizations are removed if theirs was not redeemed, and grants may be. */
  readonly authorizationsBefore: EpochMs
  /**
   * Authorizations from before this time are removed if their code was redeemed. Until then a replay of the code is
   * detected.
   */
  readonly evidenceBefore: EpochMs
  /** Initial access tokens that expired before this time are removed. */
  readonly initialTokensBefore: EpochMs
  /** Notices are removed if their session expired before this time, whether they are due or not. */
  readonly logoutNoticesBefore: EpochMs
  /** Links of the audit from before this time are removed. */
  readonly auditBefore: EpochMs
}

export interface Swept extends SweepPlace {
  readonly authorizations: number
  /** How many were examined. If this equals the limit, there are more. */
  readonly authorizationsExamined: number
  readonly grants: number
  /** Consents to clients that no longer exist. */
  readonly consents: number
  readonly sessions: number
  readonly links: number
  readonly interactions: number
  readonly identityProofs: number
  readonly clients: number
  readonly hits: number
  readonly revokedTokens: number
  readonly opaqueTokens: number
  readonly consumed: number
  readonly initialTokens: number
  readonly logoutNotices: number
  /** Notices that are due from now on, because all sessions of the server were revoked. */
  readonly logoutNoticesEnded: number
  readonly registrationCounts: number
  readonly auditLinks: number
}

/** A setting of the store that is replaced. `last-backup`: milliseconds. `went-back`: the era whose store went back (`StorePlace`). */
export interface StoredSetting {
  readonly name: 'issuer' | 'last-backup' | 'went-back'
  readonly value: string
}
