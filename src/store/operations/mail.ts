import type { NounOperations } from '../noun.ts'
/** The rows of OPERATIONS for mails. The audit never has an address. */
export const MAIL_OPERATIONS = {
  rescheduleMail: { cache: 'kept', event: 'no-event' },
  settleMail: {
    cache: 'kept',
    event: ({ userId, purpose, failure }, outcome) =>
      outcome === 'undelivered' && failure !== undefined
        ? { event: 'mail.undelivered', userId, details: { purpose, reason: failure } }
        : undefined,
  },
} satisfies NounOperations
