import type { MailSender, MailServer } from '../ports/mail.ts'
import { isMailAddress } from '../protocol/sign-in/email-address.ts'
import type { SettingValues } from './schema.ts'

/** The mail server, and from whom mails are. */
export interface MailConfig {
  readonly server: MailServer
  readonly from: MailSender
}

const FORM = 'smtps://<user>:<password>@<host>:465 or smtp://<user>:<password>@<host>:587'
const ESCAPES = 'In a user or password @ : / ? # and % are written %40 %3A %2F %3F %23 and %25'
const PORTS: Readonly<Record<string, number>> = { 'smtps:': 465, 'smtp:': 587 }
/** `Acme <no-reply@acme.test>`, also with the name in quotation marks, or the address alone. */
const NAMED = /^(?:"([^"\\]*)"|([^"<>\\]*?)) *<([^<>]+)>$/
const NAME_LIMIT = 100

/** The settings of mail; undefined: there is none. */
export function mailOf({ GRANTOR_SMTP_URL: url, GRANTOR_MAIL_FROM: from }: SettingValues): MailConfig | undefined {
  const server = url === undefined ? undefined : readServer(url)
  const sender = from === undefined ? undefined : readSender(from)
  return server === undefined || sender === undefined ? undefined : { server, from: sender }
}

/** The mistakes in the settings of mail. They repeat nothing of the URL, which may contain a password. */
export function mailMistakes(settings: SettingValues): readonly string[] {
  const { GRANTOR_SMTP_URL: url, GRANTOR_MAIL_FROM: from, GRANTOR_DELEGATE_URL: delegate } = settings
  const mistakes: string[] = []
  if (url !== undefined && readServer(url) === undefined) mistakes.push(`GRANTOR_SMTP_URL must be ${FORM}. ${ESCAPES}`)
  if (from !== undefined && readSender(from) === undefined)
    mistakes.push('GRANTOR_MAIL_FROM must be an address such as no-reply@acme.test, or Acme <no-reply@acme.test>')
  if (url !== undefined && from === undefined) mistakes.push('GRANTOR_SMTP_URL needs GRANTOR_MAIL_FROM')
  if (url === undefined && from !== undefined) mistakes.push('GRANTOR_MAIL_FROM needs GRANTOR_SMTP_URL')
  if (url !== undefined && delegate !== undefined)
    mistakes.push('GRANTOR_SMTP_URL must not be set where your application signs users in: it sends their mail')
  return mistakes
}

function readServer(text: string): MailServer | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  const port = PORTS[url.protocol]
  const user = decode(url.username)
  const password = decode(url.password)
  // A character that is not escaped would move the host: the rest of the password would be a path or a query.
  const isWhole = /^\/?$/.test(url.pathname) && url.search === '' && url.hash === '' && url.hostname !== ''
  if (port === undefined || !isWhole || user === undefined || password === undefined) return undefined
  if ((user === '') !== (password === '')) return undefined
  return {
    host: url.hostname.replace(/^\[(.+)\]$/, '$1'),
    port: url.port === '' ? port : Number(url.port),
    isTls: url.protocol === 'smtps:',
    login: user === '' ? undefined : { user, password },
  }
}

/** undefined: an escape is incomplete. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function readSender(text: string): MailSender | undefined {
  const [, quoted, plain, named] = NAMED.exec(text.trim()) ?? []
  const address = named ?? text.trim()
  const name = (quoted ?? plain ?? '').trim()
  if (!isMailAddress(address) || name.length > NAME_LIMIT || /\p{Cc}/u.test(name)) return undefined
  return { name: name === '' ? undefined : name, address }
}
