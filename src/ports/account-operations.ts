import type { About, AppRemoval, LinkUse, RevocationCutoff } from './operation-inputs.ts'
import type { EpochMs } from '../base/brand.ts'
import type { InteractionId, SessionId, UserId } from '../protocol/ids.ts'
import type { InteractionAnswer } from '../protocol/sign-in/interaction.ts'
import type { IdentityKey } from '../protocol/sign-in/provider-identity.ts'
import type { SecretHash } from '../protocol/secrets.ts'
import type { UserProfile } from '../protocol/openid/user-claims.ts'
import type { DueNotice } from './records/logout-notice.ts'
import type { InteractionRecord } from './records/interaction.ts'
import type { LinkRecord, SessionRecord, UserRecord } from './records/user.ts'

export interface SessionStart {
  readonly session: Omit<SessionRecord, 'rootId'>
  readonly browserHash: SecretHash
  /** The session that this browser had. */
  readonly replaces: SessionId | undefined
  /** The password of the user when the user authenticated; undefined: none. */
  readonly passwordHash: string | undefined
  /** The answered interaction that the session follows from. undefined: none. */
  readonly interactionId: InteractionId | undefined
  /** The identity with which the user authenticated at a provider; undefined: the user did not. */
  readonly identity: IdentityKey | undefined
}

/**
 * The operations on users, their sessions, and what they allowed, each as `[input, outcome]`. The rules of
 * src/ports/operations.ts apply.
 */
