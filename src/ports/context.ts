import type { Bounds } from './operations/reach.ts'
import type { CopyFault } from '../protocol/token/refresh-rotation.ts'
import type { AccessRule, RuleId } from '../protocol/access/rule.ts'
import type { RedirectUriPolicy } from '../protocol/uri/redirect-uri.ts'
import type { EpochMs } from '../base/brand.ts'
import type { ClientPolicy, CopiesRule, DocumentMode, RegistrationMode } from '../protocol/client/policy.ts'
import type { GrantType } from '../protocol/token/grant-types.ts'
import type { ClientId, GrantId, OrganizationId, Random, SessionId, UserId } from '../protocol/ids.ts'
import type { EventName } from '../protocol/audit/event-names.ts'
import type { OutboundPolicy } from '../protocol/uri/outbound-url.ts'
import type { RecentlyUsed } from '../base/recently-used.ts'
import type { SingleFlight } from '../base/single-flight.ts'
import type { Resource } from '../protocol/token/resource.ts'
import type { Scope } from '../protocol/token/scope.ts'
import type { HashFormat } from '../protocol/sign-in/password-formats.ts'
import type { Secrets } from '../protocol/secrets.ts'
import type { ApiRecord } from './records/api.ts'
import type { Origin } from '../protocol/audit/origin.ts'
import type { AuditEvent } from './records/audit.ts'
import type { SigningAlgorithm } from './records/key.ts'
import type { ProviderRecord } from './records/provider.ts'
import type { ClientSignatures, ProofVerifier } from './client-signatures.ts'
import type { Budgets, SpentBucket } from './budgets.ts'
import type { ClientLookup } from './client-lookup.ts'
import type { PasskeyVerifier } from './passkeys.ts'
import type { Mailing } from './mail.ts'
import type { OutboundClient } from './outbound.ts'
import type { ProviderSignIn } from './provider-sign-in.ts'
import type { Store } from './store.ts'
import type { SigningKeys, TokenReader, TokenSigner } from './tokens.ts'

