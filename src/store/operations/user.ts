import type { NounOperations } from '../noun.ts'

/** The rows of OPERATIONS for users and the links with which they set a password. */
export const USER_OPERATIONS = {
  importUser: {
    // It may add memberships.
    cache: 'cleared',
    event: ({ user: { id: userId }, source }, outcome) => {
      if (outcome === 'created') return { event: 'user.imported', userId, details: { source } }
      return outcome === 'updated' ? { event: 'user.import-updated', userId, details: { source } } : undefined
    },
  },
} satisfies NounOperations
