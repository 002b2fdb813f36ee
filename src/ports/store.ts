import type { Input, Operation, OperationName, Outcome } from './operations/index.ts'
import type { ClientFilter } from './operations/client.ts'
import type { CountedHits, HitCount } from './operations/server.ts'
import type { InstallationKey, MembershipKey } from './operations/organization.ts'
import type { UserSearchReads } from './operations/user-search.ts'
import type { RevocationCutoff } from './operations/token.ts'
import type { OldestClients, OldestClientsFound, WalkReads } from './walks.ts'
import type { ProviderId } from '../protocol/sign-in/authentication.ts'
import type { EpochMs } from '../base/brand.ts'
import type { ClockNotes } from '../base/clock.ts'
import type {
  AdminCredentialId,
  AuthorizationId,
  ClientId,
  DeviceId,
  GrantId,
  InitialTokenId,
  InteractionId,
  OpaqueTokenId,
  OrganizationId,
  PushedRequestId,
  SessionId,
  UserId,
} from '../protocol/ids.ts'
import type { IdentityKey } from '../protocol/sign-in/provider-identity.ts'
import type { Scope } from '../protocol/token/scope.ts'
import type { StorePlace } from '../base/store-place.ts'
import type { SecretHash } from '../protocol/secrets.ts'
import { WRITE_FAULT_TEXTS, type WriteFault } from '../base/write-fault.ts'
import type { AccountReads } from './records/account.ts'
import type { ApiRecord, OpaqueTokenRecord } from './records/api.ts'
import type { AuthorizationRecord, DeviceRecord, PushedRequestRecord } from './records/authorization.ts'
import type { ClientRecord } from './records/client.ts'
import type { DomainRuleRecord } from './records/domain-rule.ts'
import type { ConsentedHost, ConsentKey, ConsentRecord, GrantRecord } from './records/grant.ts'
import type { InstallationRecord, MembershipRecord, OrganizationRecord } from './records/organization.ts'
import type { AccessRuleReads } from './records/access-rule.ts'
import type { GroupReads } from './records/group.ts'
import type { IdentityProofRecord, IdentityRecord, ProviderRecord } from './records/provider.ts'
import type { DueNotice, LogoutNoticeRecord } from './records/logout-notice.ts'
import type { MailRecord } from './records/mail.ts'
import type { RoleRecord } from './records/role.ts'
import type { SecondFactorRecord } from './records/second-factor.ts'
import type { PasskeyRecord } from './records/passkey.ts'
import type { PasskeyId } from '../protocol/sign-in/passkey.ts'
import type { EmailCodeRecord, LinkRecord, SessionRecord, UserRecord } from './records/user.ts'
import type { AdminCredentialRecord } from './records/admin.ts'
import type { InitialTokenRecord } from './records/initial-token.ts'
import type { InteractionRecord } from './records/interaction.ts'
import type { FigurePage, FigureRecord } from './records/figures.ts'
import type { AuditLinkRecord } from './records/audit.ts'
import type { KeyRecord, SigningAlgorithm, StoredMasterKey } from './records/key.ts'
import { MAXIMA } from '../base/maxima.ts'

/** The result of one operation of a batch. One that failed does not affect the others. */
export type OperationResult =
  | { readonly kind: 'done'; readonly outcome: unknown }
  | { readonly kind: 'failed'; readonly cause: unknown }

/** What a database adapter implements. Reads see committed data only; writes come in batches. */
export interface StoreDriver extends Reads {
  /** How many batches may be committed at a time; 1 for a database with a single writer. */
  readonly batchesInFlight: number
  /**
   * Commits a batch and returns the results in its order. Operations on the same rows are applied in that order, and each
   * operation completely or not at all. Throws StoreUnavailable if nothing was committed.
   */
  readonly commit: (operations: readonly Operation[]) => Promise<readonly OperationResult[]>
  readonly close: () => Promise<void>
  readonly writeProbes: WriteProbes
}

/** How to find out whether commits succeed. Both throw StoreUnavailable, or StoreRefusesWrites where the reason is known. */
export interface WriteProbes {
  /** What can be known without a write. It may be called every second. */
  readonly look: () => Promise<void>
  /** A write that changes nothing that is stored, and needs what the commits of requests need. Called only after one failed. */
  readonly write: () => Promise<void>
  /** The least time between two such writes that fail, in milliseconds. */
  readonly pauseMs: number
}

