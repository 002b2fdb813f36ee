import type { NounOperations } from '../noun.ts'

/** The rows of OPERATIONS for what the server keeps for itself, and its administrators. */
export const SERVER_OPERATIONS = {
  sweepExpired: {
    cache: 'cleared',
    event: ({ auditBefore }, { auditLinks }) =>
      auditLinks > 0 ? { event: 'audit.swept', details: { before: auditBefore, links: auditLinks } } : undefined,
  },

  beginEra: {
    cache: 'kept',
    event: ({ reason }) => {
      // The restore of a backup is an event of its own.
      if (reason === 'restored') return undefined
      return reason === 'ended'
        ? { event: 'server.restored', details: { in_place: true } }
        : { event: 'server.confirmed' }
    },
  },
} satisfies NounOperations
