import type { SendMailOptions } from 'nodemailer'
import type { MailSender, MailServer, OutgoingMail, SendFailure, SendOutcome } from '../ports/mail.ts'
import { isMailAddress } from '../protocol/sign-in/email-address.ts'
import { leadsToThisComputer } from '../protocol/uri/loopback.ts'

/** Times in milliseconds. */
export interface MailLimits {
  /** Until the connection is open, with the look-up of its name. */
  readonly connectMs: number
  readonly greetingMs: number
  /** Between two bytes of the server. */
  readonly idleMs: number
  /** The whole exchange, however often the server sends a byte. Less than the lease of a mail. */
  readonly wholeMs: number
}

export const MAIL_LIMITS: MailLimits = { connectMs: 8000, greetingMs: 5000, idleMs: 8000, wholeMs: 20_000 }

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

/** The way to a mail server. Neither function rejects. */
export interface MailClient {
  readonly send: (mail: OutgoingMail, signal: AbortSignal) => Promise<SendOutcome>
  /** Connects and logs in, and sends nothing. */
  readonly probe: () => Promise<SendOutcome>
}

/**
 * Opens the way to a mail server (RFC 5321). Each mail has a connection of its own. It is encrypted, with a certificate that is valid for
 * the name of the server, unless the server is on this machine. `issuerHost`: how this server calls itself.
 */
export function openMailClient(
  server: MailServer,
  from: MailSender,
  issuerHost: string,
  { connectMs, greetingMs, idleMs, wholeMs }: MailLimits,
): MailClient {
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
    connectionTimeout: connectMs,
    dnsTimeout: connectMs,
    greetingTimeout: greetingMs,
    socketTimeout: idleMs,
    socketCloseTimeout: CLOSE_MS,
    maxResponseSize: ANSWER_LIMIT,
    disableFileAccess: true,
    disableUrlAccess: true,
  }

  return {
    async send(mail, signal) {
      if (!isMailAddress(mail.to)) return failed('address-invalid', true)
      // Loaded with the first mail: it takes about 10 MB.
      const { createTransport } = await import('nodemailer')
      const whole = AbortSignal.any([signal, AbortSignal.timeout(wholeMs)])
      try {
        if (needsUtf8(mail.to) || needsUtf8(from.address)) {
          // nodemailer would send the address to any server.
          const answer = await greet(whole, { logsIn: false })
          if (!/[ -]SMTPUTF8\b/i.test(answer)) return failed('smtputf8-missing', needsUtf8(mail.to))
        }
        const message = { ...messageOf(mail, from, issuerHost), signal: whole }
        const { response } = await createTransport(options).sendMail(message)
        return { kind: 'accepted', answer: response }
      } catch (cause) {
        return explain(cause as MailError)
      }
    },
    async probe() {
      try {
        await greet(AbortSignal.timeout(wholeMs), { logsIn: true })
        return { kind: 'accepted', answer: '' }
      } catch (cause) {
        return explain(cause as MailError)
      }
    },
  }

  /** Connects, logs in if the server wants that, and sends nothing. Returns what the server answered to EHLO: the extensions that it has. */
  async function greet(whole: AbortSignal, { logsIn }: { readonly logsIn: boolean }): Promise<string> {
    const { default: SMTPConnection } = await import('nodemailer/lib/smtp-connection')
    const connection = new SMTPConnection(options)
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const abort = (): void => reject(Object.assign(new Error('It takes too long.'), { code: 'EABORT' }))
    whole.addEventListener('abort', abort)
    connection.on('error', reject)
    connection.connect((cause) => {
      const extensions = String(connection.lastServerResponse)
      const answered = (failure?: Error | null): void => (failure == null ? resolve(extensions) : reject(failure))
      if (cause || login === undefined || !logsIn) answered(cause)
      else connection.login({ credentials: { user: login.user, pass: login.password } }, answered)
    })
    try {
      return await promise
    } finally {
      whole.removeEventListener('abort', abort)
      connection.close()
    }
  }
}

/** RFC 6531 §3.2: whether an address may be sent only to a server that announces SMTPUTF8. A domain has a form in ASCII. */
function needsUtf8(address: string): boolean {
  return /[^\0-\x7f].*@/.test(address)
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
