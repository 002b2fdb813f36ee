import type { EpochMs, EpochSeconds } from '../protocol/brand.ts'
import type { ClientMetadata } from '../protocol/client-metadata.ts'
import type { ApiCredentialId, AuthorizationId, ClientId, GrantId, KeyId, SessionId, UserId } from '../protocol/ids.ts'
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
  /** Of its registration access token (RFC 7592 §3); undefined where nobody may manage it but the operator. */
  readonly managementHash: SecretHash | undefined
  /** A digest of a public client's metadata: who registers the same gets this client (decisions.md D7). */
  readonly sharedKey: string | undefined
  readonly metadata: ClientMetadata
  /** When it first got a token; until then it may be swept (decisions.md D7). */
  readonly usedAt: EpochMs | undefined
  readonly verifiedAt: EpochMs | undefined
  readonly disabledAt: EpochMs | undefined
  /** When its name or a redirect host changed last: whoever consented before knew another client. */
  readonly identityFrom: EpochMs | undefined
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
  readonly validFrom: EpochMs
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
  readonly resources: readonly Resource[]
  /** The person must type the password again, whatever session there is. */
  readonly mustSignIn: boolean
  /** The person is asked even where a consent is remembered. */
  readonly mustConsent: boolean
  readonly loginHint: string | undefined
  readonly createdAt: EpochMs
  /** Until then the person may answer; once approved, until then the code may be spent. */
  readonly expiresAt: EpochMs
  readonly status: AuthorizationStatus
}

export type AuthorizationStatus =
  | { readonly kind: 'pending' }
  | { readonly kind: 'denied' }
  | { readonly kind: 'approved'; readonly userId: UserId; readonly codeHash: SecretHash; readonly approvedAt: EpochMs }
  | {
      readonly kind: 'redeemed'
      readonly userId: UserId
      readonly codeHash: SecretHash
      readonly approvedAt: EpochMs
      readonly grantId: GrantId
    }
  /** A wrong verifier was tried (threats.md CODE-07). */
  | { readonly kind: 'burned'; readonly codeHash: SecretHash }

/** What a person allowed one client once. Its refresh tokens are one family in this one row (decisions.md D5). */
export interface GrantRecord {
  readonly id: GrantId
  readonly clientId: ClientId
  readonly userId: UserId
  readonly scope: Scope
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
  readonly redirectHost: string
  /** As `resourcesKey` writes them. */
  readonly resources: string
  /** A consent from before this moment counts for nothing: the client had another name or host. */
  readonly since: EpochMs
}

/** An API that tokens are issued for. RFC 8707. */
export interface ApiRecord {
  readonly resource: Resource
  readonly name: string | undefined
  readonly scopes: readonly ApiScope[]
  /** undefined: it has not got any. */
  readonly credentials: ApiCredentials | undefined
  readonly createdAt: EpochMs
}

/** What an API authenticates with when it asks about tokens. RFC 7662 §2.1. */
export interface ApiCredentials {
  readonly id: ApiCredentialId
  readonly secretHash: SecretHash
}

export interface ApiScope {
  readonly name: string
  /** What a person reads on the consent page. */
  readonly sentence: string
  /** Who may have it: with a person's consent only, or any registered client by itself too (decisions.md D6). */
  readonly grantedTo: 'users' | 'users-and-machines'
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
