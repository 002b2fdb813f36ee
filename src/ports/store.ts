import type { Input, Operation, OperationName, Outcome } from './operations.ts'
import type { InstallationKey, MembershipKey } from './operation-inputs.ts'
import type { Walk, WalkedClients, WalkedGrants } from './walks.ts'
import type { EpochMs } from '../protocol/brand.ts'
import type { ClockNotes } from '../protocol/clock.ts'
import type {
  AdminCredentialId,
  AuthorizationId,
  ClientId,
  GrantId,
  OpaqueTokenId,
  OrganizationId,
  SessionId,
  UserId,
} from '../protocol/ids.ts'
import type { Scope } from '../protocol/scope.ts'
import type { SecretHash } from '../protocol/secrets.ts'
import type { ApiRecord, OpaqueTokenRecord } from './records/api.ts'
import type { AuthorizationRecord } from './records/authorization.ts'
import type { ClientRecord } from './records/client.ts'
import type { ConsentKey, GrantRecord } from './records/grant.ts'
import type { InstallationRecord, MembershipRecord, OrganizationRecord } from './records/organization.ts'
import type { SessionRecord, UserRecord } from './records/user.ts'
import type { AdminCredentialRecord } from './records/admin.ts'
import type { AuditLinkRecord } from './records/audit.ts'
import type { KeyRecord, SigningAlgorithm } from './records/key.ts'

/** One result of a batch: an operation that failed never spoils its neighbours. */
export type Settled =
  | { readonly kind: 'done'; readonly outcome: unknown }
  | { readonly kind: 'failed'; readonly cause: unknown }

/** What an adapter must do. Reads see what is committed; writes come in batches. */
export interface StoreDriver extends Reads {
  /** How many batches may be under way at a time: one where there is one writer. */
  readonly batchesInFlight: number
  /** All in one transaction, in order; results in the same order. Throws StoreUnavailable when nothing was committed. */
  readonly commit: (operations: readonly Operation[]) => Promise<readonly Settled[]>
  readonly close: () => Promise<void>
}

export interface Reads {
  readonly findClient: (id: ClientId) => Promise<ClientRecord | undefined>
  /** Newest first, `before` exclusive. */
  readonly listClients: (page: Page<ClientId> & ClientFilter) => Promise<readonly ClientRecord[]>
  readonly findAuthorization: (id: AuthorizationId) => Promise<AuthorizationRecord | undefined>
  readonly findGrant: (id: GrantId) => Promise<GrantRecord | undefined>
  /** Newest first; of all filters that are given, what fits. */
  readonly listGrants: (page: Page<GrantId> & GrantFilter) => Promise<readonly GrantRecord[]>
  readonly findOpaqueToken: (id: OpaqueTokenId) => Promise<OpaqueTokenRecord | undefined>
  /** Whether this one access token was revoked. Never answered from a copy. */
  readonly isTokenRevoked: (tokenId: string) => Promise<boolean>
  readonly findUser: (id: UserId) => Promise<UserRecord | undefined>
  /** `otherwise` where there is no account: the database answers as many bytes in both cases, so that it takes as long. */
  readonly findUserIdByEmail: (email: string, otherwise: UserId) => Promise<UserId>
  readonly findUserByEmail: (email: string) => Promise<UserRecord | undefined>
  readonly listUsers: (page: Page<UserId>) => Promise<readonly UserRecord[]>
  readonly findOrganization: (id: OrganizationId) => Promise<OrganizationRecord | undefined>
  readonly listOrganizations: (page: Page<OrganizationId>) => Promise<readonly OrganizationRecord[]>
  readonly findMembership: (key: MembershipKey) => Promise<MembershipRecord | undefined>
  /** All of a user, in the order of the organizations' ids, at most MEMBERSHIP_LIMIT. */
  readonly listMemberships: (userId: UserId) => Promise<readonly MembershipRecord[]>
  /** In the order of their ids, `before` exclusive: newest users first. */
  readonly listMembers: (
    page: Page<UserId> & { readonly organizationId: OrganizationId },
  ) => Promise<readonly MembershipRecord[]>
  readonly findInstallation: (key: InstallationKey) => Promise<InstallationRecord | undefined>
  /** Newest clients first, `before` exclusive. */
  readonly listInstallations: (
    page: Page<ClientId> & { readonly organizationId: OrganizationId },
  ) => Promise<readonly InstallationRecord[]>
  readonly findSession: (id: SessionId) => Promise<SessionRecord | undefined>
  /** Whether this browser signed in as this user before. */
  readonly knowsBrowser: (userId: UserId, browserHash: SecretHash) => Promise<boolean>
  /** The scope that was consented to under this key; undefined when there is none. */
  readonly findConsent: (key: ConsentKey) => Promise<Scope | undefined>
  /** Whether the user consented to this client since, under any key. */
  readonly hasConsented: (userId: UserId, clientId: ClientId, since: EpochMs) => Promise<boolean>
  readonly listApis: () => Promise<readonly ApiRecord[]>
  readonly findAdminCredential: (id: AdminCredentialId) => Promise<AdminCredentialRecord | undefined>
  readonly listAdminCredentials: (page: Page<AdminCredentialId>) => Promise<readonly AdminCredentialRecord[]>
  /** From when on anything counts (`expireEverything`); 0: since ever. */
  readonly findNotBefore: () => Promise<EpochMs>
  /** Newest first, `before` exclusive, and none recorded before `since`. */
  readonly listAuditLinks: (page: Page<string> & { readonly since: EpochMs }) => Promise<readonly AuditLinkRecord[]>
  /** The last link of each chain that began since, newest chains first. */
  readonly listAuditHeads: (page: {
    readonly since: EpochMs
    readonly limit: number
  }) => Promise<readonly AuditLinkRecord[]>
  readonly listKeys: () => Promise<readonly KeyRecord[]>
  /** As it was noted last (`noteServerAlgorithm`). */
  readonly findServerAlgorithm: () => Promise<SigningAlgorithm | undefined>
  /** What the node and the operator said about the clock (`noteClock`, `confirmClock`). */
  readonly findClockNotes: () => Promise<ClockNotes>
  /** How many grants of a slice are what, for those who watch the server. */
  readonly walkGrants: (walk: Walk) => Promise<WalkedGrants>
  readonly walkClients: (walk: Walk) => Promise<WalkedClients>
  /** A round trip to the database. Answers what time it is there; undefined where that is this machine's clock. */
  readonly ping: () => Promise<EpochMs | undefined>
}

/** Absent or undefined: whatever it is. */
export interface ClientFilter {
  readonly isUsed?: boolean | undefined
  readonly isVerified?: boolean | undefined
  readonly isDisabled?: boolean | undefined
  /** Not used since this moment, or never. */
  readonly unusedSince?: EpochMs | undefined
}

export interface GrantFilter {
  readonly clientId?: ClientId | undefined
  readonly userId?: UserId | undefined
  readonly organizationId?: OrganizationId | undefined
}

/** How many organizations a user may belong to. */
export const MEMBERSHIP_LIMIT = 100

export interface Page<Id> {
  readonly before: Id | undefined
  readonly limit: number
}

/** The store as the use-cases see it: one method an operation, and none of them knows of batches. */
export type Store = Reads & { readonly [Name in OperationName]: (input: Input<Name>) => Promise<Outcome<Name>> }

/** The store is busy, full or gone, or nobody knows whether it committed. Becomes 503 (decisions.md D1). */
export class StoreUnavailable extends Error {
  constructor(reason: string, cause?: unknown) {
    super(`The store is unavailable: ${reason}`, { cause })
    this.name = 'StoreUnavailable'
  }
}
