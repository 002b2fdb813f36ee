import type { SendMailOptions } from 'nodemailer'
import type { MailSender, MailServer, OutgoingMail, SendFailure, SendOutcome } from '../ports/mail.ts'
import { isMailAddress } from '../protocol/sign-in/mail-address.ts'
import { leadsToThisComputer } from '../protocol/uri/loopback.ts'

/** Until the connection is open, with the look-up of its name. */
const CONNECT_MS = 8000
const GREETING_MS = 5000
/** Between two bytes of the server. */
const IDLE_MS = 8000
/** The whole exchange, however often the server sends a byte. Less than the lease of a mail. */
const WHOLE_MS = 20_000
const CLOSE_MS = 1000
const ANSWER_LIMIT = 16_384

/** Returns why mail failed, of the error code of nodemailer. All others are of the connection. */
const FAILURES: Readonly<Record<string, SendFailure>> = {
  EABORT: 'timeout',
  ETIMEDOUT: 'timeout',
  ETLS: 'tls-failed',
  EAUTH: 'login-refused',
  ENOAUTH: 'login-refused',
  EENVELOPE: 'deferred',
  EMESSAGE: 'deferred',
}

/** Codes of Node.js for a failed handshake and certificates that are not valid. nodemailer reports them as errors of the socket. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|EPROTO|HOSTNAME/

/** An error of nodemailer. `command`: what the server had been sent: `RCPT TO`. */
interface MailError {
  readonly code?: string
  readonly command?: string
  readonly responseCode?: number
  readonly response?: string
  readonly permanent?: boolean
  /** The code of Node.js in whose place `code` is. */
  readonly originalCode?: string
  readonly message?: string
}

export type SendMail = (mail: OutgoingMail, signal: AbortSignal) => Promise<SendOutcome>

/**
 * Opens the way to a mail server (RFC 5321). Each mail has a connection of its own. It is encrypted, with a certificate that is valid for
 * the name of the server, unless the server is on this machine. `issuerHost`: how this server calls itself.
 */
export function openMailSender(server: MailServer, from: MailSender, issuerHost: string): SendMail {
  const { host, port, isTls, login } = server
  const isHere = leadsToThisComputer(host) || host === '::1'
  const options = {
    host,
    port,
    secure: isTls,
    requireTLS: !isTls && !isHere,
    // The certificate of a mail server of this machine is rarely one for its name, and no network is between.
    ignoreTLS: !isTls && isHere,
    ...(login === undefined ? {} : { auth: { user: login.user, pass: login.password }, forceAuth: true }),
    name: issuerHost,
    connectionTimeout: CONNECT_MS,
    dnsTimeout: GREETING_MS,
    greetingTimeout: GREETING_MS,
    socketTimeout: IDLE_MS,
    socketCloseTimeout: CLOSE_MS,
    maxResponseSize: ANSWER_LIMIT,
    disableFileAccess: true,
    disableUrlAccess: true,
  }

  return async (mail, signal) => {
    if (!isMailAddress(mail.to)) return failed('address-invalid', true)
    // Loaded with the first mail: it takes 6 MB.
    const { createTransport } = await import('nodemailer')
    const whole = AbortSignal.any([signal, AbortSignal.timeout(WHOLE_MS)])
    try {
      const { response } = await createTransport(options).sendMail({
        ...messageOf(mail, from, issuerHost),
        signal: whole,
      })
      return { kind: 'accepted', answer: response }
    } catch (cause) {
      return explain(cause as MailError)
    }
  }
}

function messageOf({ id, to, subject, text, html, language }: OutgoingMail, from: MailSender, issuerHost: string) {
  const sender = { name: from.name ?? '', address: from.address }
  return {
    // The addresses are members, which nothing parses as a list (threats.md ACC-11).
    from: sender,
    to: { name: '', address: to },
    envelope: { from: from.address, to: [to] },
    messageId: `<${id}@${issuerHost}>`,
    subject,
    text,
    html,
    headers: { 'Auto-Submitted': 'auto-generated', 'Content-Language': language },
  } satisfies SendMailOptions
}

function explain({
  code = '',
  command = '',
  originalCode = '',
  response,
  responseCode,
  permanent,
  message,
}: MailError): SendOutcome {
  const isCertificate = CERTIFICATE.test(originalCode)
  const known = isCertificate ? 'tls-failed' : (FAILURES[code] ?? 'unreachable')
  // A refused login, greeting or STARTTLS is about the configuration, which the operator can mend; the mail waits for it.
  const isAboutMail = /^(MAIL|RCPT|DATA)/.test(command) && known === 'deferred'
  const reason = isAboutMail && permanent === true ? 'refused' : known
  return { ...failed(reason, reason === 'refused'), code: responseCode, answer: response ?? message ?? '' }
}

function failed(reason: SendFailure, isFinal: boolean): Extract<SendOutcome, { readonly kind: 'failed' }> {
  return { kind: 'failed', reason, isFinal, code: undefined, answer: '' }
}
