import type {
  About,
  Approval,
  ClientUpdate,
  DocumentClient,
  DocumentRenewal,
  ConsumedKey,
  Hit,
  InstallationKey,
  MembershipKey,
  Redemption,
  RedeemOutcome,
  RotateOutcome,
  RegistrationWithToken,
  Rotation,
  SecretRotation,
  SharedClient,
  Sweep,
  Swept,
} from './operation-inputs.ts'
import type { AccountOperations } from './account-operations.ts'
import type { IdentityOperations } from './identity-operations.ts'
import type { OperatorOperations } from './operator-operations.ts'
import type { EpochMs } from '../base/brand.ts'
import type { AuthorizationId, ClientId, GrantId, OrganizationId } from '../protocol/ids.ts'
import type { Scope } from '../protocol/token/scope.ts'
import type { SecretHash } from '../protocol/secrets.ts'
import type { OpaqueTokenRecord } from './records/api.ts'
import type { AuthorizationRecord } from './records/authorization.ts'
import type { ClientRecord } from './records/client.ts'
import type { InstallationRecord, MembershipRecord, OrganizationRecord } from './records/organization.ts'
import type { AuditEvent } from './records/audit.ts'

/**
 * The operations that change the store, each as `[input, outcome]`.
 *
 * An operation is one protocol event and atomic: it is applied completely or not at all, and its outcome says what happened. A
 * caller never reads first and writes afterwards, so two concurrent requests cannot both pass a check.
 *
 * Two operations are never atomic together, also when one request asks for both in the same turn of the event loop. The
 * operations of a turn are committed as a batch, which only saves time: SQLite commits the batch in one transaction, or each
 * operation alone if one of them fails. PostgreSQL commits it in waves (src/store/postgres/waves.ts), one transaction after the
 * other, and a crash between two waves leaves the first. Changes that belong together are therefore one operation.
 *
 * Common outcomes: `unknown`, the record does not exist; `conflict`, another caller changed it since this caller read it, so
 * that of concurrent changes one succeeds. In both cases nothing was changed. To verify, disable or revoke what already is
 * keeps the first time.
 */
