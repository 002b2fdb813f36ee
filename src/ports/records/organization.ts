import type { EpochMs } from '../../base/brand.ts'
import type { AccessRuleRecord } from '../../protocol/access/rule.ts'
import type { ClientId, OrganizationId, UserId } from '../../protocol/ids.ts'
import type { Scope } from '../../protocol/token/scope.ts'

/** An organization has users as members, and clients that are installed for it (decision 0005). */
export interface OrganizationRecord {
  readonly id: OrganizationId
  readonly name: string
  /** They hold for its grants. */
  readonly accessRules: readonly AccessRuleRecord[]
  readonly createdAt: EpochMs
  readonly disabledAt: EpochMs | undefined
  /** Tokens and consents for the organization from before this time are revoked. */
  readonly notBefore: EpochMs
}

/** A user's membership of an organization. */
export interface MembershipRecord {
  readonly userId: UserId
  readonly organizationId: OrganizationId
  readonly createdAt: EpochMs
  readonly disabledAt: EpochMs | undefined
  /** The user's tokens and consents for the organization from before this time are revoked. */
  readonly notBefore: EpochMs
}

/** An organization's permission for a client to act for it without a user (decision 0005). */
export interface InstallationRecord {
  readonly clientId: ClientId
  readonly organizationId: OrganizationId
  /** The most that the client can get. */
  readonly scope: Scope
  /** The client may also act for members of the organization. */
  readonly actsForMembers: boolean
  readonly createdAt: EpochMs
  readonly disabledAt: EpochMs | undefined
  /** Tokens that the client got for the organization before this time are revoked. */
  readonly notBefore: EpochMs
}
