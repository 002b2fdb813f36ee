import type {
  About,
  Approval,
  ClientUpdate,
  Hit,
  InstallationKey,
  MembershipKey,
  Redemption,
  RedeemOutcome,
  RotateOutcome,
  Rotation,
  SecretRotation,
  SharedClient,
  Sweep,
  Swept,
} from './operation-inputs.ts'
import type { EpochMs } from '../protocol/brand.ts'
import type { ClockNote } from '../protocol/clock.ts'
import type {
  AdminCredentialId,
  AuthorizationId,
  ClientId,
  GrantId,
  KeyId,
  OrganizationId,
  SessionId,
  UserId,
} from '../protocol/ids.ts'
import type { Scope } from '../protocol/scope.ts'
import type { SecretHash } from '../protocol/secrets.ts'
import type { ApiCredentials, ApiDefinition, ApiRecord, OpaqueTokenRecord } from './records/api.ts'
import type { AuthorizationRecord } from './records/authorization.ts'
import type { ClientRecord } from './records/client.ts'
import type { InstallationRecord, MembershipRecord, OrganizationRecord } from './records/organization.ts'
import type { SessionRecord, UserRecord } from './records/user.ts'
import type { AdminCredentialRecord } from './records/admin.ts'
import type { AuditEvent } from './records/audit.ts'
import type { KeyRecord, SigningAlgorithm } from './records/key.ts'

/**
 * Everything that changes the store, each named after the event that it makes true. One operation is one transaction and
 * answers what happened; `[input, outcome]`. Operations queued in one turn of the event loop are committed together.
 */