export interface Reads extends AccountReads, AccessRuleReads, GroupReads, UserSearchReads, WalkReads {
  readonly findClient: (id: ClientId) => Promise<ClientRecord | undefined>
  /** Newest first, `before` exclusive. */
  readonly listClients: (
    page: Page<ClientId> & Partial<Reach<ClientId>> & ClientFilter,
  ) => Promise<readonly ClientRecord[]>
  /** The clients of a slice that match the filter, oldest first. */
  readonly listOldestClients: (slice: OldestClients) => Promise<OldestClientsFound>
  readonly findAuthorization: (id: AuthorizationId) => Promise<AuthorizationRecord | undefined>
  readonly findPushedRequest: (id: PushedRequestId) => Promise<PushedRequestRecord | undefined>
  readonly findDevice: (id: DeviceId) => Promise<DeviceRecord | undefined>
  readonly findGrant: (id: GrantId) => Promise<GrantRecord | undefined>
  /** Newest first. All given filters must match. */
  readonly listGrants: (page: Page<GrantId> & GrantFilter) => Promise<readonly GrantRecord[]>
  readonly findOpaqueToken: (id: OpaqueTokenId) => Promise<OpaqueTokenRecord | undefined>
  /** Whether this access token was revoked. Always read from the database, never from a cache. */
  readonly isTokenRevoked: (tokenId: string) => Promise<boolean>
  readonly findUser: (id: UserId) => Promise<UserRecord | undefined>
  /** Always read from the database, never from a cache: a change by another node counts at once. */
  readonly findCurrent: (ids: {
    readonly clientId: ClientId
    readonly userId: UserId
    /** undefined: none is meant. */
    readonly organizationId: OrganizationId | undefined
  }) => Promise<{
    readonly client: ClientRecord | undefined
    readonly user: UserRecord | undefined
    readonly organization: OrganizationRecord | undefined
  }>
  /**
   * The id of the account with this email, in any spelling, or `otherwise`. Both cases take the database equally long, so that the response
   * time does not reveal which emails have an account.
   */
  readonly findUserIdByEmail: (email: string, otherwise: UserId) => Promise<UserId>
  /** The account with this email, in any spelling. undefined also where two accounts have it, each in a spelling from before (threats.md UI-21). */
  readonly findUserByEmail: (email: string) => Promise<UserRecord | undefined>
  /** Users whose stored address has a character outside ASCII or ends with a dot, so that its spelling may be one from before. */
  readonly listOddSpellings: (page: {
    readonly after: UserId | ''
    readonly limit: number
  }) => Promise<readonly { readonly id: UserId; readonly email: string }[]>
  readonly listUsers: (page: Page<UserId>) => Promise<readonly UserRecord[]>
  /** The users whose address begins with a text, in the order of the addresses. */
  readonly listUsersByEmail: (search: {
    readonly prefix: string
    readonly limit: number
  }) => Promise<readonly UserRecord[]>
  readonly findOrganization: (id: OrganizationId) => Promise<OrganizationRecord | undefined>
  readonly listOrganizations: (page: Page<OrganizationId>) => Promise<readonly OrganizationRecord[]>
  readonly findMembership: (key: MembershipKey) => Promise<MembershipRecord | undefined>
  /** All memberships of a user, ordered by organization id; at most MEMBERSHIP_LIMIT. */
  readonly listMemberships: (userId: UserId) => Promise<readonly MembershipRecord[]>
  /** Ordered by user id, newest users first; `before` is exclusive. */
  readonly listMembers: (
    page: Page<UserId> & { readonly organizationId: OrganizationId },
  ) => Promise<readonly MembershipRecord[]>
  readonly findInstallation: (key: InstallationKey) => Promise<InstallationRecord | undefined>
  /** Newest clients first; `before` is exclusive. */
  readonly listInstallations: (
    page: Page<ClientId> & { readonly organizationId: OrganizationId },
  ) => Promise<readonly InstallationRecord[]>
  /** Ordered by organization id, newest organizations first; `before` is exclusive. */
  readonly listInstallationsOfClient: (
    page: Page<OrganizationId> & { readonly clientId: ClientId },
  ) => Promise<readonly InstallationRecord[]>
  /** Newest first, `before` exclusive. */
  readonly listSessions: (
    page: Page<SessionId> & { readonly userId?: UserId | undefined },
  ) => Promise<readonly SessionRecord[]>
  /** The links with which the user may set a password or add a provider, also expired ones: at most one of each origin. */
  readonly listLinks: (userId: UserId) => Promise<readonly LinkRecord[]>
  /** The code of an address that the user may type, also an expired one. */
  readonly findEmailCode: (userId: UserId) => Promise<EmailCodeRecord | undefined>
  /** The attempts that were counted in the window of `now`, by bucket. One without attempts is absent. */
  readonly listHits: (hits: CountedHits) => Promise<ReadonlyMap<string, HitCount>>
  readonly findRole: (userId: UserId) => Promise<RoleRecord | undefined>
  /** Newest users first, `before` exclusive. */
  readonly listRoles: (page: Page<UserId>) => Promise<readonly RoleRecord[]>
  /** The authenticator app of the user, if there is one. */
  readonly findSecondFactor: (userId: UserId) => Promise<SecondFactorRecord | undefined>
  readonly findPasskey: (userId: UserId, id: PasskeyId) => Promise<PasskeyRecord | undefined>
  /** The passkeys of the user, the oldest first. */
  readonly listPasskeys: (userId: UserId) => Promise<readonly PasskeyRecord[]>
  /** Whether any user has a passkey. */
  readonly hasAnyPasskey: () => Promise<boolean>
  /**
   * How many users could not sign in without their passkeys: they have neither an identity at an enabled provider nor, where passwords
   * count, a password.
   */
  readonly countPasskeyOnlyUsers: (asked: { readonly passwordsCount: boolean }) => Promise<number>
  /** Whether the user has a recovery code with this digest left. */
  readonly hasRecoveryCode: (userId: UserId, digest: string) => Promise<boolean>
  /** How many recovery codes the user has left. */
  readonly countRecoveryCodes: (userId: UserId) => Promise<number>
  /** Notices whose time has come, the earliest first. */
  readonly listDueLogoutNotices: (due: DueNotices) => Promise<readonly (LogoutNoticeRecord & DueNotice)[]>
  /** Mails whose time has come, the earliest first. */
  readonly listDueMails: (due: DueMails) => Promise<readonly MailRecord[]>
  readonly findInteraction: (id: InteractionId) => Promise<InteractionRecord | undefined>
  readonly findSession: (id: SessionId) => Promise<SessionRecord | undefined>
  /** Whether this browser signed in as this user before; all that did. */
  readonly knowsBrowser: (userId: UserId, browserHash: SecretHash) => Promise<boolean>
  readonly listBrowsers: (userId: UserId) => Promise<readonly SecretHash[]>
  /** The scope of the consent that is remembered under this key, if there is one. */
  readonly findConsent: (key: ConsentKey) => Promise<Scope | undefined>
  /** The grants of a user that are neither revoked nor expired, and match what else is given, newest first. */
  readonly listLiveGrants: (asked: LiveGrants) => Promise<readonly GrantRecord[]>
  /**
   * The same without a filter: of each client for each organization the newest, then of each the second, and so on. Another app is not hidden by
   * one that has many (threats.md JAG-16).
   */
  readonly listGrantsByApp: (asked: Pick<LiveGrants, 'userId' | 'now' | 'limit'>) => Promise<readonly GrantRecord[]>
  /** The authorizations that a user approved, and whose codes can be redeemed and were not, newest first. */
  readonly listOpenCodes: (asked: OpenCodes) => Promise<readonly AuthorizationRecord[]>
  /** The remembered consents of a user, ordered by client. */
  readonly listConsents: (userId: UserId, limit: number) => Promise<readonly ConsentRecord[]>
  /** Whether the user consented to this client with this redirect host at or after `since`, to whatever scope and resources. */
  readonly hasConsented: (key: ConsentedHost) => Promise<boolean>
  /** All rules for domains, ordered by pattern. */
  readonly listDomainRules: () => Promise<readonly DomainRuleRecord[]>
  readonly listApis: () => Promise<readonly ApiRecord[]>
  readonly findInitialToken: (id: InitialTokenId) => Promise<InitialTokenRecord | undefined>
  /** Newest first, with those that expired, were revoked or have no uses left. */
  readonly listInitialTokens: (page: Page<InitialTokenId>) => Promise<readonly InitialTokenRecord[]>
  readonly findAdminCredential: (id: AdminCredentialId) => Promise<AdminCredentialRecord | undefined>
  readonly listAdminCredentials: (page: Page<AdminCredentialId>) => Promise<readonly AdminCredentialRecord[]>
  /** The not-before time of the whole server (`revokeAllTokens`); 0 if it was never set. */
  readonly findNotBefore: () => Promise<EpochMs>
  /** The setting of `setPasswordFormats`. */
  readonly findPasswordFormats: () => Promise<string | undefined>
  /** The sets of `recordApplied`, in the order of their names. */
  readonly listAppliedSets: () => Promise<readonly { readonly set: string; readonly value: string }[]>
  /** What the processes counted, newest first. */
  readonly listFigures: (page: FigurePage) => Promise<readonly FigureRecord[]>
  readonly listAuditLinks: (page: AuditPage) => Promise<readonly AuditLinkRecord[]>
  /**
   * The id of the last row of a slice; undefined: no row follows. A search reads slice after slice, because no index finds
   * what it looks for, and one statement must not read a million rows.
   */
  readonly findListEnd: (slice: ListSlice) => Promise<string | undefined>
  /** The last link of each chain that started at or after `since`; newest chains first. */
  readonly listAuditHeads: (page: {
    readonly since: EpochMs
    readonly limit: number
  }) => Promise<readonly AuditLinkRecord[]>
  /** The links of a chain from a sequence on, oldest first. */
  readonly listChainLinks: (page: {
    readonly chainId: string
    readonly from: number
    readonly limit: number
  }) => Promise<readonly AuditLinkRecord[]>
  /** All providers, at most PROVIDER_LIMIT, in the order in which they were created. */
  readonly listProviders: () => Promise<readonly ProviderRecord[]>
  readonly findProvider: (id: ProviderId) => Promise<ProviderRecord | undefined>
  readonly findIdentity: (key: IdentityKey) => Promise<IdentityRecord | undefined>
  /** All identities of a user, in the order in which they were linked. */
  readonly listIdentities: (userId: UserId) => Promise<readonly IdentityRecord[]>
  /** What a provider said about a person who has to sign in to this account first. */
  readonly findIdentityProof: (userId: UserId) => Promise<IdentityProofRecord | undefined>
  /** The mark of a lease (`takeLease`); undefined: no node holds it. */
  readonly findLeaseMark: (name: string) => Promise<string | undefined>
  readonly findMasterKey: () => Promise<StoredMasterKey>
  /** What ends every server of the store. A server reads it every second. */
  readonly findServerEnd: () => Promise<ServerEnd>
  /** The eras of the store, and what it has of a link of the audit that a node remembers. */
  readonly findStorePlace: (linkId: string | undefined) => Promise<StorePlace>
  readonly listKeys: () => Promise<readonly KeyRecord[]>
  /** The issuer as which the server that started last uses the store; undefined: none has started yet. */
  readonly findIssuer: () => Promise<string | undefined>
  /** The mark of the backup whose restore is not complete; undefined: there is none. */
  readonly findPendingRestore: () => Promise<string | undefined>
  /** The algorithm that `noteServerAlgorithm` recorded last. */
  readonly findServerAlgorithm: () => Promise<SigningAlgorithm | undefined>
  /** What the node and the operator recorded about the clock (`noteClock`, `confirmClock`). */
  readonly findClockNotes: () => Promise<ClockNotes>
  /** The time of the snapshot in the last backup; undefined if none was made. */
  readonly findLastBackup: () => Promise<EpochMs | undefined>
  /** A round trip to the database. Returns the database's time, or undefined where it has no clock of its own. */
  readonly ping: () => Promise<EpochMs | undefined>
}

