import { type NounOperations, when } from '../noun.ts'

/** The rows of OPERATIONS for passkeys, and for the removal of a password beside them. */
export const PASSKEY_OPERATIONS = {
  addPasskey: {
    // With a link the not-before time of the user changes.
    cache: ({ passkey: { userId } }) => userId,
    event: when('added', ({ passkey: { userId, id }, reason }) => ({
      event: 'passkey.added',
      userId,
      details: { passkey: id, reason: reason.kind },
    })),
  },
  // A use starts a session, which has an event.
  usePasskey: {
    cache: 'kept',
    event: ({ userId, id, isBackupEligible, wasBackupEligible }, outcome) => {
      const isChanged = isBackupEligible !== wasBackupEligible
      if (outcome === 'unknown' || (outcome === 'used' && !isChanged)) return undefined
      return {
        event: outcome === 'used' ? 'passkey.backup-changed' : 'passkey.counter-back',
        userId,
        details: { passkey: id, ...(isChanged && { eligible: isBackupEligible }) },
      }
    },
  },
  removePasskey: {
    cache: 'kept',
    event: when('removed', ({ userId, id, by }) => ({
      event: 'passkey.removed',
      userId,
      details: { passkey: id, by: by.kind },
    })),
  },
  removePassword: {
    cache: ({ userId }) => userId,
    event: when('removed', ({ userId }) => ({ event: 'user.password-removed', userId })),
  },
} satisfies NounOperations
