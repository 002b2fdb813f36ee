import type { NoticeKind } from '../../ports/records/mail.ts'

/** The texts of mails: plain texts, which the HTML escapes. A subject has no text of a user or a client, only the name of the server. */
export interface MailTexts {
  readonly invitationSubject: (brand: string) => string
  readonly invitation: (brand: string, address: string) => string
  readonly invitationButton: string
  readonly resetSubject: (brand: string) => string
  readonly reset: (brand: string, address: string) => string
  readonly resetConsequence: string
  readonly resetButton: string
  readonly codeSubject: (brand: string) => string
  readonly code: (brand: string, address: string) => string
  readonly codeValid: (span: string) => string
  readonly linkValid: (span: string) => string
  readonly unexpectedInvitation: string
  readonly unexpectedReset: string
  readonly unexpectedCode: string
  /** What happened to the account. The subject and the first line have it. */
  readonly notices: Readonly<Record<NoticeKind, string>>
  readonly account: string
  readonly when: string
  readonly browser: string
  readonly wasYou: TextsOfNotices
  readonly wasNotYou: TextsOfNotices
  readonly securityButton: string
  readonly testSubject: (brand: string) => string
  readonly test: (brand: string) => string
  readonly automatic: (brand: string) => string
}

/** A text for each kind of notice: its own, or the usual one. */
type TextsOfNotices = Readonly<Partial<Record<NoticeKind, string>>> & { readonly usual: string }
