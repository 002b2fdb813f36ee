import type { InstallationRecord, MembershipRecord, OrganizationRecord } from '../records/organization.ts'
import type { OrganizationId } from '../../protocol/ids.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { CausesMail } from './mail.ts'
import type { Ordered } from './reach.ts'

/** The operations on organizations, their members and their installed clients, each as `[input, outcome]`. The rules of index.ts apply. */
export interface OrganizationOperations {
  /**
   * `id-taken`: another organization has the id. Of concurrent callers with one chosen id, one creates the organization. What was stored for
   * an earlier organization with the id, after its deletion, ends.
   */
  createOrganization: [organization: Omit<OrganizationRecord, 'accessRules'>, outcome: 'created' | 'id-taken']
  /** `conflict`: it has another name than `previous`; undefined: whichever it has. */
  renameOrganization: [
    change: { readonly id: OrganizationId; readonly name: string; readonly previous?: string | undefined },
    outcome: 'changed' | 'unknown' | 'conflict',
  ]
  /** Disables the organization: its tokens are revoked, and none are issued for it. */
  disableOrganization: [change: { readonly id: OrganizationId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /** Enables the organization and, as `enableUser` does, sets its not-before time to now. */
  enableOrganization: [change: { readonly id: OrganizationId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /** Revokes the tokens and consents for the organization from before now. */
  revokeOrganizationTokens: [
    change: { readonly id: OrganizationId; readonly now: EpochMs },
    outcome: 'changed' | 'unknown',
  ]
  /**
   * Deletes the organization with its memberships, its installations, its roles and the credentials of its administrators. Providers no
   * longer make members of it. Another organization may get a chosen id, so what was issued for it with a later time than now ends too.
   */
  deleteOrganization: [deletion: { readonly id: OrganizationId; readonly now: EpochMs }, outcome: 'deleted' | 'unknown']
  /**
   * Adds a user to an organization. `isInvited`: by an invitation, which the audit says. `too-many`: the user belongs to MEMBERSHIP_LIMIT
   * organizations already.
   */
  addMember: [
    membership: MembershipRecord & Ordered & CausesMail & { readonly isInvited?: true },
    outcome: 'added' | 'member-already' | 'too-many',
  ]
  /** Disables the membership and revokes the user's tokens for the organization; enabling it does not restore them. */
  disableMember: [change: MembershipKey & Ordered & { readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /** Enables the membership and, as `enableUser` does, sets its not-before time to now. */
  enableMember: [change: MembershipKey & Ordered & { readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  removeMember: [member: MembershipKey & Ordered & { readonly now: EpochMs }, outcome: 'removed' | 'unknown']
  /** Installs a client for an organization. `replaced`: its earlier installation and the tokens from it are revoked. */
  install: [installation: InstallationRecord, outcome: 'installed' | 'replaced']
  /** Disables the installation: its tokens are revoked, and none are issued for it. */
  disableInstallation: [change: InstallationKey & { readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /** Enables the installation and, as `enableUser` does, sets its not-before time to now. */
  enableInstallation: [change: InstallationKey & { readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  uninstall: [installation: InstallationKey, outcome: 'removed' | 'unknown']
}

export type MembershipKey = Pick<MembershipRecord, 'userId' | 'organizationId'>

export type InstallationKey = Pick<InstallationRecord, 'clientId' | 'organizationId'>
