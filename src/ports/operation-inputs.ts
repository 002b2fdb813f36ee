import type { EpochMs } from '../protocol/brand.ts'
import type { ClientMetadata } from '../protocol/client-metadata.ts'
import type { AuthorizationId, ClientId, GrantId, OrganizationId, UserId } from '../protocol/ids.ts'
import type { Scope } from '../protocol/scope.ts'
import type { SecretHash } from '../protocol/secrets.ts'
import type { AuditEvent } from './records/audit.ts'
import type { ClientRecord } from './records/client.ts'
import type { ConsentKey, GrantRecord } from './records/grant.ts'
import type { InstallationRecord, MembershipRecord } from './records/organization.ts'

export type SharedClient = ClientRecord & { readonly dedupeKey: string }

export interface SecretRotation {
  readonly id: ClientId
  readonly previous: SecretHash
  readonly secretHash: SecretHash
  /** What goes on working until that moment: `previous`, or the one before that. */
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
   * Set when nobody would know it again: then it is unverified, what the operator approved it for was for another, and
   * consents from before count for nothing.
   */
  readonly identityFrom: EpochMs | undefined
}

/** Whom an operation is about, where its input does not say so anyway: for the audit alone, which says what it is told. */
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
  /** undefined: this consent is not to be remembered. */
  readonly remember: (ConsentKey & { readonly scope: Scope }) | undefined
}

export interface Redemption {
  readonly id: AuthorizationId
  readonly codeHash: SecretHash
  readonly now: EpochMs
  readonly grant: GrantRecord
}

/** What became of a code. Facts, not errors: the endpoint decides what they mean. */
export type RedeemOutcome =
  | 'redeemed'
  /** It was spent before; the store has revoked what it issued. */
  | 'replayed'
  /** No such code, or expired, or burned. */
  | 'unknown'

export interface Rotation extends About {
  readonly grantId: GrantId
  /** Of the presented token. */
  readonly generation: number
  readonly presentedHash: SecretHash
  readonly successorHash: SecretHash
  readonly now: EpochMs
  readonly idleExpiresAt: EpochMs
  /** How long after a rotation the token before may still ask for the same answer. */
  readonly retryMs: number
}

/** What became of a refresh token that carries our tag. */
export type RotateOutcome =
  /** `rotatedAt` fixes the access token: a retry within the window gets the moment of the first answer. */
  | { readonly kind: 'rotated' | 'repeated'; readonly rotatedAt: EpochMs }
  /** Somebody holds a copy; the store has revoked the family. */
  | { readonly kind: 'reused' }
  /** Revoked, expired or never there. */
  | { readonly kind: 'dead' }

export interface Hit {
  readonly bucket: string
  readonly now: EpochMs
  readonly windowMs: number
  /** How many. */
  readonly by: number
}

/**
 * What is examined, not found, is examined in slices, in the order of its keys. This is where the last slices ended, '' at first
 * and when they reached the end.
 */
export interface SweepPlace {
  /** Stays at the end: an authorization that has expired is examined once, because nothing changes it any more. */
  readonly authorizationsAfter: AuthorizationId | ''
  readonly grantsAfter: GrantId | ''
  /** A user and a client, with a space between. */
  readonly consentsAfter: string
}

export interface Sweep extends SweepPlace {
  readonly now: EpochMs
  readonly limit: number
  /** Revocations of tokens that expired before this are removed. */
  readonly revocationsBefore: EpochMs
  /** Clients registered before this, without a token ever, are removed (decisions.md D7). */
  readonly unusedSince: EpochMs
  /** Authorizations from before this are removed if they have expired and their code was not redeemed. */
  readonly authorizationsBefore: EpochMs
  /** Authorizations whose code was redeemed are removed when they are older than this: until then they are evidence. */
  readonly evidenceBefore: EpochMs
  /** Links of the audit from before this are removed. */
  readonly auditBefore: EpochMs
}

export interface Swept extends SweepPlace {
  readonly authorizations: number
  /** How many had their turn: there are more to examine when it is the limit. */
  readonly authorizationsExamined: number
  readonly grants: number
  /** To clients that are gone. */
  readonly consents: number
  readonly sessions: number
  readonly clients: number
  readonly hits: number
  readonly revokedTokens: number
  readonly opaqueTokens: number
  readonly auditLinks: number
}
