import type { Input, Outcome } from '../../../ports/operations/index.ts'
import type { EmailCodeRecord } from '../../../ports/records/user.ts'
import { CODE_TRIES } from '../../../protocol/sign-in/account.ts'
import type { UserId } from '../../../protocol/ids.ts'
import { EMAIL_CODES } from '../../tables/user.ts'
import { assignments, without } from '../../table.ts'
import { replaceEmail } from '../../nouns/user/users.ts'
import { verifyEmail } from '../../nouns/user/links.ts'
import { addMails } from '../../nouns/user/mails.ts'
import { rows, shared, type SharedHandlers, type Steps } from '../statement.ts'
import { holdChange } from './covered-factors.ts'

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

export const emailCodeHandlers = {
  createEmailCode: {
    keys: ({ userId }) => [userId],
    *run(code) {
      if (!(yield* holdChange(code.userId, code.session))) return 'unknown'
      yield* rows(CREATE, EMAIL_CODES.values(code))
      yield* addMails(code.mails)
      return 'created'
    },
  },
  confirmEmail: {
    keys: ({ userId, email }) => [userId, `email:${email}`],
    // Of two nodes that give an address to two users, the unique index rejects one, whose transaction is repeated, as for `setEmail`.
    run: (confirmation) => confirmEmail(confirmation, isFree),
  },
} satisfies SharedHandlers

export const emailCodeReads = {
  *findEmailCode(userId: UserId): Steps<EmailCodeRecord | undefined> {
    const [row] = yield* rows(FIND, { userId })
    return row === undefined ? undefined : EMAIL_CODES.read(row)
  },
}

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
