import type { AuthenticationRequest, StatedAuthentication } from '../../protocol/sign-in/acr.ts'
import type { AuthenticationMethod } from '../../protocol/sign-in/authentication.ts'
import type { ResponseMode } from '../../protocol/authorization/response.ts'
import type { EpochMs } from '../../base/brand.ts'
import type {
  AuthorizationId,
  ClientId,
  DeviceId,
  OrganizationId,
  PushedRequestId,
  SessionId,
  UserId,
} from '../../protocol/ids.ts'
import type { CodeChallenge } from '../../protocol/authorization/pkce.ts'
import type { RedirectUri } from '../../protocol/uri/redirect-uri.ts'
import type { Resource } from '../../protocol/token/resource.ts'
import type { Scope } from '../../protocol/token/scope.ts'
import type { SecretHash } from '../../protocol/secrets.ts'
import type { UserClaim } from '../../protocol/openid/user-claims.ts'

/** An authorization request that passed all checks. It waits for the user's decision, then for the client to redeem its code. */
export interface AuthorizationRecord {
  readonly id: AuthorizationId
  readonly clientId: ClientId
  /** Binds the request to the browser that started it (threats.md AUTH-21). */
  readonly browserHash: SecretHash
  readonly redirectUri: RedirectUri
  readonly responseMode: ResponseMode
  readonly state: string | undefined
  /** undefined: the rules of the client permit to omit PKCE. The code is then bound to the client and the redirect URI. */
  readonly codeChallenge: CodeChallenge | undefined
  /** The thumbprint of the key that the client must prove to redeem the code (`dpop_jkt`, RFC 9449 §10). undefined: none. */
  readonly keyThumbprint: string | undefined
  readonly scope: Scope
  /** Scope that the client requested and did not get. A refresh request that repeats it is not refused for that. */
  readonly ungrantedScope: Scope
  readonly resources: readonly Resource[]
  /** The user must sign in even in a browser that has a session (`prompt=login`). */
  readonly mustSignIn: boolean
  /** The user must have authenticated at this time or later (`max_age`); a scope may require more. undefined: at any time. */
  readonly authenticatedSince: EpochMs | undefined
  /** What the client asks about the authentication. undefined: nothing. */
  readonly authentication: AuthenticationRequest | undefined
  /** The authentication that tokens will state, since the approval. undefined: nothing asks for it. */
  readonly stated: StatedAuthentication | undefined
  /** Only this user may approve the request (`id_token_hint`). A text of the client, which may be the id of no user. */
  readonly onlyUserId: string | undefined
  /** The user must consent even where a consent is remembered. */
  readonly mustConsent: boolean
  readonly loginHint: string | undefined
  /** The organization that the client requests. undefined: the user chooses (decision 0005). */
  readonly organizationId: OrganizationId | undefined
  /** Present if the scope has `openid`. */
  readonly openid: OpenidAuthorization | undefined
  /** The pushed request that the client sent the browser with, which the approval uses up. undefined: the address had the parameters. */
  readonly pushedRequestId: PushedRequestId | undefined
  /** The device that shows the code that the user typed, and that gets the tokens (RFC 8628). undefined: the browser has come from the client. */
  readonly device: AuthorizingDevice | undefined
  readonly createdAt: EpochMs
  /** The user's deadline for the decision; after the approval, the client's deadline for redeeming the code. */
  readonly expiresAt: EpochMs
  readonly status: AuthorizationStatus
}

/** The device of an authorization. Its `redirectUri` is then the page of this server where the user typed the code. */
export interface AuthorizingDevice {
  readonly id: DeviceId
  /** What the user typed, encrypted: the pages show it again. */
  readonly userCode: string
  /** Whether the browser in which the user typed the code was in the network of the device. */
  readonly isSameNetwork: boolean
}

/** A device that waits for a user. RFC 8628 §3.2. */
export interface DeviceRecord {
  readonly id: DeviceId
  readonly deviceHash: SecretHash
  readonly clientId: ClientId
  /** The access that the device asks for. */
  readonly request: DeviceRequest
  /** From which it asked. Users see it. */
  readonly network: string
  /** The authorization in which a user answered. undefined: none has. */
  readonly authorizationId: AuthorizationId | undefined
  readonly createdAt: EpochMs
  /** A user can answer until then. */
  readonly expiresAt: EpochMs
}

/** What the request of a device has in common with the authorization that answers it. */
export type DeviceRequest = Pick<AuthorizationRecord, 'scope' | 'ungrantedScope' | 'resources' | 'organizationId'>

/** The parameters of an authorization request that the client sent to the server itself. RFC 9126 §2. */
export interface PushedRequestRecord {
  readonly id: PushedRequestId
  readonly clientId: ClientId
  /** As sent, `application/x-www-form-urlencoded`, without those of client authentication. */
  readonly parameters: string
  /** The authorization whose approval used it up. undefined: none was approved. */
  readonly usedBy: AuthorizationId | undefined
  /** A browser can begin an authorization with it until then. */
  readonly expiresAt: EpochMs
  /** An authorization that began with it can be approved until then. */
  readonly keptUntil: EpochMs
}

/** What the ID token of an authorization needs. OpenID Connect Core 1.0 §2. */
export interface OpenidAuthorization {
  readonly nonce: string | undefined
  /** The claims about the user that the client requests in the ID token. */
  readonly idTokenClaims: readonly UserClaim[]
  /** How the user who approved the request was signed in; undefined until then. */
  readonly session: ApprovedSession | undefined
}

/** A session at the time of an approval. */
export interface ApprovedSession {
  readonly rootId: SessionId
  readonly methods: readonly AuthenticationMethod[]
  /** When the user authenticated. undefined: unknown. */
  readonly at: EpochMs | undefined
}

export type AuthorizationStatus =
  | { readonly kind: 'pending' }
  | { readonly kind: 'denied' }
  /** The code was redeemed if a grant has the id of the authorization. */
  | (ApprovalRecord & { readonly kind: 'approved' })
  /**
   * The code can no longer be redeemed: it was presented with a wrong code_verifier (threats.md CODE-07), or what it would have given was
   * revoked.
   */
  | (ApprovalRecord & { readonly kind: 'burned' })

/** Which user approved an authorization request, when, and for which organization. */
export interface ApprovalRecord {
  readonly userId: UserId
  readonly organizationId: OrganizationId | undefined
  readonly codeHash: SecretHash
  readonly approvedAt: EpochMs
}
