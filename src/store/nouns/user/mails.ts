import type { CausesMail } from '../../../ports/operations/mail.ts'
import type { MailRecord } from '../../../ports/records/mail.ts'
import type { DueMails } from '../../../ports/store.ts'
import type { NounOperations } from '../../noun.ts'
import { outcomeOf, rows, shared, type Steps } from '../../shared/statement.ts'
import { bigint, optionalGroup, table, text } from '../../table.ts'

const MAILS = table<MailRecord>({
  userId: text('user_id'),
  id: text('mail_id'),
  purpose: text('purpose'),
  notice: text('notice'),
  address: text('address'),
  language: text('locale'),
  agent: optionalGroup('agent_browser', { browser: text('agent_browser'), system: text('agent_system') }),
  happenedAt: bigint('happened_at'),
  dueAt: bigint('due_at'),
  attempts: bigint('attempts'),
  expiresAt: bigint('expires_at'),
})

const ADD = shared(`insert into mails (${MAILS.names}) values (${MAILS.parameters})`)
/** In the order of the index. A mail is due first when it was caused. */
const LIST_DUE = shared('select * from mails where due_at <= :now order by due_at limit :limit')
/** The mail is found by its id, not by the index of times. */
const KEY = 'user_id = :userId and mail_id = :id and coalesce(due_at, 0) = :dueAt'
const REMOVE = shared(`delete from mails where ${KEY} returning mail_id`)

const FIND_USER = shared('select user_id from users where user_id = :userId')

const operations = {
  noticeReuse: {
    keys: ({ userId }) => [userId],
    cache: 'kept',
    event: 'no-event',
    mails: 'noticed',
    *run({ userId }) {
      return (yield* rows(FIND_USER, { userId })).length === 1 ? 'noticed' : 'unknown'
    },
  },
  rescheduleMail: {
    keys: mailKey,
    cache: 'kept',
    event: 'no-event',
    run: outcomeOf(
      `update mails set due_at = :until, attempts = :attempts where ${KEY} returning mail_id`,
      'rescheduled',
      'taken',
    ),
  },
  settleMail: {
    keys: mailKey,
    cache: 'kept',
    event: ({ userId, purpose, failure }, outcome) =>
      outcome === 'undelivered' && failure !== undefined
        ? { event: 'mail.undelivered', userId, details: { purpose, reason: failure } }
        : undefined,
    *run(mail) {
      if ((yield* rows(REMOVE, mail)).length !== 1) return 'taken'
      if (mail.failure === undefined) return 'sent'
      return mail.failure === 'void' ? 'void' : 'undelivered'
    },
  },
} satisfies NounOperations

const reads = {
  *listDueMails(due: DueMails): Steps<readonly MailRecord[]> {
    return (yield* rows(LIST_DUE, due)).map(MAILS.read)
  },
}

export const mails = { operations, reads }

function mailKey({ userId, id }: Pick<MailRecord, 'userId' | 'id'>): readonly string[] {
  return [`${userId} ${id}`]
}

/** The steps of an operation, which also store the mails of its input with the outcome that its row names. */
export function mailed<In, Out>(
  row: { readonly keys: unknown; readonly mails?: unknown },
  run: (input: In) => Steps<Out>,
): (input: In) => Steps<Out> {
  if (row.mails === undefined || row.mails === 'by-run') return run
  return function* (input) {
    const result = yield* run(input)
    const kind = typeof result === 'object' && result !== null && 'kind' in result ? result.kind : result
    if (kind === row.mails) yield* addMails((input as CausesMail).mails)
    return result
  }
}

/** Stores mails with the operation that causes them. */
export function* addMails(caused: readonly MailRecord[]): Steps<void> {
  for (const mail of caused) yield* rows(ADD, MAILS.values(mail))
}
