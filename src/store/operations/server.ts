import type { NounOperations } from '../noun.ts'

/** The rows of OPERATIONS for what the server keeps for itself, and its administrators. */
export const SERVER_OPERATIONS = {
  sweepExpired: {
    cache: 'cleared',
    event: ({ auditBefore }, { auditLinks }) =>
      auditLinks > 0 ? { event: 'audit.swept', details: { before: auditBefore, links: auditLinks } } : undefined,
  },
} satisfies NounOperations