/**
 * Of all grants, or of a user or an organization. No index finds those of a client, because each redemption would write to it: they are
 * searched in slices.
 */
export type GrantFilter =
  | {
      readonly userId?: undefined
      readonly organizationId?: undefined
      readonly clientId?: undefined
      readonly from?: undefined
    }
  | (Reach<GrantId> & { readonly userId?: undefined; readonly organizationId?: undefined; readonly clientId: ClientId })
  | (GrantOwner & { readonly clientId?: ClientId | undefined; readonly from?: undefined })

export type GrantOwner =
  | { readonly userId: UserId; readonly organizationId?: OrganizationId | undefined }
  | { readonly userId?: undefined; readonly organizationId: OrganizationId }

export interface LiveGrants {
  readonly userId: UserId
  readonly clientId?: ClientId | undefined
  readonly redirectHost?: string | undefined
  readonly now: EpochMs
  readonly limit: number
}

export interface OpenCodes extends RevocationCutoff {
  readonly userId: UserId
  readonly limit: number
}

export interface DueNotices {
  readonly now: EpochMs
  readonly limit: number
  /** Notices to these clients are left out. */
  readonly except: readonly ClientId[]
}

export type DueMails = Pick<DueNotices, 'now' | 'limit'>

/** The most organizations that a user can belong to. */
export const MEMBERSHIP_LIMIT = MAXIMA.memberships.most

