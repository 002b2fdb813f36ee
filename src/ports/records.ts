import type { EpochMs, EpochSeconds } from '../protocol/brand.ts'
import type { ClientMetadata } from '../protocol/client-metadata.ts'
import type { AccessTokenFacts } from '../protocol/access-token.ts'
import type {
  AuthorizationId,
  ClientId,
  GrantId,
  OpaqueTokenId,
  OrganizationId,
  SessionId,
  UserId,
} from '../protocol/ids.ts'
import type { CodeChallenge } from '../protocol/pkce.ts'
import type { RedirectUri } from '../protocol/redirect-uri.ts'
import type { Resource } from '../protocol/resource.ts'
import type { Scope } from '../protocol/scope.ts'
import type { SecretHash } from '../protocol/secrets.ts'

/** A registered client. RFC 7591 §3.2.1. */
export interface ClientRecord {
  readonly id: ClientId
  readonly issuedAt: EpochSeconds
  /** undefined for a public client. */
  readonly secretHash: SecretHash | undefined
  /** Of the secret before, which works beside the one that replaced it for a while. */
  readonly previousSecret: { readonly hash: SecretHash; readonly until: EpochMs } | undefined
  /** Of its registration access token (RFC 7592 §3); undefined where nobody may manage it but the operator. */
  readonly managementHash: SecretHash | undefined
  /** A digest of a public client's metadata: who registers the same gets this client (decisions.md D7). */
  readonly dedupeKey: string | undefined
  readonly metadata: ClientMetadata
  /** When it first got a token; until then it may be swept (decisions.md D7). */
  readonly usedAt: EpochMs | undefined
  readonly verifiedAt: EpochMs | undefined
  readonly disabledAt: EpochMs | undefined
  /** When its name or a redirect host changed last: whoever consented before knew another client. */
  readonly identityFrom: EpochMs | undefined
  /** Scopes that the operator approved it for (decisions.md D6). */
  readonly approvedScope: Scope
  /** Its tokens from before this moment are dead. */
  readonly notBefore: EpochMs | undefined
  /** When it last got a token, to the minute; undefined: never, or before this was written down. */
  readonly lastUsedAt: EpochMs | undefined
}

/** A person with an account here. */
export interface UserRecord {
  readonly id: UserId
  /** Lower-cased; unique. */
  readonly email: string
  readonly name: string | undefined
  /** A PHC string. */
  readonly passwordHash: string
  readonly createdAt: EpochMs
  readonly disabledAt: EpochMs | undefined
  /** Sessions and grants from before this moment are dead: the password changed, or the user was disabled. */
  readonly notBefore: EpochMs
}

/** What users belong to and clients are installed for (decisions.md D4). */
export interface OrganizationRecord {
  readonly id: OrganizationId
  readonly name: string
  readonly createdAt: EpochMs
  readonly disabledAt: EpochMs | undefined
  /** Tokens and consents for it from before this moment are dead. */
  readonly notBefore: EpochMs
}

/** That a user belongs to an organization. */
export interface MembershipRecord {
  readonly userId: UserId
  readonly organizationId: OrganizationId
  readonly createdAt: EpochMs
  readonly disabledAt: EpochMs | undefined
  /** The user's tokens and consents for the organization from before this moment are dead. */
  readonly notBefore: EpochMs
}

/** That an organization allowed a client to act for it without a person (decisions.md D4). */
export interface InstallationRecord {
  readonly clientId: ClientId
  readonly organizationId: OrganizationId
  /** At most this. */
  readonly scope: Scope
  /** It may also act for members of the organization. */
  readonly actsForMembers: boolean
  readonly createdAt: EpochMs
  readonly disabledAt: EpochMs | undefined
  /** Tokens that it got for the organization before this moment are dead. */
  readonly notBefore: EpochMs
}

/** A person's browser that is signed in. */
export interface SessionRecord {
  readonly id: SessionId
  readonly hash: SecretHash
  readonly userId: UserId
  readonly createdAt: EpochMs
  readonly expiresAt: EpochMs
}

/** An authorization request that passed both phases of trust and now waits for the person, or for its code to be spent. */
export interface AuthorizationRecord {
  readonly id: AuthorizationId
  readonly clientId: ClientId
  /** Binds it to the browser that started it (threats.md AUTH-21). */
  readonly browserHash: SecretHash
  readonly redirectUri: RedirectUri
  readonly state: string | undefined
  readonly codeChallenge: CodeChallenge
  readonly scope: Scope
  /** What the client requested and did not get; a refresh that repeats it is not refused for it. */
  readonly ungrantedScope: Scope
  readonly resources: readonly Resource[]
  /** The person must type the password again, whatever session there is. */
  readonly mustSignIn: boolean
  /** The person is asked even where a consent is remembered. */
  readonly mustConsent: boolean
  readonly loginHint: string | undefined
  /** The organization that the client asks for; undefined: the person chooses (decisions.md D4). */
  readonly organizationId: OrganizationId | undefined
  readonly createdAt: EpochMs
  /** Until then the person may answer; once approved, until then the code may be spent. */
  readonly expiresAt: EpochMs
  readonly status: AuthorizationStatus
}

export type AuthorizationStatus =
  | { readonly kind: 'pending' }
  | { readonly kind: 'denied' }
  | (ApprovalRecord & { readonly kind: 'approved' })
  | (ApprovalRecord & { readonly kind: 'redeemed'; readonly grantId: GrantId })
  /** A wrong verifier was tried (threats.md CODE-07). */
  | { readonly kind: 'burned'; readonly codeHash: SecretHash }

/** Who allowed it, when, and for which organization. */
export interface ApprovalRecord {
  readonly userId: UserId
  readonly organizationId: OrganizationId | undefined
  readonly codeHash: SecretHash
  readonly approvedAt: EpochMs
}

/** What a person allowed one client once. Its refresh tokens are one family in this one row (decisions.md D5). */
export interface GrantRecord {
  readonly id: GrantId
  readonly clientId: ClientId
  readonly userId: UserId
  readonly organizationId: OrganizationId | undefined
  readonly scope: Scope
  /** What the client requested at the start and did not get (RFC 6749 §6). */
  readonly ungrantedScope: Scope
  readonly resources: readonly Resource[]
  readonly createdAt: EpochMs
  /** No token of this grant lives longer, however often it is refreshed. */
  readonly expiresAt: EpochMs
  readonly revokedAt: EpochMs | undefined
  /** undefined: the client is not registered for refresh tokens. */
  readonly family: FamilyRecord | undefined
}

export interface FamilyRecord {
  /** Of the live token. */
  readonly generation: number
  readonly liveHash: SecretHash
  readonly previousHash: SecretHash | undefined
  /** When the live token was made. */
  readonly rotatedAt: EpochMs
  /** The live token dies unused at this moment. */
  readonly idleExpiresAt: EpochMs
}

/** A remembered consent. Its key is everything but the scope (decisions.md D8). */
export interface ConsentKey {
  readonly userId: UserId
  readonly clientId: ClientId
  readonly organizationId: OrganizationId | undefined
  readonly redirectHost: string
  /** As `resourcesKey` writes them. */
  readonly resources: string
  /** A consent from before this moment counts for nothing: the client had another name or host, or the membership ended. */
  readonly since: EpochMs
}

/** An access token that stands in the store. What a JWT would say of itself is said here. */
export interface OpaqueTokenRecord {
  /** Begins with the moment when it expires, so that sweeps take from the start; also its `jti`. */
  readonly id: OpaqueTokenId
  readonly hash: SecretHash
  readonly facts: AccessTokenFacts
}
