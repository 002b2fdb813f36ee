import type { AccountOperations } from '../ports/account-operations.ts'
import type { AuditEvent } from '../ports/records/audit.ts'
import type { AuditEventName } from '../protocol/audit/event-names.ts'
import type { UserId } from '../protocol/ids.ts'
import { idOf, when, type OperationRow } from './operation-row.ts'

/** The rows of OPERATIONS for users, their sessions, and what they allowed. */
export const ACCOUNT_OPERATIONS: { readonly [Name in keyof AccountOperations]: OperationRow<Name> } = {
  createUser: { cache: 'kept', event: when('created', aboutUser('user.created')) },
  setPassword: { cache: idOf, event: when('changed', aboutUser('user.password-changed')) },
  disableUser: { cache: idOf, event: when('changed', aboutUser('user.disabled')) },
  enableUser: { cache: idOf, event: when('changed', aboutUser('user.enabled')) },
  deleteUser: { cache: 'cleared', event: when('deleted', aboutUser('user.deleted')) },
  revokeUserTokens: { cache: idOf, event: when('changed', aboutUser('user.tokens-revoked')) },
  setEmail: {
    cache: idOf,
    event: when('changed', ({ id, emailVerifiedAt }) => ({
      event: 'user.email-changed',
      userId: id,
      details: { verified: emailVerifiedAt !== undefined },
    })),
  },
  renameUser: { cache: idOf, event: when('changed', aboutUser('user.renamed')) },
  updateUser: { cache: idOf, event: when('changed', aboutUser('user.updated')) },
  changePassword: { cache: idOf, event: when('changed', aboutUser('user.password-changed')) },
  createLink: {
    cache: 'kept',
    event: when('created', ({ userId, purpose }) => ({ event: 'link.created', userId, details: { purpose } })),
  },
  useLink: { cache: ({ userId }) => userId, event: when('used', ({ userId }) => ({ event: 'link.used', userId })) },
  startInteraction: { cache: 'kept', event: 'no-event' },
  answerInteraction: {
    cache: 'kept',
    event: when('answered', ({ id, answer, about }) => ({
      event: 'interaction.answered',
      ...about,
      details: { interaction: id, answer: answer.kind === 'accepted' ? answer.decision : answer.error },
    })),
  },
  startSession: {
    // The user's first sign-in changes the record of the user.
    cache: ({ session }) => session.userId,
    event: ({ session: { userId, authentication } }, { kind }) => {
      if (kind !== 'started') return undefined
      const { methods, providerId } = authentication
      const provider = providerId === undefined ? {} : { provider: providerId }
      return { event: 'session.started', userId, details: { methods: methods.join(' '), ...provider } }
    },
  },
  // No decision depends on when a session was last seen.
  noteSessions: { cache: 'kept', event: 'no-event' },
  endSession: {
    cache: 'kept',
    event: when('ended', ({ id, about }) => ({ event: 'session.ended', ...about, details: { session: id } })),
  },
  endOtherSessions: {
    cache: 'kept',
    event: ({ userId }, { ended }) =>
      ended === 0 ? undefined : { event: 'session.ended', userId, details: { sessions: ended } },
  },
  rescheduleLogoutNotice: { cache: 'kept', event: 'no-event' },
  settleLogoutNotice: {
    cache: 'kept',
    event: ({ userId, clientId, failure }, outcome) =>
      outcome === 'taken'
        ? undefined
        : {
            event: outcome === 'delivered' ? 'logout.delivered' : 'logout.undelivered',
            userId,
            clientId,
            details: failure === undefined ? {} : { reason: failure },
          },
  },
  removeApp: {
    cache: 'kept',
    event: ({ userId, clientId, organizationId }, { grants }) =>
      grants === 0 ? undefined : { event: 'app.removed', userId, clientId, organizationId, details: { grants } },
  },
}

function aboutUser(event: AuditEventName) {
  return (input: UserId | { readonly id: UserId }): AuditEvent => ({ event, userId: idOf(input) })
}