export interface Page<Id> {
  readonly before: Id | undefined
  readonly limit: number
}

/** How far a page of a list may go: rows from this one on, inclusive. */
export interface Reach<Id> {
  readonly from: Id
}

/** A page of the audit: `before` exclusive, recorded at or after `since`. `containing`: a part of the text of the events. */
export interface AuditPage extends Page<string>, Partial<Reach<string>> {
  readonly since: EpochMs
  readonly containing?: string | undefined
}

/** The lists that are searched. */
export type SearchedList = 'clients' | 'grants' | 'audit'

/** The next `size` rows of a list, `before` exclusive. */
export interface ListSlice {
  readonly list: SearchedList
  readonly before: string | undefined
  readonly size: number
}

/** The store that the use cases see: one method for each operation. Batches are not visible here. */
export type Store = Reads &
  WriteState & { readonly [Name in OperationName]: (input: Input<Name>) => Promise<Outcome<Name>> }

/** What commits have shown of the store (store/write-check.ts). */
export interface WriteState {
  /**
   * Checks whether the next commit can succeed: by a look, and after a commit that failed by a write.
   *
   * @throws StoreUnavailable, StoreRefusesWrites
   */
  readonly checkWrites: () => Promise<void>
  /** Whether a commit failed since the last write that is known to have succeeded. */
  readonly doubtsWrites: () => boolean
  /** The last time in which commits failed, as far as this node knows. What was committed then may have had no answer. */
  readonly lastOutage: () => Outage | undefined
}

