import type { GroupId } from '../../protocol/access/group.ts'
import type { ProviderSettings } from '../../protocol/sign-in/provider.ts'
import type { InteractionRecord } from '../records/interaction.ts'
import type { InteractionId, SessionId, UserId } from '../../protocol/ids.ts'
import type { InteractionAnswer } from '../../protocol/sign-in/interaction.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { About } from '../records/audit.ts'
import type { RevocationCutoff } from './token.ts'
import type { GroupChanges } from './group.ts'
import type { CausesMail } from './mail.ts'
import type { Ordered } from './reach.ts'
import type { ApprovingSession, DueNotice } from '../records/logout-notice.ts'
import type { IdentityRecord } from '../records/provider.ts'
import type { CoveredFactors, ProviderId } from '../../protocol/sign-in/authentication.ts'
import type { SessionRecord } from '../records/user.ts'
import type { SecretHash } from '../../protocol/secrets.ts'
import type { PasskeyId } from '../../protocol/sign-in/passkey.ts'
import type { IdentityKey } from '../../protocol/sign-in/provider-identity.ts'

/** The operations on sessions, sign-ins of the operator’s application, and notices of a sign-out, each as `[input, outcome]`. The rules of index.ts apply. */
export interface SessionOperations {
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
   * it had expired. Where Citus distributes the sessions, one start in 16 counts them. `isLinked`: the identity of the proof was linked.
   * `groups` replaces what the provider of the sign-in said before, as `setGroupsOfSource` does.
   * `user-changed`: what the sign-in rests on is no longer so (`SignInBasis`), the session, the passkey or the app of the sign-in is gone, or
   * an authenticator app was set up, whose step the sign-in has not done. `interaction-used`: the
   * interaction that it follows from was used before, has no answer or has expired. Nothing is stored then.
   */
  startSession: [
    start: SessionStart,
    outcome:
      | {
          readonly kind: 'started'
          readonly rootId: SessionId
          readonly isLinked: boolean
          /** What changed, if the sign-in says groups. `too-many`: nothing, as with `setGroupsOfSource`. */
          readonly groups?: GroupChanges | 'too-many'
        }
      | { readonly kind: 'user-changed' | 'interaction-used' },
  ]
  /** Records when browsers last showed a page to the user. A later time replaces an earlier one; ended sessions are ignored. */
  noteSessions: [sessions: readonly { readonly id: SessionId; readonly at: EpochMs }[], outcome: 'noted']
  /**
   * Ends a session, and what clients got to sign the user in there: revokes the grants with `openid` and without `offline_access` that
   * the user gave in it or in the sessions that it continues, and burns the codes with `openid` that are not redeemed yet. Other
   * grants stay. The notices of its clients become due. OpenID Connect Back-Channel Logout 1.0 §2.5 and §2.7.
   */
  endSession: [end: { readonly id: SessionId } & RevocationCutoff & About & Ordered, outcome: 'ended' | 'unknown']
  /** The same for all sessions of a user but one, and for those that have expired. `keep`: undefined: none is kept. Returns how many sessions were ended. */
  endOtherSessions: [
    end: { readonly userId: UserId; readonly keep: SessionId | undefined } & RevocationCutoff & Ordered,
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
}

/**
 * What a sign-in rests on since its first step. Each operation that it leads to holds it again, because the user may take minutes, and a
 * node may not know yet what another one has stored (decision 0052).
 */
export interface SignInBasis {
  /** The user must be enabled, and no tokens of the user may have been revoked since. */
  readonly since: EpochMs
  /** The password of the user when the user authenticated; undefined: none. */
  readonly passwordHash: string | undefined
  /** Where the user authenticated; undefined: at this server. The address of the user may require no other provider. */
  readonly providerId: ProviderId | undefined
  /** With which the user authenticated there. The user must have it, and the provider be enabled. undefined: with none. */
  readonly identity: IdentityKey | undefined
  /** The open proof of an identity that the sign-in connects. A provider that the address requires may be the one of it. */
  readonly proof: SecretHash | undefined
}

/** An identity that the user proved before the sign-in, which links it to the account if it covers the second factors of the account. */
export interface ProvenIdentity extends CausesMail {
  readonly identity: IdentityRecord
  /** That of the proof. It is used up. */
  readonly hash: SecretHash
  readonly covers: CoveredFactors
}

/** The groups in which the provider of a sign-in says that the user is. */
export interface SignInGroups {
  readonly groups: readonly GroupId[]
  readonly expiresAt: EpochMs
  /** By which settings the provider's claim was read. The provider must still have them. */
  readonly readBy: Pick<ProviderSettings, 'groupClaim' | 'groups'>
}

export interface SessionStart {
  readonly session: Omit<SessionRecord, 'rootId'>
  readonly browserHash: SecretHash
  /** The session that this browser had. */
  readonly replaces: SessionId | undefined
  /** As in `SignInBasis`. */
  readonly passwordHash: string | undefined
  /** Before which tokens of the user were revoked, as the user was read. A revocation since then refuses the session. */
  readonly notBefore: EpochMs
  /** The answered interaction that the session follows from. undefined: none. */
  readonly interactionId: InteractionId | undefined
  /** As in `SignInBasis`. */
  readonly identity: IdentityKey | undefined
  /** undefined: the sign-in connects none. */
  readonly link: ProvenIdentity | undefined
  /** undefined: the sign-in says none, and what the provider said before stays. */
  readonly groups: SignInGroups | undefined
  /** The session that a second factor is added to, which must be active. undefined: the user has done a first step. */
  readonly stepUp: ApprovingSession | undefined
  /** With which the user authenticated; undefined: the user did not. */
  readonly passkey: PasskeyId | undefined
  /** When the app was stored that was the second step. The user must still have it. undefined: the second step was another one, or none. */
  readonly app: EpochMs | undefined
  /** Whether the user authenticated with two factors. If not, the account must have no authenticator app. */
  readonly isSecondStepDone: boolean
}
