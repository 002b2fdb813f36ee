import type { AccessTokenClaims, AccessTokenFacts } from '../protocol/access-token.ts'
import type { AppRedirects } from '../protocol/app-redirect.ts'
import type { EpochMs } from '../protocol/brand.ts'
import type { GrantType } from '../protocol/client-metadata.ts'
import type { ClientId, GrantId, OrganizationId, Random, UserId } from '../protocol/ids.ts'
import type { RecentlyUsed } from '../protocol/recently-used.ts'
import type { Resource } from '../protocol/resource.ts'
import type { Scope } from '../protocol/scope.ts'
import type { Secrets } from '../protocol/secrets.ts'
import type { ApiRecord, JwtType } from './records/api.ts'
import type { AuditEvent } from './records/audit.ts'
import type { KeyRecord, SigningAlgorithm } from './records/key.ts'
import type { Store } from './store.ts'

/** What the use-cases need from the world. Each declares the part that it touches. */
export interface Context {
  /** RFC 8414 §2, byte for byte as configured. */
  readonly issuer: string
  readonly version: string
  /**
   * For what ends by time, whatever the clock is worth: of a clock that was set back, what would have been the time without
   * that, so that nothing that expired becomes valid again.
   */
  readonly clock: () => EpochMs
  readonly clockCheck: ClockCheck
  readonly random: Random
  readonly secrets: Secrets
  readonly store: Store
  /**
   * The same store for an administrator, whom the audit names with every change: `command-line`, or the id of the
   * credentials. As cheap as a closure a name, so a store is made for each request.
   */
  readonly actingAs: (actor: string) => Store
  /** The declared APIs, at most a second old. */
  readonly apis: () => Promise<readonly ApiRecord[]>
  /** Sessions and tokens from before this moment are dead, whoever has them; at most a second old. */
  readonly notBefore: () => Promise<EpochMs>
  readonly tokens: TokenSigner
  readonly tokenReader: TokenReader
  readonly keys: SigningKeys
  readonly passwords: Passwords
  readonly budgets: Budgets
  /**
   * Buckets of sign-in attempts that the store said are spent, and until when this node does not ask again: what is refused
   * again and again is not written again and again.
   */
  readonly spentBuckets: RecentlyUsed<SpentBucket>
  readonly settings: Settings
  /** Something that happened on the way to an outcome and that an operator wants to know. Never a parameter or a token. */
  readonly record: (event: OutcomeEvent) => void
  /** The same, and for the audit: once at once, and how often again within the minute. Ids and words of ours only. */
  readonly report: (event: AuditEvent) => void
  /** Counts an access token that was issued; the audit says a minute later how many there were. */
  readonly issued: (clientId: ClientId, grantType: GrantType) => void
  /** Once true, the process will end soon: it serves what comes, but is not ready, and every answer closes its connection. */
  readonly isStopping: () => boolean
}

/**
 * Whether the clock of this node agrees with the database's, or, where the database has none, with the monotonic clock since
 * it last agreed (docs/decisions/0012-a-clock-that-differs.md).
 */
export interface ClockCheck {
  /**
   * For what is issued, and for what is valid from now on.
   *
   * @throws OAuthError temporarily_unavailable while the clock differs
   */
  readonly now: () => EpochMs
  /** The wall clock, whatever it is worth: for an operator, who judges it. */
  readonly wall: () => EpochMs
  /** What time it is at the database; undefined: it has no clock of its own. */
  readonly databaseNow: () => Promise<EpochMs | undefined>
  /** How far the clock is ahead; 0: it agrees. */
  readonly differenceMs: () => number
  /** What ended before this moment may be deleted; undefined: nothing may, because the clock differs. */
  readonly deletionMoment: () => EpochMs | undefined
  /** Compares the clock now. Rejects when the store is away. */
  readonly compare: () => Promise<void>
}

