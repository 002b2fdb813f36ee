import { type NounOperations, when } from '../noun.ts'
import { identityLinked } from '../nouns/user/identity-proofs.ts'

/** The rows of OPERATIONS for providers, and the accounts that users have there. */
export const PROVIDER_OPERATIONS = {
  linkIdentity: {
    // It may end the memberships of the user.
    cache: 'cleared',
    event: when('linked', ({ identity, reason: { kind } }) => identityLinked(identity, kind)),
  },
  provisionUser: {
    cache: 'kept',
    event: when('created', ({ identity: { userId, providerId } }) => ({
      event: 'user.provisioned',
      userId,
      details: { provider: providerId },
    })),
  },
  // The sign-in has an event of its own.
  useIdentity: { cache: 'kept', event: 'no-event' },
  unlinkIdentity: {
    cache: 'kept',
    event: when('unlinked', ({ userId, providerId }) => ({
      event: 'identity.unlinked',
      userId,
      details: { provider: providerId },
    })),
  },
} satisfies NounOperations
