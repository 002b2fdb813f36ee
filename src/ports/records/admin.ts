import type { EpochMs } from '../../base/brand.ts'
import type { AdminCredentialId, OrganizationId } from '../../protocol/ids.ts'
import type { SecretHash } from '../../protocol/secrets.ts'

/** What an administrator authenticates with. */
export interface AdminCredentialRecord {
  readonly id: AdminCredentialId
  /** The person or the program that the credentials were created for. */
  readonly name: string
  readonly secretHash: SecretHash
  /**
   * `metrics`: only the metrics. `read`: everything. `write` includes `read`. `delegate`: only the sign-ins that the operator's
   * application does.
   */
  readonly access: 'metrics' | 'read' | 'support' | 'users' | 'write' | 'delegate'
  /** The credentials give access to this organization only. undefined: to everything. */
  readonly organizationId: OrganizationId | undefined
  /** When the organization was created. Another one that gets its id later does not get its credentials. */
  readonly organizationSince: EpochMs | undefined
  readonly createdAt: EpochMs
  readonly expiresAt: EpochMs
  readonly revokedAt: EpochMs | undefined
}
