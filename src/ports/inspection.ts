import type { EpochMs } from '../base/brand.ts'
import type { KnownTime } from '../base/clock.ts'
import type { DomainRule } from '../protocol/client/domain-rule.ts'
import type { GroupId } from '../protocol/access/group.ts'
import type { AccessRuleRecord } from '../protocol/access/rule.ts'
import type { KeyId, OrganizationId, UserId } from '../protocol/ids.ts'
import type { StorePlace } from '../base/store-place.ts'
import type { ApiRecord } from './records/api.ts'
import type { ClientRecord } from './records/client.ts'
import type { GrantRecord } from './records/grant.ts'
import type { ProviderRecord } from './records/provider.ts'
import type { RoleRecord } from './records/role.ts'
import type { KeyPurpose, SigningAlgorithm, StoredMasterKey } from './records/key.ts'

/** The result of inspecting the database. The inspection changes nothing. */
export type DatabaseInspection =
  | { readonly kind: 'missing' }
  /** The database cannot be opened or is not safe to use. The reason says what to do. */
  | { readonly kind: 'unusable'; readonly reason: string }
  | ({ readonly kind: 'opened' } & DatabaseFacts)

export interface DatabaseFacts {
  readonly appliedMigrations: readonly number[]
  /** As `0002-name`. This release would apply them. */
  readonly missingMigrations: readonly string[]
  /** Applied by a newer release. */
  readonly unknownMigrations: readonly number[]
  readonly home: FileFacts | ServerFacts
  /** The time of the newest row or, in a file, the time that a server recorded last; undefined in an empty database. */
  readonly time: KnownTime | undefined
  /** The identifiers of the declared APIs. */
  readonly apis: readonly string[]
  /** The issuer as which the server that started last uses the store; undefined: none has started yet. */
  readonly issuer: string | undefined
  readonly masterKey: StoredMasterKey
  /** The time of the last backup; undefined if there was none. */
  readonly backedUpAt: EpochMs | undefined
  /** The time at which "grantor export --final" closed the store; undefined: it is open. */
  readonly closedAt: EpochMs | undefined
  readonly place: StorePlace
}

/** Facts that only a database in a file has. */
export interface FileFacts {
  readonly kind: 'file'
  readonly freeBytes: number
  /** The length of the write-ahead log. */
  readonly logBytes: number
  /** Problems that SQLite finds in the whole file; empty if there is none, undefined if it was not read (`grantor doctor --deep`). */
  readonly damage?: readonly string[]
}

/** Facts that only a database on a server has. */
export interface ServerFacts {
  readonly kind: 'server'
  readonly version: string
  /** The database role of this node. */
  readonly role: string
  /** The connection crosses a network without encryption. */
  readonly isExposed: boolean
  /** How far the database's clock is ahead of this node's, at least; negative if it is behind. */
  readonly clockAheadMs: number
  readonly connections: { readonly used: number; readonly limit: number }
  /** Settings of the connection that differ from what this node requested. */
  readonly changedSettings: readonly { readonly name: string; readonly value: string; readonly wanted: string }[]
  /** A pooler gives one session to several connections in turn, with the prepared statements of the others. */
  readonly sharesPreparedStatements: boolean
  /** The tables as Citus distributes them; undefined if it does not. */
  readonly cluster: ClusterFacts | undefined
  /** Settings of the server that are off although a crash then loses committed transactions. */
  readonly unsafeSettings: readonly string[]
}

/** The machines and tables of a database that Citus distributes. */
export interface ClusterFacts {
  /** How many machines hold shards. */
  readonly machines: number
  /** Tables that are stored otherwise than this release expects, with the column by which each should be distributed. */
  readonly misplaced: readonly { readonly table: string; readonly by: string; readonly wanted: string }[]
  /** Machines on which some transactions over several machines fail. */
  readonly withFewPreparedTransactions: readonly string[]
}

/**
 * Whether the root secret decrypts the master key of the database. `matches-previous`: the previous root secret does.
 * `matches-alone`: the root secret does, although a previous one is configured, which is no longer needed.
 */
