import type { Agent } from '../../base/agent.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { MailId, UserId } from '../../protocol/ids.ts'
import type { Language } from '../../base/language.ts'

/** What a notice reports to a user: a change of the account that another person may have made. */
export const NOTICE_KINDS = [
  'password-changed',
  'password-removed',
  'passkey-added',
  'passkey-removed',
  'provider-added',
  'provider-removed',
  'two-step-on',
  'two-step-off',
  'two-step-reset',
  'recovery-codes-replaced',
  'recovery-code-used',
  'email-changed',
  'counter-back',
  'codes-wrong',
  'app-ended',
  'organization-joined',
] as const

export type NoticeKind = (typeof NOTICE_KINDS)[number]

/** `invitation`, `reset`: a link. `code`: the code that proves an address. `notice`: no secret. */
export type MailPurpose = 'invitation' | 'reset' | 'code' | 'notice'

/** Identifies a mail. */
export interface MailKey {
  readonly userId: UserId
  readonly id: MailId
}

/**
 * A mail that waits to be sent. It has no secret: the token of a link and the digits of a code are derived from its id under the master
 * key at the time of sending. The operation that causes the mail stores it, so a crash loses none. It is removed when the mail server has
 * accepted it, or when it is given up.
 */
export interface MailRecord extends MailKey {
  readonly purpose: MailPurpose
  /** undefined: the purpose is another one. */
  readonly notice: NoticeKind | undefined
  /** The address of the recipient. It stays the same if the user changes the own address. */
  readonly address: string
  readonly language: Language
  /** The browser in which it was caused. undefined: an unknown one, or the operator. */
  readonly agent: Agent | undefined
  /** When it was caused. */
  readonly happenedAt: EpochMs
  /** When it is sent next. */
  readonly dueAt: EpochMs
  /** Attempts so far, also interrupted ones. */
  readonly attempts: number
  /** When it is given up: the end of its link or code; a notice is tried for a week. */
  readonly expiresAt: EpochMs
}

/** A mail as its caller read it. */
export type DueMail = MailKey & Pick<MailRecord, 'dueAt'>