export interface AccountOperations {
  /** Creates an account. `email-taken`: the email has an account, possibly created at the same time. */
  createUser: [user: UserRecord, outcome: 'created' | 'email-taken']
  /** Replaces the password, revokes the user's sessions and grants from before now, and deletes the remembered consents. */
  setPassword: [
    change: { readonly id: UserId; readonly passwordHash: string; readonly now: EpochMs },
    outcome: 'changed' | 'unknown',
  ]
  /** Disables the user, revokes the user's sessions and grants, and deletes the remembered consents. */
  disableUser: [change: { readonly id: UserId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /**
   * Enables the user and sets the not-before time to now. A node that had not yet learned of the disabling may have issued
   * tokens meanwhile; they stay revoked.
   */
  enableUser: [change: { readonly id: UserId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /** Deletes the user with all sessions, memberships and remembered consents. The user's grants become invalid. */
  deleteUser: [id: UserId, outcome: 'deleted' | 'unknown']
  /** Revokes the user's sessions and grants from before now, and deletes the remembered consents. */
  revokeUserTokens: [change: { readonly id: UserId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /**
   * Replaces the e-mail address, and when it was verified; `updatedAt` becomes now. Ends the link that an operator handed over: it may
   * have been sent to the previous address. `email-taken`: another user has it.
   */
  setEmail: [
    change: {
      readonly id: UserId
      readonly email: string
      readonly emailVerifiedAt: EpochMs | undefined
      readonly now: EpochMs
    },
    outcome: 'changed' | 'email-taken' | 'unknown',
  ]
  renameUser: [
    change: { readonly id: UserId; readonly name: string | undefined; readonly now: EpochMs },
    outcome: 'changed' | 'unknown',
  ]
  /** Replaces the name and the profile, if the profile still equals `previous`. */
  updateUser: [
    change: {
      readonly id: UserId
      readonly previous: UserProfile
      readonly name: string | undefined
      readonly profile: UserProfile
      readonly now: EpochMs
    },
    outcome: 'changed' | 'conflict',
  ]
  /**
   * Replaces the password for the user, who authenticated just now: ends all sessions but `keep`, and the remembered
   * consents. Grants stay, and the link that an operator handed over (threats.md LNK-04). `unknown`: also if the user is disabled, or if the session has ended, or the password was changed,
   * since the request was checked.
   */
  changePassword: [
    change: {
      readonly id: UserId
      readonly passwordHash: string
      /** The password of the user when the request was checked; undefined: none. */
      readonly previousHash: string | undefined
      /** The session in which the user changes it. */
      readonly keep: SessionId
    },
    outcome: 'changed' | 'unknown',
  ]
  /** Stores a link for the user, in the place of an earlier one. `unknown`: also if the user is disabled. */
  createLink: [link: LinkRecord, outcome: 'created' | 'unknown']
  /**
   * Uses a link: sets the password, removes the identities that the user did not keep, and revokes the user's sessions and grants from
   * before now. `unknown`: the link was used,
   * replaced or has expired, or since it was created the user was disabled, got another password, or had all tokens revoked.
   * Of concurrent requests with one link one returns `used`.
   */
  useLink: [use: LinkUse, outcome: 'used' | 'unknown']

  /** Stores a sign-in that the operator's application is to do. */
  startInteraction: [interaction: InteractionRecord, outcome: 'started']
  /**
   * Stores the answer of the application. `repeated`: it has given the same answer before. `conflict`: it has given another one, which
   * stays. `unknown`: the interaction does not exist or has expired. Of concurrent answers that differ, one returns `answered`.
   */
  answerInteraction: [
    answer: { readonly id: InteractionId; readonly answer: InteractionAnswer; readonly now: EpochMs } & About,
    outcome: 'answered' | 'repeated' | 'conflict' | 'unknown',
  ]

  /**
   * Starts a session and remembers that this browser signed in as this user. Ends the session in `replaces` if it is the same
   * user's; the new session then has its root, and otherwise a root of its own. A user has at most 200 sessions; the oldest is removed, as if
   * it had expired. Where Citus distributes the sessions, one start in 16 counts them. `user-changed`: since the user authenticated, the
   * account was disabled or deleted, its password changed, its tokens were revoked or the identity was removed. `interaction-used`: the
   * interaction that it follows from was used before, has no answer or has expired. No session has started then.
   */
  startSession: [
    start: SessionStart,
    outcome:
      | { readonly kind: 'started'; readonly rootId: SessionId }
      | { readonly kind: 'user-changed' | 'interaction-used' },
  ]
  /** Records when browsers last showed a page to the user. A later time replaces an earlier one; ended sessions are ignored. */
  noteSessions: [sessions: readonly { readonly id: SessionId; readonly at: EpochMs }[], outcome: 'noted']
  /**
   * Ends a session, and what clients got to sign the user in there: revokes the grants with `openid` and without `offline_access` that
   * the user gave in it or in the sessions that it continues, and burns the codes with `openid` that are not redeemed yet. Other
   * grants stay. The notices of its clients become due. OpenID Connect Back-Channel Logout 1.0 §2.5 and §2.7.
   */
  endSession: [end: { readonly id: SessionId } & RevocationCutoff & About, outcome: 'ended' | 'unknown']
  /** The same for all sessions of a user but one, and for those that have expired. Returns how many sessions were ended. */
  endOtherSessions: [
    end: { readonly userId: UserId; readonly keep: SessionId } & RevocationCutoff,
    outcome: { readonly ended: number },
  ]
  /**
   * Sets when a notice is sent next. A node that is about to send it postpones it first, so that of concurrent nodes one returns
   * `rescheduled`. `taken`: another node has rescheduled or settled it since it was read.
   */
  rescheduleLogoutNotice: [
    change: DueNotice & { readonly until: EpochMs; readonly attempts: number },
    outcome: 'rescheduled' | 'taken',
  ]
  /** Removes a notice that was delivered, or is no longer sent. */
  settleLogoutNotice: [
    settlement: DueNotice & {
      /** Why it was not delivered; undefined: it was. */
      readonly failure: string | undefined
    },
    outcome: 'delivered' | 'undelivered' | 'taken',
  ]
  /**
   * Takes back what a user allowed a client, for an organization or without one: revokes the grants with every token issued on
   * them, burns the codes that are not redeemed yet, and forgets the user's consents to the client. Returns how many grants were
   * revoked.
   */
  removeApp: [removal: AppRemoval, outcome: { readonly grants: number }]
}