/** What the use cases depend on. Each of them declares the part that it uses. */
export interface Context {
  /** RFC 8414 §2, byte for byte as configured. */
  readonly issuer: string
  readonly version: string
  /**
   * The time for expiry checks. It never goes back: if the wall clock was set back, this clock continues as if it had not
   * been, so that an expired token does not become valid again.
   */
  readonly clock: () => EpochMs
  readonly clockCheck: ClockCheck
  readonly random: Random
  readonly secrets: Secrets
  readonly store: Store
  /**
   * The same store for an administrator, whom the audit names as the actor of each change: `command-line`, `library`, `server`, or the id of the
   * administrator's credentials. It changes only accounts within the bounds; undefined: all. A new store for each request is cheap: one closure for each operation.
   */
  readonly actingAs: (actor: string, bounds: Bounds | undefined) => Store
  /** The declared APIs, at most one second old. */
  readonly apis: () => Promise<readonly ApiRecord[]>
  /** The same for a document, which does not wait for a store that does not answer: then they are older. */
  readonly describedApis: () => Promise<readonly ApiRecord[]>
  /** What the operator decided about all clients, at most one second old. */
  readonly clientPolicy: () => Promise<ClientPolicy>
  /** The access rules of the server, at most one second old. `peek`: without a promise; undefined: they have to be read. */
  readonly accessRules: {
    readonly read: () => Promise<readonly AccessRule[]>
    readonly peek: () => readonly AccessRule[] | undefined
  }
  /** Counts what an access rule of the server took from an issued token, or would have. '': a rule of an organization. */
  readonly countLeftOut: (rule: RuleId | '', state: AccessRule['state']) => void
  /** The server's not-before time: all sessions and tokens from before are revoked. At most one second old. */
  readonly notBefore: () => Promise<EpochMs>
  readonly tokens: TokenSigner
  readonly tokenReader: TokenReader
  readonly keys: SigningKeys
  readonly clientSignatures: ClientSignatures
  readonly proofs: ProofVerifier
  readonly passwords: Passwords
  readonly passkeys: PasskeyVerifier
  readonly encryption: Encryption
  readonly outbound: OutboundClient
  /** undefined: no mail server is configured, and nothing is said of mail. */
  readonly mail: Mailing | undefined
  readonly providerSignIn: ProviderSignIn
  /** The providers at which users sign in, also disabled ones; at most one second old. */
  readonly providers: () => Promise<readonly ProviderRecord[]>
  /** Client metadata documents that are being fetched, by URL, so that concurrent requests for a client cause one fetch. */
  readonly documentLoads: SingleFlight<ClientLookup>
  /** How the last request for a stored document failed, by URL. Absent: it did not fail, or that is forgotten. */
  readonly documentFailures: RecentlyUsed<DocumentFailure>
  readonly budgets: Budgets
  /**
   * Sign-in buckets whose limit is reached, and until when this node refuses attempts without asking the store, so that a
   * flood of refused attempts causes no writes.
   */
  readonly spentBuckets: RecentlyUsed<SpentBucket>
  /** Public clients that this node registered or returned lately, by their dedupe key. */
  readonly sharedKeys: RecentlyUsed<true>
  readonly settings: Settings
  /** Logs an event (see `OutcomeEvent` for which of the four to take). Never a parameter or a token. */
  readonly record: (event: OutcomeEvent) => void
  /**
   * Logs an event and adds it to the audit: the first one at once, repetitions within a minute as a count. It contains only
   * ids and fixed texts, nothing of the request. `origin`: where the request came from, if the event names that. Repetitions are those of the same
   * event, whatever their origin.
   */
  readonly report: (event: AuditEvent, origin?: Origin) => void
  /**
   * Runs the work of a request of a person or an administrator. What it logs, reports and stores has the id of the request. Requests of
   * clients run without it: it costs half a microsecond, and the line of a token names its client and user.
   */
  readonly inRequest: <Result>(requestId: string, work: () => Result) => Result
  /** Runs the work of a request. All that it waits for in the store has one limit (docs/faults.md). */
  readonly inTime: <Result>(work: () => Promise<Result>) => Promise<Result>
  /** Records, some seconds later, that a browser has shown a page to the user of its session. */
  readonly sessionSeen: (id: SessionId, at: EpochMs) => void
  /** Counts an issued access token. The audit records the counts once a minute. */
  readonly issued: (clientId: ClientId, grantType: GrantType) => void
  /**
   * Whether the store lacks what this node remembers of it, so that it may have been restored by other means than `grantor restore`.
   * Until the operator has answered, nothing is served, not even keys: the store may have one that was withdrawn.
   */
  readonly hasStoreGoneBack: () => boolean
  /**
   * Whether the store is surely no copy of another one: as far as this node knows, it was never restored or imported. A copy has the
   * passkeys of its original, and browsers do not tell the two apart on one host.
   */
  readonly isOriginalStore: () => boolean
  /**
   * Whether the process is shutting down. It then still serves requests, but reports that it is not ready and closes each
   * connection after its response.
   */
  readonly isStopping: () => boolean
  /** Whether another program has the port of the administration. Its address is then not that of the console. */
  readonly isAdminTaken: () => boolean
}

/** The host gave no answer, or one after which the stored document does not serve. */
export interface DocumentFailure {
  readonly kind: 'unreachable' | 'unacceptable'
  readonly at: EpochMs
}

/** The part of a context that has these members of the store. */
export type StoreNeeds<Name extends keyof Context['store']> = { readonly store: Pick<Context['store'], Name> }

/**
 * Compares this node's clock with the database's. Where the database has no clock of its own, it is compared with the
 * monotonic clock since the last agreement (docs/decisions/0012-a-clock-that-differs.md).
 */
