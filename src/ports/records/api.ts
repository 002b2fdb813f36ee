import type { AccessTokenFacts } from '../../protocol/token/access-token.ts'
import type { GroupClaim } from '../../protocol/access/group-claim.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { LocalizedText } from '../../base/localized-text.ts'
import type { ApiCredentialId, OpaqueTokenId } from '../../protocol/ids.ts'
import type { AuthenticationLevel } from '../../protocol/sign-in/authentication.ts'
import type { Resource } from '../../protocol/token/resource.ts'
import type { Scope } from '../../protocol/token/scope.ts'
import type { SecretHash } from '../../protocol/secrets.ts'
import type { SigningAlgorithm } from './key.ts'

/** An API that tokens are issued for. RFC 8707. */
export interface ApiRecord {
  readonly resource: Resource
  readonly name: LocalizedText | undefined
  readonly scopes: readonly ApiScope[]
  /** When the API declared a scope, by the scope's name. A scope that is absent was declared when the API was created. */
  readonly scopesSince: ReadonlyMap<string, EpochMs>
  readonly tokens: ApiTokens
  /** The claim in which it reads the groups of users. undefined: it reads none. */
  readonly groups: GroupClaim | undefined
  /** From which APIs a token can be exchanged for one of this API (RFC 8693, decision 0040). Empty: from none. */
  readonly exchange: readonly ExchangeRule[]
  /** undefined: no credentials were created for the API. */
  readonly credentials: ApiCredentials | undefined
  readonly createdAt: EpochMs
}

/** What the operator declares of an API. */
export type ApiDefinition = Omit<ApiRecord, 'credentials' | 'createdAt' | 'scopesSince'>

/** The format of an API's access tokens. */
export interface ApiTokens {
  /** `opaque`: the token is a random string, its facts are in the store, and the API asks for them (RFC 7662). */
  readonly format: 'jwt' | 'opaque'
  /** Seconds. undefined: the server's default. */
  readonly lifetime: number | undefined
  /** undefined: the server's default. */
  readonly algorithm: SigningAlgorithm | undefined
  /** `typ` of the API's JWTs. */
  readonly jwtType: JwtType
  /**
   * Whether tokens of users have the subject that the operator's application has for the user (`application_subject`). A token for
   * several APIs has it only if each of them wants it.
   */
  readonly applicationSubject: boolean
  /**
   * Whether its tokens are bound to a key of the client (RFC 9449). `any`: if the client proves that it has one. `dpop`: always. `bearer`:
   * never, because the API cannot check it.
   */
  readonly binding: 'any' | 'dpop' | 'bearer'
}

/** `at+jwt` (RFC 9068 §2.1), or `JWT` for verifiers that accept no other type (RFC 7519 §5.1). */
export type JwtType = 'at+jwt' | 'JWT'

/** An API that may exchange its tokens for those of the API that has the rule. */
export interface ExchangeRule {
  readonly resource: Resource
  /** The most that the new token has. */
  readonly scope: Scope
}

/** What an API authenticates with at the introspection endpoint (RFC 7662 §2.1) and for an exchange (RFC 8693 §2.1). */
export interface ApiCredentials {
  readonly id: ApiCredentialId
  readonly secretHash: SecretHash
}

export interface ApiScope {
  readonly name: string
  /** The description on the consent page. */
  readonly sentence: LocalizedText
  /**
   * Which clients can get the scope (decision 0006):
   * - `users`: any client, with a user's consent.
   * - `users-on-request`: the same, but only if the client's request names the scope.
   * - `users-and-machines`: any client with a user's consent, and any registered client without a user.
   * - `approved-clients`: only clients that the operator approved for it, with or without a user.
   */
  readonly grantedTo: 'users' | 'users-on-request' | 'users-and-machines' | 'approved-clients'
  /** What the scope requires of the authentication of the user. Absent: nothing. Without a user no client gets a scope that has it. */
  readonly stepUp?: ScopeStepUp
}

/** The authentication that a scope requires. */
export interface ScopeStepUp {
  /** The lowest level. */
  readonly level: Exclude<AuthenticationLevel, 1>
  /** The greatest age of the authentication at the authorization request, in seconds. undefined: any. */
  readonly maxAge: number | undefined
}

/** An issued access token of the opaque format. The store keeps the facts that a JWT would carry. */
export interface OpaqueTokenRecord {
  /** Starts with the expiry time, so that expired tokens are a range at the start of the table. It is also the `jti`. */
  readonly id: OpaqueTokenId
  readonly hash: SecretHash
  readonly facts: AccessTokenFacts
}
