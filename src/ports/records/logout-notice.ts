import type { EpochMs } from '../../base/brand.ts'
import type { ClientId, SessionId, UserId } from '../../protocol/ids.ts'
import type { SessionRecord } from './user.ts'

/** Identifies a notice: a client is notified once of the end of a session, and of the sessions that it continued. */
export interface LogoutNoticeKey {
  readonly userId: UserId
  readonly rootId: SessionId
  readonly clientId: ClientId
}

/**
 * A client that is notified when the session of a user ends. OpenID Connect Back-Channel Logout 1.0 §2. The row is stored when the
 * user approves a request of the client, becomes due in the operation that ends the session, and is removed when the client has
 * received the notice or the server has given it up.
 */
export interface LogoutNoticeRecord extends LogoutNoticeKey {
  /** The `sid` of the ID tokens of the client. Stored, because it depends on the master key, which may be replaced. */
  readonly sid: string
  /** When the newest session began of those that continue each other. */
  readonly sessionStartedAt: EpochMs
  /** When that session expires. */
  readonly expiresAt: EpochMs
  /** When the notice is sent. undefined: the session has not ended. 0: at once. */
  readonly dueAt: EpochMs | undefined
  /** Attempts so far, also interrupted ones. */
  readonly attempts: number
}

/** The session in which the user approves a request. */
export type ApprovingSession = Pick<SessionRecord, 'id' | 'createdAt'>

/** A client that is notified from an approval on. */
export interface NotifiedClient {
  readonly userId: UserId
  readonly clientId: ClientId
  /** The `sid` of its ID tokens. */
  readonly sid: string
  readonly session: Pick<SessionRecord, 'id' | 'rootId' | 'createdAt' | 'expiresAt'>
}

/** A notice as its caller read it. */
export interface DueNotice extends LogoutNoticeKey {
  readonly dueAt: EpochMs
}