export interface ClockCheck {
  /**
   * The time for what is issued, and for what is valid from now on.
   *
   * @throws OAuthError temporarily_unavailable while the clock differs
   */
  readonly now: () => EpochMs
  /** The wall clock, unchecked: for an operator, who checks it. */
  readonly wall: () => EpochMs
  /** The database's time; undefined if it has no clock of its own. */
  readonly databaseNow: () => Promise<EpochMs | undefined>
  /** How far the clock is ahead; 0 if it agrees. */
  readonly differenceMs: () => number
  /** Rows that ended before this time may be deleted. undefined: nothing may be deleted, because the clock differs. */
  readonly deletionTime: () => EpochMs | undefined
  /** Compares the clock now. Rejects if the store is unavailable. */
  readonly compare: () => Promise<void>
}

/** Settings of the operator that change how the protocol behaves. */
export interface Settings {
  readonly lifetimes: Lifetimes
  /** The grant types that clients can register and use. Others are known, but not offered (protocol/token/grant-types.ts). */
  readonly grantTypes: readonly GrantType[]
  /** Who may register a client. Clients that are registered stay usable, and manage themselves, in any mode. */
  readonly registration: RegistrationMode
  /** How many clients that never got a token are kept. Beyond it, the oldest are removed before their time. */
  readonly unusedClients: number
  /** Which clients with a metadata document are accepted, apart from those that are stored. */
  readonly clientDocuments: DocumentMode
  /** What redirect URIs are checked against. */
  readonly redirects: RedirectUriPolicy
  /**
   * The issuer is a loopback address. As long as no API is declared, any scope and resource can be requested (decision
   * 0006).
   */
  readonly isLoopbackIssuer: boolean
  /** The origin at which browsers reach the administration, and so the console; undefined: there is no console. */
  readonly consoleUrl: string | undefined
  /** Where the server may send requests of its own. */
  readonly outbound: OutboundPolicy & {
    /** Whether it may send any. */
    readonly isOn: boolean
  }
  /** Refused authorization requests of unverified clients are returned by redirect, too (decision 0022). */
  readonly redirectErrors: boolean
  /** The log line of a page, and of each refusal, has the network of the caller. */
  readonly logNetworks: boolean
  /** Whether users can have passwords and sign in with them. */
  readonly passwords: 'on' | 'off'
  /** Whether each sign-in needs two factors. `optional`: only that of a user who has an authenticator app. */
  readonly secondFactor: 'optional' | 'required'
  /** What the earlier refresh tokens of clients get that have no rule of their own (`ownCopiesOf`). */
  readonly refreshCopies: CopiesRule
  /** The name of the server on its pages. */
  readonly serverName: string
  /** The operator's application that signs users in. undefined: this server does. */
  readonly delegate: DelegateSettings | undefined
  /** Seconds for which each signing key signs; 0: no automatic rotation. */
  readonly keyRotation: number
  /** The algorithm for APIs that require no other. */
  readonly signingAlgorithm: SigningAlgorithm
  /** Seconds for which links of the audit are kept; 0: forever. */
  readonly auditRetention: number
}

/** The operator's own application, to which sign-in is delegated. */
export interface DelegateSettings {
  /** The page to which browsers are redirected, with the query parameter `interaction`. */
  readonly url: string
  /** Where browsers are redirected after signing out here. undefined: nowhere. */
  readonly signOutUrl: string | undefined
  /** `everything`: the application asks for the consent, too. */
  readonly mode: 'sign-in' | 'everything'
}

/** All in seconds. */
export interface Lifetimes {
  readonly code: number
  readonly accessToken: number
  readonly idToken: number
  readonly refreshIdle: number
  readonly refreshAbsolute: number
  readonly refreshRetry: number
  /** How long after its issue an earlier refresh token gets the newest one. */
  readonly refreshEarlier: number
  readonly session: number
  /** The time that a user has from the first page to the last. */
  readonly authorization: number
  /** Within it a browser begins with a pushed request. */
  readonly pushed: number
  readonly unusedClient: number
  /** For clients that registered themselves and got tokens; 0: without limit. */
  readonly idleClient: number
}

/** Encrypts what the server must read again, under the master key. `name` says what it is and whose: under another name it cannot be read. */
export interface Encryption {
  readonly encrypt: (name: string, plain: Uint8Array) => string
  /** undefined: the text was encrypted under another name or another master key, or was changed. */
  readonly decrypt: (name: string, text: string) => Buffer | undefined
}

