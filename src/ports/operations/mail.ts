import type { EpochMs } from '../../base/brand.ts'
import type { DueMail, MailRecord } from '../records/mail.ts'

/** The operations on mails that wait to be sent, each as `[input, outcome]`. The rules of index.ts apply. */
export interface MailOperations {
  /**
   * Sets when a mail is sent next. A node that is about to send it postpones it first, so that of concurrent nodes one returns
   * `rescheduled`. `taken`: another node has rescheduled or settled it since it was read.
   */
  rescheduleMail: [
    change: DueMail & { readonly until: EpochMs; readonly attempts: number },
    outcome: 'rescheduled' | 'taken',
  ]
  /** Removes a mail that the mail server has accepted, or that is given up. */
  settleMail: [
    settlement: DueMail &
      Pick<MailRecord, 'purpose'> & {
        /** Why it was given up; undefined: it was sent. `void`: its link or code ended before, so the mail is not needed. */
        readonly failure: string | undefined
      },
    outcome: 'sent' | 'void' | 'undelivered' | 'taken',
  ]
}

/** The input of an operation that causes mail. The mails are stored with the operation, if its outcome is the one that they tell of. */
export interface CausesMail {
  /** Empty: mail is off, or there is no verified address. */
  readonly mails: readonly MailRecord[]
}