/** A time in which commits failed, possibly with pauses. */
export interface Outage {
  readonly beganMsAgo: number
  /** 0: commits still fail. */
  readonly endedMsAgo: number
}

/** A server ends when the store gets another master key, and when it is closed. */
export interface ServerEnd {
  /** The check of the master key. */
  readonly masterKeyCheck: string | undefined
  /** The time at which the store was closed; undefined: it is open. */
  readonly closedAt: EpochMs | undefined
}

/** The sentence that every refused write of a closed store has. */
export const CLOSED_STORE =
  'This store was closed by "grantor export --final", because it moves to another place. To use it here again: grantor database reopen'

/** The store is busy, full or unreachable, or it is unknown whether it committed. Becomes a 503 response (decision 0005). */
export class StoreUnavailable extends Error {
  constructor(reason: string, cause?: unknown) {
    super(`The store is unavailable: ${reason}`, { cause })
    this.name = 'StoreUnavailable'
  }
}

/** The store can be read, but accepts no writes until an operator acts. */
export class StoreRefusesWrites extends StoreUnavailable {
  readonly fault: WriteFault

  constructor(fault: WriteFault, cause?: unknown) {
    super(fault, cause)
    this.message = WRITE_FAULT_TEXTS[fault]
    this.name = 'StoreRefusesWrites'
    this.fault = fault
  }
}

/** The store no longer accepts writes. */
export class StoreClosed extends StoreUnavailable {
  constructor(cause?: unknown) {
    super('it is closed', cause)
    this.message = CLOSED_STORE
    this.name = 'StoreClosed'
  }
}
