import type { AuditWord } from '../protocol/audit-words.ts'
import type { EpochMs } from '../protocol/brand.ts'
import type {
  AdminCredentialId,
  ApiCredentialId,
  ClientId,
  GrantId,
  KeyId,
  OrganizationId,
  UserId,
} from '../protocol/ids.ts'
import type { Resource } from '../protocol/resource.ts'
import type { SecretHash } from '../protocol/secrets.ts'

/** An API that tokens are issued for. RFC 8707. */
export interface ApiRecord {
  readonly resource: Resource
  readonly name: string | undefined
  readonly scopes: readonly ApiScope[]
  /** Since when the API declares a scope, by name; absent: since it was created. */
  readonly scopesSince: ReadonlyMap<string, EpochMs>
  readonly tokens: ApiTokens
  /** undefined: it has not got any. */
  readonly credentials: ApiCredentials | undefined
  readonly createdAt: EpochMs
}

/** What the operator declares of an API. */
export type ApiDefinition = Omit<ApiRecord, 'credentials' | 'createdAt' | 'scopesSince'>

/** How the access tokens of an API are made. */
export interface ApiTokens {
  /** `opaque`: they stand in the store and say nothing to who holds them; the API asks (RFC 7662). */
  readonly format: 'jwt' | 'opaque'
  /** Seconds; undefined: as the server's. */
  readonly lifetime: number | undefined
  /** undefined: as the server's. */
  readonly algorithm: SigningAlgorithm | undefined
  /** `typ` of its JWTs. */
  readonly jwtType: JwtType
}

/** `at+jwt` (RFC 9068 §2.1), or `JWT` for verifiers that accept no other type (RFC 7519 §5.1). */
export type JwtType = 'at+jwt' | 'JWT'

/** What an API authenticates with when it asks about tokens. RFC 7662 §2.1. */
export interface ApiCredentials {
  readonly id: ApiCredentialId
  readonly secretHash: SecretHash
}

export interface ApiScope {
  readonly name: string
  /** What a person reads on the consent page. */
  readonly sentence: string
  /**
   * Who may have it (decisions.md D6): any client with a person's consent, and `users-on-request` only when the client's
   * request names it; any registered client by itself, too; or only clients that the operator approved for it, by themselves
   * or with a person's consent.
   */
  readonly grantedTo: 'users' | 'users-on-request' | 'users-and-machines' | 'approved-clients'
}

/** How access tokens are signed. RFC 7518 §3.1; RFC 8037 §3.1, with Ed25519. */
export type SigningAlgorithm = 'ES256' | 'EdDSA' | 'RS256'

/** A signing key. The private part is encrypted under the root secret. */
export interface KeyRecord {
  readonly id: KeyId
  readonly algorithm: SigningAlgorithm
  /** Public JWK as JSON. RFC 7517. */
  readonly publicJwk: string
  /** AES-256-GCM over the PKCS#8 DER: nonce, tag and ciphertext, base64url. */
  readonly encryptedPrivateKey: string
  readonly createdAt: EpochMs
  /** From then on it signs, until another one does. */
  readonly activeFrom: EpochMs
}

/** What an administrator authenticates with. */
export interface AdminCredentialRecord {
  readonly id: AdminCredentialId
  /** Whose it is or what it is for; the audit names it. */
  readonly name: string
  readonly secretHash: SecretHash
  readonly access: 'read' | 'write'
  /** It sees this organization and nothing else; undefined: everything. */
  readonly organizationId: OrganizationId | undefined
  readonly createdAt: EpochMs
  readonly expiresAt: EpochMs
  readonly revokedAt: EpochMs | undefined
}

/** What happened, for the record (docs/audit.md). Never a secret, a token or a parameter as it was sent. */
export interface AuditEvent {
  /** A word of the table in docs/audit.md. */
  readonly event: AuditWord
  readonly clientId?: ClientId | undefined
  readonly userId?: UserId | undefined
  readonly organizationId?: OrganizationId | undefined
  readonly grantId?: GrantId | undefined
  /** Who made it happen, where that is an administrator: `command-line`, or the id of the credentials. */
  readonly actor?: string | undefined
  readonly details?: Readonly<Record<string, string | number | boolean>> | undefined
}

/** What one commit added to a chain of the audit. */
export interface AuditLinkRecord {
  /** Ordered by time over all chains. */
  readonly id: string
  /** One writer's: a new one whenever a process starts, or cannot know whether its last link was written. */
  readonly chainId: string
  /** From 0, without a gap. */
  readonly sequence: number
  readonly recordedAt: EpochMs
  /** Of the link before; '' at the start. */
  readonly previousHash: string
  /** A JSON array of AuditEvent, as it was hashed. */
  readonly events: string
  /** A keyed digest over everything here. */
  readonly hash: string
}