export interface Operations {
  registerClient: [client: ClientRecord, outcome: 'registered']
  /** Registers a client unless there is one with its `dedupeKey`; answers the one that counts, which is held. */
  registerPublicClient: [share: { readonly client: SharedClient; readonly retainUntil: EpochMs }, outcome: ClientRecord]
  /** The client got its first token: from now on it is never swept. */
  useClient: [use: { readonly id: ClientId; readonly now: EpochMs }, outcome: 'used' | 'unknown']
  /** Somebody is about to authorize a client that never got a token: not swept until then. */
  extendRetention: [hold: { readonly id: ClientId; readonly until: EpochMs }, outcome: 'held' | 'unknown']
  /** Replaces its metadata if that is still `previous`. RFC 7592 §2.2. */
  updateClient: [update: ClientUpdate, outcome: 'updated' | 'conflict']
  /** With its installations. Consents to it are swept; its grants are dead, because no client is there. */
  deleteClient: [id: ClientId, outcome: 'deleted' | 'unknown']
  /** The operator vouches for the client (decisions.md D8). The first time counts. */
  verifyClient: [change: { readonly id: ClientId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  unverifyClient: [id: ClientId, outcome: 'changed' | 'unknown']
  /** Nothing of the client works from now on, and nobody gets it by registering. The first time counts. */
  disableClient: [change: { readonly id: ClientId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  enableClient: [id: ClientId, outcome: 'changed' | 'unknown']
  /** Gives it a new secret if `previous` is still its secret; beside it one more works for a while. */
  rotateClientSecret: [rotation: SecretRotation, outcome: 'rotated' | 'conflict']
  /** Replaces the scopes that the operator approved it for. */
  approveClientScope: [change: { readonly id: ClientId; readonly scope: Scope }, outcome: 'changed' | 'unknown']
  /** Its tokens from before now are dead. */
  expireClient: [change: { readonly id: ClientId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /** Writes down when clients last got a token. Later moments win; unknown clients are left out. */
  noteUses: [uses: readonly { readonly id: ClientId; readonly at: EpochMs }[], outcome: 'noted']

  startAuthorization: [authorization: AuthorizationRecord, outcome: 'started']
  /** Of many callers one is answered `approved`; the rest learn that it was decided before. Remembers the consent. */
  approveAuthorization: [approval: Approval, outcome: 'approved' | 'decided' | 'unknown']
  denyAuthorization: [
    denial: { readonly id: AuthorizationId; readonly now: EpochMs } & About,
    outcome: 'denied' | 'decided' | 'unknown',
  ]
  /** Spends the code and saves what it issued. A replay revokes that. */
  redeemCode: [redemption: Redemption, outcome: RedeemOutcome]
  /** A wrong verifier came with the right client: the code must never be guessed again. */
  burnCode: [
    burn: { readonly id: AuthorizationId; readonly codeHash: SecretHash; readonly now: EpochMs } & About,
    outcome: 'burned' | 'spent',
  ]
  /** decisions.md D5, steps 2 to 4. */
  rotateRefreshToken: [rotation: Rotation, outcome: RotateOutcome]

  /** Revokes the grant and everything issued on it. RFC 7009 §2.1. `known`: it was revoked before, and nothing changes. */
  revokeGrant: [
    revocation: { readonly id: GrantId; readonly now: EpochMs } & About,
    outcome: 'revoked' | 'known' | 'unknown',
  ]
  /** Keeps an opaque access token. The same one again changes nothing: an answer that was lost is given again. */
  issueToken: [token: OpaqueTokenRecord, outcome: 'issued']
  /** Revokes one access token, until it would have expired. `known`: it was revoked before, and nothing changes. */
  revokeToken: [
    revocation: { readonly tokenId: string; readonly expiresAt: EpochMs } & About,
    outcome: 'revoked' | 'known',
  ]

  createUser: [user: UserRecord, outcome: 'created' | 'email-taken']
  setPassword: [
    change: { readonly id: UserId; readonly passwordHash: string; readonly now: EpochMs },
    outcome: 'changed' | 'unknown',
  ]
  disableUser: [change: { readonly id: UserId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /** What was issued until now is dead, also by a node that did not know yet that the user was disabled. */
  enableUser: [change: { readonly id: UserId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /** With its sessions, memberships and remembered consents. Its grants are dead, because nobody is there. */
  deleteUser: [id: UserId, outcome: 'deleted' | 'unknown']
  /** The user's sessions and grants from before now are dead. */
  expireUser: [change: { readonly id: UserId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /** Everybody's sessions and tokens from before now are dead. */
  expireEverything: [change: { readonly now: EpochMs }, outcome: 'expired']

  createOrganization: [organization: OrganizationRecord, outcome: 'created']
  renameOrganization: [change: { readonly id: OrganizationId; readonly name: string }, outcome: 'changed' | 'unknown']
  /** Nothing is issued for it from now on, and what was is dead. The first time counts. */
  disableOrganization: [change: { readonly id: OrganizationId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /** What was issued until now is dead, as with users. */
  enableOrganization: [change: { readonly id: OrganizationId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  expireOrganization: [change: { readonly id: OrganizationId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /** With its memberships and installations. */
  deleteOrganization: [id: OrganizationId, outcome: 'deleted' | 'unknown']
  addMember: [membership: MembershipRecord, outcome: 'added' | 'member-already' | 'too-many']
  /** What was issued to the member for the organization is dead, also when the member is enabled again. The first time counts. */
  disableMember: [change: MembershipKey & { readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /** What was issued until now is dead, as with users. */
  enableMember: [change: MembershipKey & { readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  removeMember: [member: MembershipKey, outcome: 'removed' | 'unknown']
  /** Allows a client for an organization. Instead of what was allowed before, whose tokens are dead then. */
  install: [installation: InstallationRecord, outcome: 'installed' | 'replaced']
  disableInstallation: [change: InstallationKey & { readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /** What was issued until now is dead, as with users. */
  enableInstallation: [change: InstallationKey & { readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  uninstall: [installation: InstallationKey, outcome: 'removed' | 'unknown']

  /** Also remembers that this browser once signed in as this user. */
  startSession: [start: { readonly session: SessionRecord; readonly browserHash: SecretHash }, outcome: 'started']
  endSession: [id: SessionId, outcome: 'ended' | 'unknown']
  /** Counts attempts in a fixed window and answers the count with them. Exact under concurrency. */
  countHit: [hit: Hit, outcome: { readonly count: number; readonly windowEndsAt: EpochMs }]
  /** Takes attempts back, because they were none. */
  forgiveHit: [hit: Hit, outcome: 'forgiven']

  /** A new API has no credentials. `taken`: it is declared, or its twin is (`slashVariant`). */
  declareApi: [api: Omit<ApiRecord, 'credentials' | 'scopesSince'>, outcome: 'declared' | 'taken']
  /** Replaces what its operator said of it, if that is still `previous`. */
  updateApi: [
    update: { readonly previous: ApiDefinition; readonly api: Omit<ApiRecord, 'credentials' | 'createdAt'> },
    outcome: 'changed' | 'conflict',
  ]
  /** Replaces what the API authenticates with. */
  setApiCredentials: [
    change: { readonly resource: string; readonly credentials: ApiCredentials },
    outcome: 'changed' | 'unknown',
  ]
  deleteApi: [resource: string, outcome: 'deleted' | 'unknown']
  /** Keeps a key unless there is one of its algorithm already; answers the first of them, which counts. */
  addFirstKey: [key: KeyRecord, outcome: KeyRecord]
  /** Keeps a key if `follows` is the newest: of many who make the next one, one does. Its id must be newer. */
  addKey: [next: { readonly key: KeyRecord; readonly follows: KeyId }, outcome: 'added' | 'conflict']
  /** Withdraws a key, if the one because of which it may go is there. */
  removeKey: [removal: { readonly id: KeyId; readonly replacement: KeyId }, outcome: 'removed' | 'unknown']
  /** Writes down which algorithm signs for the server, for nodes that are told another one whose first key waits. */
  noteServerAlgorithm: [algorithm: SigningAlgorithm, outcome: 'noted']
  /** Replaces what the node keeps of time (`findClockNotes`). */
  noteClock: [note: ClockNote, outcome: 'noted']
  /** The operator says that the clock which shows `now` is right. The last one counts. */
  confirmClock: [confirmation: { readonly now: EpochMs }, outcome: 'confirmed']
  /** Keeps a value of the store itself unless there is one already; answers the one that counts. */
  settle: [setting: { readonly name: string; readonly value: string }, outcome: string]
  createAdminCredential: [credential: AdminCredentialRecord, outcome: 'created']
  /** The first time counts. */
  revokeAdminCredential: [
    change: { readonly id: AdminCredentialId; readonly now: EpochMs },
    outcome: 'changed' | 'unknown',
  ]
  /** Something that no other operation tells of. */
  recordEvent: [event: AuditEvent, outcome: 'recorded']
  /** Removes what expired, at most `limit` rows of each kind; answers how many. */
  sweepExpired: [sweep: Sweep, outcome: Swept]
}

export type OperationName = keyof Operations
export type Input<Name extends OperationName> = Operations[Name][0]
export type Outcome<Name extends OperationName> = Operations[Name][1]
export type Operation = {
  readonly [Name in OperationName]: {
    readonly name: Name
    readonly input: Input<Name>
    /** The administrator who asked for it, as the audit names one; absent: a client or a person did. */
    readonly by?: string
  }
}[OperationName]