export interface Operations extends OperatorOperations, AccountOperations, IdentityOperations {
  /** Registers a client, which has no rules and no document. RFC 7591 §3.2.1. */
  registerClient: [client: ClientRecord, outcome: 'registered']
  /**
   * Returns the client with this `dedupeKey`, registered now if there was none. Concurrent registrations return one client.
   * It is not swept before `retainUntil`.
   */
  registerPublicClient: [share: { readonly client: SharedClient; readonly retainUntil: EpochMs }, outcome: ClientRecord]
  /**
   * Registers a client with an initial access token, and counts the use of the token. `token-inactive`: the token is unknown,
   * expired, revoked, or was used as often as it may be. Of concurrent registrations, as many succeed as the token has uses.
   */
  registerWithToken: [registration: RegistrationWithToken, outcome: 'registered' | 'token-inactive']
  /**
   * Adds a client whose metadata document was fetched for the first time. It is not swept before `retainUntil`. Of concurrent
   * callers one returns `added`.
   */
  addDocumentClient: [
    addition: { readonly client: DocumentClient; readonly retainUntil: EpochMs },
    outcome: 'added' | 'known',
  ]
  /** Replaces the metadata of a client with its document as it was fetched again, if no other caller did so since. */
  renewDocument: [renewal: DocumentRenewal, outcome: 'renewed' | 'conflict']
  /** Records that the client got its first token. From then on it is not swept. */
  useClient: [use: { readonly id: ClientId; readonly now: EpochMs }, outcome: 'used' | 'unknown']
  /** Keeps a client that never got a token from being swept until `until`, because a user is about to authorize it. */
  extendRetention: [hold: { readonly id: ClientId; readonly until: EpochMs }, outcome: 'held' | 'unknown']
  /** Replaces the client's metadata if it still equals `previous`. RFC 7592 §2.2. */
  updateClient: [update: ClientUpdate, outcome: 'updated' | 'conflict']
  /** Deletes the client and its installations. Its grants become invalid; sweeps remove the consents to it. */
  deleteClient: [id: ClientId, outcome: 'deleted' | 'unknown']
  /** Marks the client as verified by the operator (decision 0022). */
  verifyClient: [change: { readonly id: ClientId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /** Removes the operator's mark. */
  unverifyClient: [id: ClientId, outcome: 'changed' | 'unknown']
  /** Disables the client: its credentials and tokens stop working, and no registration returns it. */
  disableClient: [change: { readonly id: ClientId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /** Enables the client. Its tokens from before work again unless they were revoked or have expired. */
  enableClient: [id: ClientId, outcome: 'changed' | 'unknown']
  /** Replaces the client's secret if it still equals `previous`. The secret in `kept` remains valid until `keptUntil`. */
  rotateClientSecret: [rotation: SecretRotation, outcome: 'rotated' | 'conflict']
  /** Replaces the scopes that the operator approved the client for. */
  approveClientScope: [change: { readonly id: ClientId; readonly scope: Scope }, outcome: 'changed' | 'unknown']
  /** Revokes all tokens that the client got before now, by setting its not-before time. */
  revokeClientTokens: [change: { readonly id: ClientId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /** Records when clients last got a token. A later time replaces an earlier one; unknown clients are ignored. */
  noteUses: [uses: readonly { readonly id: ClientId; readonly at: EpochMs }[], outcome: 'noted']

  /** Stores a checked authorization request, which waits for the user. */
  startAuthorization: [authorization: AuthorizationRecord, outcome: 'started']
  /**
   * Approves a pending request; stores the hash of its code and, if `remember` is set, the consent. Of concurrent answers to
   * one request one returns `approved`, the others `decided`. `unknown`: also if the session in which the user
   * approves has ended.
   */
  approveAuthorization: [approval: Approval, outcome: 'approved' | 'decided' | 'unknown']
  /** Denies a pending request. `decided`: the user had approved or denied it already. */
  denyAuthorization: [
    denial: { readonly id: AuthorizationId; readonly now: EpochMs } & About,
    outcome: 'denied' | 'decided' | 'unknown',
  ]
  /**
   * Redeems an authorization code and creates the grant. Of concurrent requests with one code exactly one returns
   * `redeemed`. Each later one returns `replayed` and revokes the grant, since the code was stolen (RFC 6749 §4.1.2).
   */
  redeemCode: [redemption: Redemption, outcome: RedeemOutcome]
  /**
   * Invalidates a code that its client presented with a wrong code_verifier: a verifier cannot be guessed by trying
   * (threats.md CODE-07). `spent`: the code was no longer redeemable.
   */
  burnCode: [
    burn: { readonly id: AuthorizationId; readonly codeHash: SecretHash; readonly now: EpochMs } & About,
    outcome: 'burned' | 'spent',
  ]
  /**
   * Rotates a refresh token, or revokes the grant if the token was used before (decision 0004). Of concurrent requests
   * with one token one returns `rotated`. The rule is in src/store/refresh-rotation.ts.
   */
  rotateRefreshToken: [rotation: Rotation, outcome: RotateOutcome]

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

  /** Revokes all sessions and tokens of the server from before now. */
  revokeAllTokens: [change: { readonly now: EpochMs }, outcome: 'expired']

  createOrganization: [organization: OrganizationRecord, outcome: 'created']
  renameOrganization: [change: { readonly id: OrganizationId; readonly name: string }, outcome: 'changed' | 'unknown']
  /** Disables the organization: its tokens are revoked, and none are issued for it. */
  disableOrganization: [change: { readonly id: OrganizationId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /** Enables the organization and, as `enableUser` does, sets its not-before time to now. */
  enableOrganization: [change: { readonly id: OrganizationId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /** Revokes the tokens and consents for the organization from before now. */
  revokeOrganizationTokens: [
    change: { readonly id: OrganizationId; readonly now: EpochMs },
    outcome: 'changed' | 'unknown',
  ]
  /** Deletes the organization with its memberships and installations. */
  deleteOrganization: [id: OrganizationId, outcome: 'deleted' | 'unknown']
  /** Adds a user to an organization. `too-many`: the user belongs to MEMBERSHIP_LIMIT organizations already. */
  addMember: [membership: MembershipRecord, outcome: 'added' | 'member-already' | 'too-many']
  /** Disables the membership and revokes the user's tokens for the organization; enabling it does not restore them. */
  disableMember: [change: MembershipKey & { readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /** Enables the membership and, as `enableUser` does, sets its not-before time to now. */
  enableMember: [change: MembershipKey & { readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  removeMember: [member: MembershipKey & { readonly now: EpochMs }, outcome: 'removed' | 'unknown']
  /** Installs a client for an organization. `replaced`: its earlier installation and the tokens from it are revoked. */
  install: [installation: InstallationRecord, outcome: 'installed' | 'replaced']
  /** Disables the installation: its tokens are revoked, and none are issued for it. */
  disableInstallation: [change: InstallationKey & { readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /** Enables the installation and, as `enableUser` does, sets its not-before time to now. */
  enableInstallation: [change: InstallationKey & { readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  uninstall: [installation: InstallationKey, outcome: 'removed' | 'unknown']

  /**
   * Counts `by` new clients in the current window of 15 minutes, so that the sweep knows when there are too many without counting
   * clients.
   */
  countRegistrations: [
    count: { readonly by: number; readonly now: EpochMs },
    outcome: { readonly count: number; readonly windowEndsAt: EpochMs },
  ]
  /** Counts `by` attempts in a fixed window. The count is exact, so that parallel attempts cannot pass a limit. */
  countHit: [hit: Hit, outcome: { readonly count: number; readonly windowEndsAt: EpochMs }]
  /** Takes attempts off the count, because they turned out not to be failures. */
  forgiveHit: [hit: Hit, outcome: 'forgiven']

  /** Adds an event to the audit that belongs to no other operation. */
  recordEvent: [event: AuditEvent, outcome: 'recorded']
  /** Removes what has expired, at most `limit` rows of each kind. Returns how many rows of each. */
  sweepExpired: [sweep: Sweep, outcome: Swept]
}

export type OperationName = keyof Operations
export type Input<Name extends OperationName> = Operations[Name][0]
export type Outcome<Name extends OperationName> = Operations[Name][1]
export type Operation = {
  readonly [Name in OperationName]: {
    readonly name: Name
    readonly input: Input<Name>
    /** The administrator who requested the operation, as the audit names one. Absent: a client or a user did. */
    readonly by?: string
    /** The id of the request that caused the operation. Absent: none, or one of a program that acts for itself. */
    readonly requestId?: string | undefined
  }
}[OperationName]
