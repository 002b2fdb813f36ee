import type { EpochMs } from '../../base/brand.ts'
import type { UserId } from '../../protocol/ids.ts'

/** What a user may do with the tasks of operators, by the console. A user has at most one role, which is for the whole server. */
export interface RoleRecord {
  readonly userId: UserId
  /** `write` includes `read`. */
  readonly access: 'read' | 'write'
  /** The role counts only while the issuer is a loopback address, as that of the demo user. */
  readonly isLoopbackOnly: boolean
  /** When the role was set last. */
  readonly createdAt: EpochMs
}