/** OrganizationChoices of the operator that reach into the protocol. */
export interface Settings {
  readonly lifetimes: Lifetimes
  /** Which private-use redirect URIs are allowed although their scheme has no dot. */
  readonly redirectApps: AppRedirects
  /** The issuer is a loopback address: without a declared API any scope and resource may be asked for (decisions.md D6). */
  readonly isLoopbackIssuer: boolean
  /** Refused authorization requests of unverified clients go back by redirect as well (decisions.md D8). */
  readonly redirectErrors: boolean
  /** Seconds that each signing key signs; 0: they do not rotate by themselves. */
  readonly keyRotation: number
  /** What signs the tokens of APIs that ask for no other algorithm. */
  readonly signingAlgorithm: SigningAlgorithm
  /** Seconds that links of the audit are kept; 0: for ever. */
  readonly auditRetention: number
}

/** All in seconds. */
export interface Lifetimes {
  readonly code: number
  readonly accessToken: number
  readonly refreshIdle: number
  readonly refreshAbsolute: number
  readonly refreshRetry: number
  readonly session: number
  /** How long a person may take between the first page and the last. */
  readonly authorization: number
  readonly unusedClient: number
}

/** Signs JWTs in bursts: one at the end of the turn for everything that was asked in it. */
export interface TokenSigner {
  /**
   * A compact JWS over the claims, with this `typ`. By the server's own algorithm where none is named, and while the first
   * key of the one that is named waits for its turn.
   *
   * It signs access tokens alone. A JWT of another kind, such as an ID token, needs keys of its own, because `typ` does not
   * tell it from an access token of an API that takes `typ: JWT` (RFC 8725 §3.12).
   */
  readonly sign: (
    claims: AccessTokenClaims,
    algorithm: SigningAlgorithm | undefined,
    jwtType: JwtType,
  ) => Promise<string>
}

/** The keys that access tokens are signed with, at most two seconds old, or as they were last known when the store is away. */
export interface SigningKeys {
  /** All that verifiers need: those that sign later, and those that signed what is still valid. RFC 7517 §5. */
  readonly published: () => Promise<readonly object[]>
  /** A new one, not stored yet. */
  readonly create: (plan: Pick<KeyRecord, 'algorithm' | 'createdAt' | 'activeFrom'>) => Promise<KeyRecord>
}

/** Reads access tokens that this server signed. */
export interface TokenReader {
  /** undefined: not signed by us. Whether it is still good is for the store to say. */
  readonly read: (token: string) => Promise<AccessTokenFacts | undefined>
}

/** argon2id, off the main thread, a few at a time. */
export interface Passwords {
  /** A PHC string. Throws OAuthError temporarily_unavailable when too many are waiting. */
  readonly hash: (password: string) => Promise<string>
  /** Takes as long for `undefined` as for a hash, so that an answer's time does not tell who has an account. */
  readonly verify: (password: string, phc: string | undefined) => Promise<boolean>
}

/** Budgets by network. With several nodes they are kept together, a second late (decisions.md D7). */
export interface Budgets {
  readonly take: (budget: BudgetName, network: string, now: EpochMs) => BudgetOutcome
}

export type BudgetName =
  | 'registration'
  | 'client-authentication'
  | 'authorization'
  /** Attempts to sign in that are counted in the store. */
  | 'sign-in'
  /** Opaque tokens that a client gets without a person. */
  | 'stored-token'
  /** Tokens that a client revokes one by one. */
  | 'revoked-token'
  /** Revocations of single tokens that the audit records one by one. Beyond it they are counted. */
  | 'recorded-revocation'

/** A count of attempts that has reached its limit. */
export interface SpentBucket {
  readonly askAgainAt: EpochMs
  readonly windowEndsAt: EpochMs
}

export interface BudgetOutcome {
  readonly isWithin: boolean
  readonly limit: number
  readonly remaining: number
  /** Seconds until the budget is whole again. */
  readonly resetSeconds: number
}

/** What happened, for the log. `reason` is a slug of docs/errors.md. */
export interface OutcomeEvent {
  readonly event: string
  readonly client?: ClientId | undefined
  readonly reason?: string | undefined
  /** Of a refusal, where it says more than the reason: the answer's `error_description`. */
  readonly description?: string | undefined
  /** Of a token that was issued. */
  readonly user?: UserId | undefined
  readonly organization?: OrganizationId | undefined
  readonly grant?: GrantId | undefined
  readonly scope?: Scope | undefined
  readonly resources?: readonly Resource[] | undefined
  /** Of an introspection: the API that asked, undefined where a client did, and what it was told. */
  readonly api?: Resource | undefined
  readonly active?: boolean | undefined
}