export type SecretInspection =
  | { readonly kind: 'matches' | 'matches-previous' | 'matches-alone' | 'differs' | 'missing' | 'unused' }
  | { readonly kind: 'unusable'; readonly reason: string }

/** A signing key, and whether its private part can be decrypted and matches the published public part. */
export interface KeyInspection {
  readonly id: KeyId
  readonly purpose: KeyPurpose
  readonly algorithm: SigningAlgorithm
  readonly activeFrom: EpochMs
  readonly state: 'valid' | 'undecryptable' | 'mismatched'
}

/** How many clients registered in a window of time. */
export interface RegistrationCount {
  readonly count: number
  readonly windowEndsAt: EpochMs
}

/** A role, and whether its account has a second factor of its own. */
export interface RoleInspection extends Pick<RoleRecord, 'access' | 'isLoopbackOnly'> {
  /** The e-mail address, or the id. */
  readonly user: string
  readonly hasSecondFactor: boolean
}

/** An account that its address does not find, because it is stored in a spelling from before. */
export interface SpellingInspection {
  readonly userId: UserId
  readonly email: string
  /** The account that has the same address as it is stored now. undefined: the text is not an address. */
  readonly otherId: UserId | undefined
}

/** An access rule of the server, or of an organization. */
export interface InspectedRule {
  readonly rule: AccessRuleRecord
  readonly organizationId: OrganizationId | undefined
}

/** The access rules, and what of that they name is gone. */
export interface AccessInspection {
  /** Of the server, and of the newest organizations. */
  readonly rules: readonly InspectedRule[]
  /** The groups that they name and that have no members. */
  readonly emptyGroups: readonly GroupId[]
  /** Their terms whose client, group, organization or user does not exist. */
  readonly gone: ReadonlySet<string>
}

/** What the doctor needs to find clients that would not be accepted again, a flood of registrations, and users who cannot sign in. */
export interface ClientInspection {
  /** The clients that came in last. */
  readonly newest: readonly ClientRecord[]
  /** The grants that were opened last. */
  readonly grants: readonly GrantRecord[]
  readonly domains: readonly DomainRule[]
  /** Newest first. */
  readonly registrations: readonly RegistrationCount[]
  /** When the credentials of the operator's application expire. undefined: there are none, or they were revoked. */
  readonly delegateUntil: EpochMs | undefined
  /** The providers at which users sign in. */
  readonly providers: readonly ProviderRecord[]
  /** The newest clients that read groups. */
  readonly groupReaders: readonly ClientRecord[]
  /** The first groups of the server, one more than a token may have. */
  readonly serverGroups: readonly GroupId[]
  /** The groups that providers, APIs and these clients name, and that do not exist. */
  readonly missingGroups: readonly GroupId[]
  readonly access: AccessInspection
  /** The clients that the providers list for their assertions, and that of the console, if they exist. */
  readonly listed: readonly ClientRecord[]
  readonly apis: readonly ApiRecord[]
  /** The newest users with a role for the console. */
  readonly roles: readonly RoleInspection[]
  /** When the client of the console was disabled, so that no user can enter. undefined: it is not disabled. */
  readonly consoleDisabledAt: EpochMs | undefined
  /** The setting of `setPasswordFormats`. */
  readonly passwordFormats: string | undefined
  /** When the next mail is due, or was. undefined: no mail waits. */
  readonly mailDueAt: EpochMs | undefined
  /** The users who have the id of a client. */
  readonly usersWithClientId: readonly UserId[]
  readonly spellings: readonly SpellingInspection[]
  /** The clients with the hash of a secret that another system made, by `client_id`. */
  readonly importedHashes: readonly { readonly clientId: string; readonly isUsed: boolean }[]
}

export interface StoreInspection {
  readonly location: string
  readonly secretLocation: string
  readonly previousSecretLocation: string
  readonly database: DatabaseInspection
  readonly secret: SecretInspection
  readonly keys: readonly KeyInspection[]
  /** undefined: the database cannot be used, or has the schema of another release. */
  readonly clients: ClientInspection | undefined
  /** undefined: no server of this release has used the store. */
  readonly history: HistoryInspection | undefined
}

