import { chooseLanguage } from '../base/language.ts'
import { after, type EpochMs } from '../base/brand.ts'
import type { Context } from '../ports/context.ts'
import type { Request } from '../ports/message.ts'
import type { MailRecord, NoticeKind } from '../ports/records/mail.ts'
import type { UserRecord } from '../ports/records/user.ts'
import type { Secrets } from '../protocol/secrets.ts'
import { mintMailId } from '../protocol/ids.ts'

/** A notice that cannot be sent for so long is given up. */
const NOTICE_MS = 7 * 24 * 60 * 60 * 1000

type Needs = Pick<Context, 'clock' | 'mail' | 'random'>
type Recipient = Pick<UserRecord, 'id' | 'email' | 'emailVerifiedAt' | 'profile'>

/** Makes a mail that is sent at once. The operation that causes it stores it. */
export function makeMail(
  { random }: Pick<Context, 'random'>,
  draft: Omit<MailRecord, 'id' | 'dueAt' | 'attempts'>,
): MailRecord {
  return { ...draft, id: mintMailId(random), dueAt: draft.happenedAt, attempts: 0 }
}

/** Beyond all codes. */
const CODES = 100_000_000n
const CODE_DIGITS = 8

/** The digits of the code in a mail, derived from the mail. */
export function mailedCode(
  { digest }: Pick<Secrets, 'digest'>,
  { userId, id }: Pick<MailRecord, 'userId' | 'id'>,
): string {
  const bits = Buffer.from(digest('mailed-code', [userId, id]), 'base64url').toString('hex')
  return (BigInt(`0x${bits}`) % CODES).toString().padStart(CODE_DIGITS, '0')
}

/** The notice of a change that was made in a browser. It goes to a verified address only; without mail there is none. */
export function noticesOf(
  context: Needs,
  user: Recipient,
  notice: NoticeKind,
  { agent, language }: Pick<Request, 'agent' | 'language'>,
): readonly MailRecord[] {
  const { id: userId, email: address, emailVerifiedAt } = user
  if (context.mail === undefined || address === undefined || emailVerifiedAt === undefined) return []
  const happenedAt: EpochMs = context.clock()
  const expiresAt = after(happenedAt, NOTICE_MS)
  return [makeMail(context, { userId, purpose: 'notice', notice, address, language, agent, happenedAt, expiresAt })]
}

/** The notice of a change that the operator made. */
export function noticesByOperator(context: Needs, user: Recipient, notice: NoticeKind): readonly MailRecord[] {
  return noticesOf(context, user, notice, { agent: undefined, language: languageOf(user) })
}

/** The language of a mail that the operator causes: that of the claim `locale`, else English. */
function languageOf({ profile }: Pick<UserRecord, 'profile'>): MailRecord['language'] {
  return chooseLanguage(profile.locale, undefined)
}
