import type { EpochMs } from '../../base/brand.ts'
import type { OrganizationId, UserId } from '../../protocol/ids.ts'

/** What a user may do with the tasks of operators, by the console. A user has at most one role. */
export interface RoleRecord {
  readonly userId: UserId
  /** `write` includes `read`. */
  readonly access: 'read' | 'support' | 'users' | 'write'
  /** The one organization that the role is for; undefined: the whole server. */
  readonly organizationId: OrganizationId | undefined
  /** The role counts only while the issuer is a loopback address, as that of the demo user. */
  readonly isLoopbackOnly: boolean
  /** When the role was set last. */
  readonly setAt: EpochMs
}
