import type { MailId } from '../protocol/ids.ts'
import type { MailRecord } from './records/mail.ts'

/** What a mail says. Of a secret, what was derived from the mail. */
export type MailContent =
  | {
      readonly kind: 'invitation' | 'reset'
      /** The address of the page of the link. */
      readonly link: string
      readonly validSeconds: number
      /** The name of the one that invites. undefined: the server alone does. */
      readonly organization: string | undefined
    }
  | { readonly kind: 'code'; readonly code: string; readonly validSeconds: number }
  | (Pick<MailRecord, 'agent' | 'happenedAt'> & {
      readonly kind: 'notice'
      readonly notice: NonNullable<MailRecord['notice']>
      /** The name of the one that the account joined. undefined: the notice is about no organization, or about one that ended. */
      readonly organization: string | undefined
      /** Where the user sees and changes the sign-in methods. */
      readonly securityUri: string
    })
  | { readonly kind: 'test' }

/** What a mail is made of. */
export interface MailModel extends Pick<MailRecord, 'address' | 'language'> {
  readonly content: MailContent
}

/** A mail as the mail server gets it. */
export interface OutgoingMail {
  /** Makes the `Message-ID`, which is the same for all attempts, so that a mailbox can drop a repeated one. */
  readonly id: string
  readonly to: string
  /** Only texts of this server and of the operator. */
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly language: MailRecord['language']
}

/**
 * Why a mail was not accepted.
 *
 * - `address-invalid`: it is no address that mail can be sent to; nothing was sent.
 * - `smtputf8-missing`: the local part of the address, or of the sender, is not ASCII, and the server takes none such; nothing was sent.
 * - `unreachable`: no connection, or it ended.
 * - `timeout`: the server did not answer in time, or not to the end.
 * - `tls-failed`: the server has no TLS, or its certificate is not valid for its name.
 * - `login-refused`: it refused the user or the password, or offers no login.
 * - `deferred`: it wants to be asked later (4xx).
 * - `refused`: it will not take this mail at any time (5xx).
 */
export type SendFailure =
  | 'address-invalid'
  | 'smtputf8-missing'
  | 'unreachable'
  | 'timeout'
  | 'tls-failed'
  | 'login-refused'
  | 'deferred'
  | 'refused'

export type SendOutcome =
  /** `answer`: the line of the server. It may have the address, so it is for the operator who asked, never for the log. */
  | { readonly kind: 'accepted'; readonly answer: string }
  | {
      readonly kind: 'failed'
      readonly reason: SendFailure
      /** No other attempt can succeed. */
      readonly isFinal: boolean
      /** The reply code of the server, such as 550. undefined: it sent none. */
      readonly code: number | undefined
      readonly answer: string
    }

/** The way to the mail server. Absent: mail is off. */
export interface Mailing {
  /** Hands a mail over to the mail server. Never rejects. It takes no longer than the lease of a mail. */
  readonly send: (id: MailId, mail: MailModel, signal: AbortSignal) => Promise<SendOutcome>
  /** Sends a mail that says that mail works, at once. */
  readonly test: (address: string) => Promise<SendOutcome>
  /** Runs what a request causes after its answer is sent, so that the time of the answer says nothing about it. */
  readonly afterAnswer: (work: () => Promise<void>) => void
  /** Resolves when no such work is left. */
  readonly settled: () => Promise<void>
}

/** The mail server of the operator. */
export interface MailServer {
  readonly host: string
  readonly port: number
  /** TLS from the first byte. false: STARTTLS, which is required unless the server is on this machine. */
  readonly isTls: boolean
  /** undefined: the server takes mail without a login. */
  readonly login: { readonly user: string; readonly password: string } | undefined
}

/** From whom all mails are. */
export interface MailSender {
  readonly name: string | undefined
  readonly address: string
}
