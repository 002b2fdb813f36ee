import type { MailOperations } from '../../ports/operations/mail.ts'
import type { OperationRows } from './row.ts'

/** The rows of OPERATIONS for mails. The audit never has an address. */
export const MAIL_OPERATIONS: OperationRows<MailOperations> = {
  rescheduleMail: { cache: 'kept', event: 'no-event' },
  settleMail: {
    cache: 'kept',
    event: ({ userId, purpose, failure }, outcome) =>
      outcome === 'undelivered' && failure !== undefined
        ? { event: 'mail.undelivered', userId, details: { purpose, reason: failure } }
        : undefined,
  },
}
