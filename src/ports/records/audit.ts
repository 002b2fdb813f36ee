import type { AuditEventName } from '../../protocol/audit/event-names.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { ClientId, GrantId, OrganizationId, UserId } from '../../protocol/ids.ts'

/** An event of the audit (docs/audit.md). It never contains a secret, a token or a request parameter as it was sent. */
export interface AuditEvent {
  /** The name of an event in docs/audit.md. */
  readonly event: AuditEventName
  readonly clientId?: ClientId | undefined
  readonly userId?: UserId | undefined
  readonly organizationId?: OrganizationId | undefined
  readonly grantId?: GrantId | undefined
  /** The administrator who caused the event, if one did: `command-line`, `library`, `server`, the id of the administrator's credentials, or of the user. */
  readonly actor?: string | undefined
  /** The request of a person or an administrator that caused the event, as its log line names it. */
  readonly requestId?: string | undefined
  readonly details?: Readonly<Record<string, string | number | boolean>> | undefined
}

/** The entry that one commit added to a chain of the audit. */
export interface AuditLinkRecord {
  /** Ordered by time over all chains. */
  readonly id: string
  /** Each process writes its own chain. It starts a new one when it cannot know whether its last link was stored. */
  readonly chainId: string
  /** From 0, without a gap. */
  readonly sequence: number
  readonly recordedAt: EpochMs
  /** The hash of the previous link of the chain; '' for the first link. */
  readonly previousHash: string
  /** A JSON array of AuditEvent: the exact text that was hashed. */
  readonly events: string
  /** A keyed digest over all other members. */
  readonly hash: string
}

/**
 * Which client, user and organization an operation is about, where its input does not contain them. Only the audit uses it,
 * and records it unchecked.
 */
export interface About {
  readonly about?: Pick<AuditEvent, 'clientId' | 'userId' | 'organizationId' | 'details'>
}