/** Hashes passwords with argon2id, and verifies them against these hashes and those of other systems, in other threads, a few at a time. */
export interface Passwords {
  /** Whether a text in lower case is one of the 10,000 most common passwords of at least 8 characters. */
  readonly isCommon: (text: string) => boolean
  /**
   * Returns a PHC string. Throws OAuthError temporarily_unavailable if too many passwords are waiting. `network`: of the caller; undefined:
   * the operator.
   */
  readonly hash: (password: string, network: string | undefined) => Promise<string>
  /**
   * Takes equally long for `undefined` as for a hash of this server, so that the response time does not reveal which emails have an
   * account. A text that cannot be read matches no password. Throws as `hash` does.
   */
  readonly verify: (
    password: string,
    stored: string | undefined,
    network: string | undefined,
  ) => Promise<VerifiedPassword>
}

export interface VerifiedPassword {
  readonly isRight: boolean
  /**
   * The format of a hash that one of this server can replace now: another system has made it, or its costs are others, and the password
   * is right and was compared completely.
   */
  readonly replaceable: HashFormat | undefined
  /**
   * Waits until a failed sign-in may be answered, so that the time does not reveal of which format the hash is. Returns at once while no
   * hashes of other systems are stored.
   */
  readonly settled: () => Promise<void>
}

/**
 * What happened, for the log. `reason` is one of docs/errors.md.
 *
 * There are four ways to say that something happened. The first two belong together: most requests that change something use
 * both.
 *
 * - **The audit event of a store operation** is in the row of the operation in store/nouns/. It is committed together
 *   with the operation, so that it is never lost.
 * - **`Reply.event`** is the outcome of a request: the one line that the log has for it, and the label `outcome` of
 *   `grantor_requests_total`.
 * - **`Context.report`** is for an event of the audit without an operation, such as the use of another client's code. It is
 *   logged too. Repetitions within a minute are counted, so that refusals cannot fill the store.
 * - **`Context.record`** is for the log alone: an event in the middle of a request, before the outcome of the request.
 *
 * `Store.recordEvent` is the operation that `report` writes with. Only the audit recorder calls it.
 */
export interface OutcomeEvent {
  readonly event: EventName
  readonly client?: ClientId | undefined
  /** The URL of a client metadata document, as `describeUri` returns it. */
  readonly document?: string | undefined
  /** The `jwks_uri` of the client, as `describeUri` returns it. */
  readonly uri?: string | undefined
  readonly reason?: string | undefined
  /** For a refusal: the response's `error_description`, if it says more than the reason. */
  readonly description?: string | undefined
  /** A refused redirect URI, as `describeSentUri` returns it. */
  readonly redirectUri?: string | undefined
  /** Whose token was issued, or whom the request is about. Never what a person typed. */
  readonly user?: UserId | undefined
  readonly organization?: OrganizationId | undefined
  readonly grant?: GrantId | undefined
  readonly scope?: Scope | undefined
  /** As they were declared; one that is not declared, as `describeUri` returns it. */
  readonly resources?: readonly string[] | undefined
  /** The token is bound to a key (RFC 9449). Absent: a bearer token. */
  readonly bound?: true | undefined
  /** By how many generations the presented refresh token was older than the newest one, which the client got. Absent: that was no such case. */
  readonly earlier?: number | undefined
  /** The generation of a presented refresh token. */
  readonly generation?: number | undefined
  /** Why a copy of a refresh token got nothing. */
  readonly why?: CopyFault | undefined
  /** The API that introspected a token (undefined: a client did), or exchanged one. */
  readonly api?: Resource | undefined
  /** The access rule that took something, or would have. */
  readonly rule?: RuleId | undefined
  /** The scope that access rules left out of an issued token. Absent: none. */
  readonly leftOut?: Scope | undefined
  /** For an introspection: the `active` of the response. */
  readonly active?: boolean | undefined
}
