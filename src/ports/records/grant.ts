import type { EpochMs } from '../../base/brand.ts'
import type { ClientId, GrantId, OrganizationId, UserId } from '../../protocol/ids.ts'
import type { BoundKey, RefreshFamily } from '../../protocol/token/refresh-rotation.ts'
import type { Resource } from '../../protocol/token/resource.ts'
import type { Scope } from '../../protocol/token/scope.ts'
import type { UserClaim } from '../../protocol/openid/user-claims.ts'
import type { ProviderId } from '../../protocol/sign-in/authentication.ts'
import type { StatedAuthentication } from '../../protocol/sign-in/acr.ts'
import type { ApprovedSession } from './authorization.ts'

/** What a user, or the provider of the user, allowed a client in one authorization. Its refresh tokens are one family, stored in the same row (decision 0004). */
export interface GrantRecord {
  readonly id: GrantId
  readonly clientId: ClientId
  readonly userId: UserId
  readonly organizationId: OrganizationId | undefined
  readonly scope: Scope
  /** Scope that the client requested at the start and did not get (RFC 6749 §6). */
  readonly ungrantedScope: Scope
  readonly resources: readonly Resource[]
  readonly createdAt: EpochMs
  /** Every token of the grant expires by this time, however often it is refreshed. */
  readonly expiresAt: EpochMs
  readonly revokedAt: EpochMs | undefined
  /** undefined: the client is not registered for refresh tokens. */
  readonly family: RefreshFamily | undefined
  /** Present if the scope has `openid`. */
  readonly openid: OpenidGrant | undefined
  /** The authentication that all tokens state. undefined: neither the client nor a scope asks for it. */
  readonly stated: StatedAuthentication | undefined
  /** The host that got the code, as `webHost` returns it. */
  readonly redirectHost: string | undefined
  /** The key of a public client that proved one. RFC 9449 §5. undefined: a refresh needs no proof. */
  readonly boundKey: BoundKey | undefined
  /** The provider whose identity assertion opened the grant. undefined: the user allowed it. */
  readonly providerId: ProviderId | undefined
}

/** What all ID tokens of a grant have in common. OpenID Connect Core 1.0 §12.2. */
export interface OpenidGrant {
  readonly session: ApprovedSession
  /** The claims about the user that the client requested in the ID token. */
  readonly idTokenClaims: readonly UserClaim[]
}

/** A remembered consent, as the user sees it. */
export interface ConsentRecord {
  readonly clientId: ClientId
  readonly redirectHost: string
  /** For what the consent is. The resources are unknown, and empty, where they were too long to be stored. */
  readonly target: {
    readonly organizationId: OrganizationId | undefined
    readonly resources: readonly Resource[]
  }
  readonly scope: Scope
  readonly givenAt: EpochMs
  readonly under: NotBeforeTimes
}

/**
 * The not-before times under which a consent is given. The consent ends with them: a revocation moves them always, whatever time a clock that
 * was ahead gave to the consent (threats.md STO-13). So no operation has to find the consents of a server or an organization.
 */
export interface NotBeforeTimes {
  /** undefined: unknown, so the consent counts under none. */
  readonly server: EpochMs | undefined
  /** undefined: the consent is for no organization. */
  readonly organization: EpochMs | undefined
}

/** What the consents of a user to a client have in common that are for one redirect host. */
export interface ConsentedHost extends Pick<ConsentKey, 'userId' | 'clientId' | 'redirectHost' | 'since'> {
  readonly under: Pick<NotBeforeTimes, 'server'>
}

/** Identifies a remembered consent: everything that it covers except the scope (decision 0022). */
export interface ConsentKey {
  readonly userId: UserId
  readonly clientId: ClientId
  readonly organizationId: OrganizationId | undefined
  readonly redirectHost: string
  /** As `resourcesKey` writes them. */
  readonly resources: string
  /** Consents from before this time are ignored: the client had another name or host, the membership ended, or the user's grants were revoked. */
  readonly since: EpochMs
  /** Consents under other times are ignored. */
  readonly under: NotBeforeTimes
}
