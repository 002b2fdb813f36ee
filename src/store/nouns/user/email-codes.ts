import type { Input, Outcome } from '../../../ports/operations/index.ts'
import type { EmailCodeRecord } from '../../../ports/records/user.ts'
import { CODE_TRIES } from '../../../protocol/sign-in/account.ts'
import { type NounOperations, when } from '../../noun.ts'
import { verifyEmail } from './links.ts'
import { addMails } from './mails.ts'
import { replaceEmail } from './users.ts'
import { holdChange } from '../../shared/sign-in/covered-factors.ts'
import { findBy, rows, shared, type Steps } from '../../shared/statement.ts'
import { bigint, table, text, assignments, without } from '../../table.ts'

const EMAIL_CODES = table<EmailCodeRecord>({
  userId: text('user_id'),
  email: text('email'),
  digest: text('code_digest'),
  failures: bigint('failures'),
  createdAt: bigint('created_at'),
  expiresAt: bigint('expires_at'),
})

/** Changes nothing, and locks the row: codes are created, tried and ended one after the other. */
const HOLD = shared('update users set password_hash = password_hash where user_id = :userId returning email')
const CREATE = shared(
  `insert into email_codes (${EMAIL_CODES.names}) values (${EMAIL_CODES.parameters})
   on conflict (user_id) do update set ${assignments(without(EMAIL_CODES, 'user_id'))}`,
)
const FIND = shared('select * from email_codes where user_id = :userId')
const IS_OPEN = 'user_id = :userId and email = :email and expires_at > :now'
const USE = shared(`delete from email_codes where ${IS_OPEN} and code_digest = :digest returning user_id`)
const COUNT_WRONG = shared(`update email_codes set failures = failures + 1 where ${IS_OPEN} returning failures`)
const REMOVE = shared('delete from email_codes where user_id = :userId')
const FIND_OTHER_OWNER = shared('select user_id from users where email = :email and user_id <> :userId')

const operations = {
  createEmailCode: {
    keys: ({ userId }) => [userId],
    cache: 'kept',
    event: 'no-event',
    mails: 'created',
    *run(code) {
      if (!(yield* holdChange(code.userId, code.session))) return 'unknown'
      yield* rows(CREATE, EMAIL_CODES.values(code))
      return 'created'
    },
  },
  confirmEmail: {
    keys: ({ userId, email }) => [userId, `email:${email}`],
    cache: ({ userId }) => userId,
    event: when('changed', ({ userId }) => ({ event: 'user.email-changed', userId, details: { verified: true } })),
    // Not if the user proved the address that the account has.
    mails: 'by-run',
    // Of two nodes that give an address to two users, the unique index rejects one, whose transaction is repeated, as for `setEmail`.
    run: (confirmation) => confirmEmail(confirmation, isFree),
  },
} satisfies NounOperations

const reads = {
  findEmailCode: findBy(EMAIL_CODES, FIND),
}

export const emailCodes = { operations, reads }

/** `take`: takes an address that the user does not have yet. Returns whether it was free. */
export function* confirmEmail(
  confirmation: Input<'confirmEmail'>,
  take: (confirmation: Input<'confirmEmail'>, previous: string | null) => Steps<boolean>,
): Steps<Outcome<'confirmEmail'>> {
  const { userId: id, email, now } = confirmation
  const [user] = yield* rows(HOLD, confirmation)
  if (user === undefined || !(yield* holdChange(id, confirmation.session))) return 'unknown'
  if ((yield* rows(USE, confirmation)).length === 0) return yield* countWrong(confirmation)
  if (user['email'] === email) {
    yield* verifyEmail(confirmation)
    return 'changed'
  }
  if (!(yield* take(confirmation, user['email'] as string | null))) return 'email-taken'
  yield* replaceEmail({ id, email, emailVerifiedAt: now, now })
  yield* addMails(confirmation.mails)
  return 'changed'
}

function* countWrong(confirmation: Input<'confirmEmail'>): Steps<'wrong' | 'unknown'> {
  const [code] = yield* rows(COUNT_WRONG, confirmation)
  if (code === undefined) return 'unknown'
  if (Number(code['failures']) < CODE_TRIES) return 'wrong'
  yield* rows(REMOVE, confirmation)
  return 'unknown'
}

function* isFree(confirmation: Input<'confirmEmail'>): Steps<boolean> {
  return (yield* rows(FIND_OTHER_OWNER, confirmation)).length === 0
}
