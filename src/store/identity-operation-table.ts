import type { IdentityOperations } from '../ports/identity-operations.ts'
import { when, type OperationRow } from './operation-row.ts'

/** The rows of OPERATIONS for the accounts that users have elsewhere. */
export const IDENTITY_OPERATIONS: { readonly [Name in keyof IdentityOperations]: OperationRow<Name> } = {
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
}
