import { type NounOperations, when } from '../noun.ts'

/** The rows of OPERATIONS for authenticator apps and recovery codes. */
export const SECOND_FACTOR_OPERATIONS = {
  enableTotp: {
    cache: 'kept',
    event: when('enabled', ({ factor: { userId }, reason }) => ({
      event: 'second-factor.enabled',
      userId,
      details: { reason: reason.kind },
    })),
  },
  // The refusals are reported with their attempt, and a success starts a session.
  useTotp: { cache: 'kept', event: 'no-event' },
  useRecoveryCode: {
    cache: 'kept',
    event: ({ userId }, outcome) =>
      outcome.kind === 'used' ? { event: 'recovery-code.used', userId, details: { left: outcome.left } } : undefined,
  },
  disableTotp: {
    cache: 'kept',
    event: when('changed', ({ userId }) => ({ event: 'second-factor.disabled', userId, details: { by: 'user' } })),
  },
  resetSecondFactor: {
    // An import may no longer change the account.
    cache: ({ userId }) => userId,
    event: when('changed', ({ userId }) => ({ event: 'second-factor.disabled', userId, details: { by: 'operator' } })),
  },
  replaceRecoveryCodes: {
    cache: 'kept',
    event: when('changed', ({ userId }) => ({ event: 'recovery-codes.replaced', userId })),
  },
} satisfies NounOperations
