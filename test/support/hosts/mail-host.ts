import { createServer, type Socket } from 'node:net'
import { EventEmitter, once } from 'node:events'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import type { Context } from '../../../src/ports/context.ts'
import { openMailer } from '../../../src/server/background/mailer.ts'

/** A mail as the mail server received it. */
export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  /** The lines of the header, unfolded; of a name that comes twice both. */
  readonly headers: readonly string[]
  readonly text: string
  readonly html: string
}

/** What the server answers to a command, instead of accepting it: a line, or nothing (`''`). undefined: what is usual. */
export type Behaviour = (command: string, socket: Socket) => string | undefined

/** A mail server on this machine that keeps what it receives. */
export interface MailHost {
  readonly port: number
  readonly mails: readonly ReceivedMail[]
  /** Waits for a mail to the address, which a server that listens may be sending by itself. */
  readonly arrival: (address: string) => Promise<void>
  /** The commands so far, and connections as `connection`. */
  readonly commands: readonly string[]
  /** From now on. undefined: everything is accepted. */
  readonly behave: (behaviour: Behaviour | undefined) => void
  /** The settings with which a server sends its mail here. */
  readonly env: Readonly<Record<string, string>>
}

/** Opens a server that speaks as much of RFC 5321 as a client needs, and of PLAIN and LOGIN nothing. */
export async function openMailHost(test: Pick<TestContext, 'after'>): Promise<MailHost> {
  const mails: ReceivedMail[] = []
  const commands: string[] = []
  const sockets = new Set<Socket>()
  const arrivals = new EventEmitter()
  let behaviour: Behaviour | undefined

  async function converse(socket: Socket): Promise<void> {
    let envelope = { from: '', to: [] as string[] }
    const answer = (command: string, usual: string): void => {
      commands.push(command)
      const other = behaviour?.(command, socket)
      if (other !== '') socket.write(`${other ?? usual}\r\n`)
    }
    answer('connection', '220 mail.test')
    let data: string[] | undefined
    for await (const line of createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (data !== undefined) {
        if (line !== '.') data.push(line.startsWith('..') ? line.slice(1) : line)
        else {
          const mail = { ...envelope, ...parseMessage(data) }
          data = undefined
          // A mail that is refused was not received.
          const before = commands.length
          answer('message', '250 kept')
          if (behaviour?.(commands[before] ?? '', socket) === undefined) mails.push(mail)
          arrivals.emit('mail')
        }
        continue
      }
      const command = line.toUpperCase()
      if (command.startsWith('EHLO')) answer(line, '250-mail.test\r\n250-8BITMIME\r\n250 SMTPUTF8')
      else if (command.startsWith('MAIL FROM:')) {
        envelope = { from: addressIn(line), to: [] }
        answer(line, '250 ok')
      } else if (command.startsWith('RCPT TO:')) {
        envelope.to.push(addressIn(line))
        answer(line, '250 ok')
      } else if (command === 'DATA') {
        data = []
        answer(line, '354 go on')
      } else if (command === 'QUIT') {
        answer(line, '221 bye')
        socket.end()
      } else answer(line, '502 unknown')
    }
  }

  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    void converse(socket).catch(() => undefined)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = address === null || typeof address === 'string' ? 0 : address.port
  test.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    port,
    mails,
    async arrival(recipient) {
      const signal = AbortSignal.timeout(10_000)
      while (!mails.some(({ to }) => to.includes(recipient))) await once(arrivals, 'mail', { signal })
    },
    commands,
    behave: (other) => void (behaviour = other),
    env: { GRANTOR_SMTP_URL: `smtp://127.0.0.1:${port}`, GRANTOR_MAIL_FROM: 'Acme <no-reply@acme.test>' },
  }
}

/** Waits for what requests cause after their answers, and sends what is due now, as the node that holds the lease does each second. */
export async function deliver({ context }: { readonly context: Context }): Promise<void> {
  const { mail } = context
  if (mail === undefined) throw new Error('The server sends no mail.')
  await mail.settled()
  const failed = (entry: object): void => {
    throw new Error('The mailer failed.', { cause: entry })
  }
  const mailer = openMailer({ ...context, mail }, { error: failed, warn: failed })
  await mailer.round()
  await mailer.idle()
}

function addressIn(line: string): string {
  return /<(.*)>/.exec(line)?.[1] ?? ''
}

/** Reads a message of two alternatives, as this server sends them. */
function parseMessage(lines: readonly string[]): Pick<ReceivedMail, 'headers' | 'text' | 'html'> {
  const message = lines.join('\n')
  const boundary = /boundary="([^"]+)"/.exec(message)?.[1] ?? ''
  const [head = '', ...parts] = message.split(`\n--${boundary}`)
  const partOf = (type: string): string => decodePart(parts.find((part) => part.includes(`Content-Type: ${type}`)))
  return {
    headers: head
      .replaceAll(/\n[ \t]+/g, ' ')
      .split('\n')
      .filter((line) => line !== ''),
    text: partOf('text/plain'),
    html: partOf('text/html'),
  }
}

function decodePart(part = ''): string {
  const end = part.indexOf('\n\n')
  const [head, body] = [part.slice(0, end).toLowerCase(), part.slice(end + 2)]
  if (head.includes('transfer-encoding: base64')) return Buffer.from(body, 'base64').toString()
  if (!head.includes('quoted-printable')) return body
  const bytes = body
    .replaceAll(/=\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}

/** The address of the link in the newest mail to an address. */
export function mailedLinkTo(host: MailHost, address: string): string {
  return mailedTo(host, address, /^https?:\S+\/account\/link\?token=\S+$/m)
}

/** The code in the newest mail to an address. */
export function mailedCodeTo(host: MailHost, address: string): string {
  return mailedTo(host, address, /^\d{4} \d{4}$/m)
}

function mailedTo({ mails }: MailHost, address: string, pattern: RegExp): string {
  const newest = mails.findLast(({ to }) => to.includes(address))
  const [found] = pattern.exec(newest?.text ?? '') ?? []
  if (found === undefined) throw new Error(`No mail to ${address} has ${pattern.source}: ${newest?.text}`)
  return found
}
