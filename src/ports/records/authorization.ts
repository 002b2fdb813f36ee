import type { EpochMs } from '../../protocol/brand.ts'
import type { AuthorizationId, ClientId, GrantId, OrganizationId, UserId } from '../../protocol/ids.ts'
import type { CodeChallenge } from '../../protocol/pkce.ts'
import type { RedirectUri } from '../../protocol/redirect-uri.ts'
import type { Resource } from '../../protocol/resource.ts'
import type { Scope } from '../../protocol/scope.ts'
import type { SecretHash } from '../../protocol/secrets.ts'

/** An authorization request that passed all checks. It waits for the user's decision, then for the client to redeem its code. */
export interface AuthorizationRecord {
  readonly id: AuthorizationId
  readonly clientId: ClientId
  /** Binds the request to the browser that started it (threats.md AUTH-21). */
  readonly browserHash: SecretHash
  readonly redirectUri: RedirectUri
  readonly state: string | undefined
  readonly codeChallenge: CodeChallenge
  readonly scope: Scope
  /** Scope that the client requested and did not get. A refresh request that repeats it is not refused for that. */
  readonly ungrantedScope: Scope
  readonly resources: readonly Resource[]
  /** The user must enter the password even in a browser that has a session. */
  readonly mustSignIn: boolean
  /** The user must consent even where a consent is remembered. */
  readonly mustConsent: boolean
  readonly loginHint: string | undefined
  /** The organization that the client requests. undefined: the user chooses (decision 0019). */
  readonly organizationId: OrganizationId | undefined
  readonly createdAt: EpochMs
  /** The user's deadline for the decision; after the approval, the client's deadline for redeeming the code. */
  readonly expiresAt: EpochMs
  readonly status: AuthorizationStatus
}

export type AuthorizationStatus =
  | { readonly kind: 'pending' }
  | { readonly kind: 'denied' }
  | (ApprovalRecord & { readonly kind: 'approved' })
  | (ApprovalRecord & { readonly kind: 'redeemed'; readonly grantId: GrantId })
  /** The code was presented with a wrong code_verifier and is invalid since then (threats.md CODE-07). */
  | { readonly kind: 'burned'; readonly codeHash: SecretHash }

/** Which user approved an authorization request, when, and for which organization. */
export interface ApprovalRecord {
  readonly userId: UserId
  readonly organizationId: OrganizationId | undefined
  readonly codeHash: SecretHash
  readonly approvedAt: EpochMs
}
