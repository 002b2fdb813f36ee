import type { EmailAddress } from '../protocol/sign-in/email-address.ts'
import { chooseLanguage } from '../base/language.ts'
import { after, type EpochMs } from '../base/brand.ts'
import type { Context } from '../ports/context.ts'
import type { Request } from '../ports/message.ts'
import type { CausesMail } from '../ports/operations/mail.ts'
import type { MailRecord, NoticeKind } from '../ports/records/mail.ts'
import type { EmailCodeRecord, LinkRecord, UserRecord } from '../ports/records/user.ts'
import { digestEmailCode } from '../protocol/sign-in/account.ts'
import { deriveLink } from '../protocol/sign-in/link.ts'
import type { Secrets } from '../protocol/secrets.ts'
import { mintMailId } from '../protocol/ids.ts'

/** A notice that cannot be sent for so long is given up. */
const NOTICE_MS = 7 * 24 * 60 * 60 * 1000
const RARE_NOTICE_MS = 60 * 60 * 1000

type RareNotice = Extract<NoticeKind, 'app-ended' | 'counter-back' | 'organization-joined'>

type Recipient = Pick<UserRecord, 'id' | 'email' | 'emailVerifiedAt' | 'profile'>

/** Makes a mail that is sent at once. The operation that causes it stores it. */
export function makeMail({ random }: Context, draft: Omit<MailRecord, 'id' | 'dueAt' | 'attempts'>): MailRecord {
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

/** A mail is on its way for so long: another one would end the link in it. */
export const MAIL_AGAIN_MS = 60 * 1000

/** To whom a mail with a secret goes. */
type Addressee = Pick<MailRecord, 'address' | 'agent' | 'language'>

/** Makes a link that only the mailbox gets. */
export function mailLink(
  context: Context,
  link: Omit<LinkRecord, 'hash' | 'isMailed'>,
  to: Addressee,
): LinkRecord & CausesMail {
  const { userId, purpose, createdAt: happenedAt, expiresAt } = link
  const mail = makeMail(context, { ...to, userId, purpose, notice: undefined, happenedAt, expiresAt })
  return { ...link, hash: deriveLink(context.secrets, mail).hash, isMailed: true, mails: [mail] }
}

/** Makes a code that only the mailbox gets. */
export function mailCode(
  context: Context,
  code: Pick<EmailCodeRecord, 'userId' | 'createdAt' | 'expiresAt'>,
  to: Addressee & { readonly address: EmailAddress },
): EmailCodeRecord & CausesMail {
  const { userId, createdAt: happenedAt, expiresAt } = code
  const { address: email } = to
  const mail = makeMail(context, { ...to, userId, purpose: 'code', notice: undefined, happenedAt, expiresAt })
  const digest = digestEmailCode(context.secrets, { userId, email }, mailedCode(context.secrets, mail))
  return { ...code, email, digest, failures: 0, mails: [mail] }
}

/** The notice of a change that was made in a browser. It goes to a verified address only; without mail there is none. */
export function noticesOf(
  context: Context,
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

/** The notice of a change that no browser made, but the operator or a provider. */
export function noticesWithoutBrowser(context: Context, user: Recipient, notice: NoticeKind): readonly MailRecord[] {
  return noticesOf(context, user, notice, { agent: undefined, language: languageOf(user) })
}

/**
 * The notice of what another party can cause again and again without a change of the account: one of a kind in an hour for a user. The audit
 * has each event.
 */
export async function rareNoticesOf(
  context: Context,
  user: Recipient & Pick<UserRecord, 'profile'>,
  notice: RareNotice,
  source: Pick<Request, 'agent' | 'language'> = { agent: undefined, language: languageOf(user) },
): Promise<readonly MailRecord[]> {
  const mails = noticesOf(context, user, notice, source)
  if (mails.length === 0) return mails
  const bucket = context.secrets.digest('bucket', ['notice', notice, user.id])
  const { count } = await context.store.countHit({ bucket, now: context.clock(), windowMs: RARE_NOTICE_MS, by: 1 })
  return count === 1 ? mails : []
}

/** The language of a mail that no browser causes: that of the claim `locale`, else English. */
export function languageOf({ profile }: Pick<UserRecord, 'profile'>): MailRecord['language'] {
  return chooseLanguage(profile.locale, [], undefined)
}