/**
 * Whether the store has what this machine remembers of it. `unconfirmed`: the machine remembered nothing when a server started, and the
 * operator has not said since whether the store had been restored. `no-file`: the machine remembers nothing beyond a process.
 */
export type HistoryInspection =
  | { readonly kind: 'remembered' | 'unconfirmed'; readonly path: string }
  /** `path`: the file of this machine. undefined: another process noticed it. */
  | { readonly kind: 'went-back'; readonly path: string | undefined }
  | { readonly kind: 'no-file' }

/** The response from the issuer's metadata address (RFC 8414 §3). */
export type IssuerProbe =
  | {
      readonly kind: 'unreachable'
      readonly address: string
      readonly reason: string
      /** The error code of OpenSSL or Node.js when the certificate was refused, such as `CERT_HAS_EXPIRED`. */
      readonly certificateError: string | undefined
    }
  | {
      readonly kind: 'no-metadata'
      readonly address: string
      readonly status: number
      /** The `error` of the answer, as OAuth has it. */
      readonly error: unknown
    }
  | {
      readonly kind: 'answered'
      readonly address: string
      /** The metadata's `issuer`, byte for byte. */
      readonly issuer: string
      /** The ids of the published keys; undefined if they could not be fetched. */
      readonly keyIds: readonly string[] | undefined
      /** The time of the server, or of the proxy in front of it. */
      readonly time: EpochMs | undefined
      /** When the certificate of the address expires; undefined without TLS. */
      readonly certificateEndsAt: EpochMs | undefined
    }

/** What the server on this machine answers at /health/ready. */
export type ReadinessProbe =
  | { readonly kind: 'ready'; readonly address: string }
  | {
      readonly kind: 'not-ready'
      readonly address: string
      /** 503, unless another program answered. */
      readonly status: number
      /** Such as `disk_full`; undefined if the answer has none. */
      readonly reason: string | undefined
      readonly message: string
    }
  | { readonly kind: 'unreachable'; readonly address: string; readonly message: string }

/** How an API responds to a client that has no token yet. RFC 9728 §5. */
export interface ResourceProbe {
  /** The address that clients connect to, as the operator wrote it. */
  readonly url: string
  /** The response to a request without a token. */
  readonly withoutToken: ProbedAnswer
  /** The response to a request with a token that no server issued. */
  readonly withFalseToken: ProbedAnswer
  readonly document: ProbedDocument
  /**
   * The API that the issuer declares for this address or for the document's `resource`. `no-issuer`: no server responds at
   * the issuer's address.
   */
  readonly declared: DeclaredResource | 'undeclared' | 'unknown' | 'no-issuer'
}

/** The response to one request, or why there was none. */
export type ProbedAnswer =
  | { readonly kind: 'unreachable'; readonly reason: string }
  | {
      readonly kind: 'answered'
      readonly status: number
      /** The `WWW-Authenticate` header. */
      readonly challenge: string | undefined
    }

/** The protected resource metadata that an API serves. RFC 9728 §2. */
export type ProbedDocument =
  | { readonly kind: 'none'; readonly address: string; readonly reason: string }
  | {
      readonly kind: 'found'
      readonly address: string
      /** The members that are checked, byte for byte; undefined if a member is absent or has another type. */
      readonly resource: string | undefined
      readonly authorizationServers: readonly string[] | undefined
      readonly scopes: readonly string[] | undefined
      /** `dpop_bound_access_tokens_required`. RFC 9728 §2. */
      readonly requiresDpop: boolean
    }

/** An API as its issuer's metadata describes it. */
export interface DeclaredResource {
  readonly resource: string
  /** The scopes that any client can request. */
  readonly scopes: readonly string[]
  /** Its tokens are always bound to a key. RFC 9449. */
  readonly requiresDpop: boolean
}
