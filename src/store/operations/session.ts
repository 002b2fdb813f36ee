import { identityLinked } from '../nouns/user/identity-proofs.ts'
import { type NounOperations, when } from '../noun.ts'

/** The rows of OPERATIONS for sessions, sign-ins of the operator’s application, and notices of a sign-out. */
export const SESSION_OPERATIONS = {
  startSession: {
    // The user's first sign-in changes the record of the user.
    cache: ({ session }) => session.userId,
    event: ({ session: { userId, authentication }, link }, outcome) => {
      if (outcome.kind !== 'started') return undefined
      const { methods, providerId } = authentication
      const provider = providerId === undefined ? {} : { provider: providerId }
      const started = {
        event: 'session.started',
        userId,
        details: { methods: methods.join(' '), ...provider },
      } as const
      return outcome.isLinked && link !== undefined ? [identityLinked(link.identity, 'proof'), started] : started
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
} satisfies NounOperations
