import { Agent as PlainAgent, request as plainRequest, type IncomingMessage } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { isIP } from 'node:net'

/** A request to the issuer. */
export interface Sent {
  readonly url: URL
  /** `POST` if there is a body, otherwise `GET`. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly from?: Way
}

/** How a request gets to the issuer: as usual, to its second address (`--address`), or from another address of this machine. */
export type Way = 'usual' | 'second' | 'elsewhere'

export interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: string
  /** The members of the body; none if it is no JSON object. */
  readonly members: Readonly<Record<string, unknown>>
}

/** When the connection is cut: once the request has left this machine, or with the first byte of the answer. */
export type Moment = 'sent' | 'answered'

export interface Http {
  /** Sends a request and returns its answer. Follows no redirect. @throws Error without a complete answer within 10 s */
  readonly send: (sent: Sent) => Promise<Answer>
  /** Sends requests at once. A request without an answer is undefined. */
  readonly sendAtOnce: (all: readonly Sent[]) => Promise<readonly (Answer | undefined)[]>
  /** Sends a request, and cuts its connection. The answer is lost, or was never made. */
  readonly sendAndCut: (sent: Sent, moment: Moment) => Promise<void>
  readonly close: () => void
}

export interface HttpOptions {
  /** The second address of the issuer. */
  readonly second: URL | undefined
  /** The least time between two requests that are not sent at once. */
  readonly gapMs: number
}

const LIMIT_MS = 10_000
const BODY_LIMIT_BYTES = 1024 * 1024
/** More are never sent at once. */
export const AT_ONCE = 20
/** What is asked for to open a connection. RFC 8414 §3. */
const OPENING = '/.well-known/oauth-authorization-server'
/** An address of this machine, as Linux has them, that no other program of it uses by default. */
const ELSEWHERE = '127.0.0.3'

export function openHttp({ second, gapMs }: HttpOptions): Http {
  const kept = { keepAlive: true, maxSockets: AT_ONCE }
  const agents = { plain: new PlainAgent(kept), tls: new TlsAgent(kept) }
  let nextAt = 0

  async function pace(): Promise<void> {
    const waitMs = nextAt - performance.now()
    nextAt = Math.max(performance.now(), nextAt) + gapMs
    if (waitMs > 0) await new Promise((resolve) => void setTimeout(resolve, waitMs))
  }

  /** `moment`: when to cut; undefined: never. */
  function exchange(sent: Sent, moment: Moment | undefined): Promise<Answer | undefined> {
    const { url, headers = {}, body, from = 'usual' } = sent
    const place = from === 'second' && second !== undefined ? second : url
    const isTls = place.protocol === 'https:'
    const isOwn = moment !== undefined || from === 'elsewhere'
    const options = {
      host: from === 'elsewhere' ? '127.0.0.1' : place.hostname.replaceAll(/[[\]]/g, ''),
      port: place.port,
      method: sent.method ?? (body === undefined ? 'GET' : 'POST'),
      path: url.pathname + url.search,
      agent: isOwn ? false : isTls ? agents.tls : agents.plain,
      // RFC 6066 §3: no address.
      ...(isIP(url.hostname.replaceAll(/[[\]]/g, '')) === 0 ? { servername: url.hostname } : {}),
      headers: { host: url.host, 'user-agent': 'grantor-prove', accept: '*/*', ...headers },
      ...(from === 'elsewhere' ? { localAddress: ELSEWHERE } : {}),
    }
    return new Promise((resolve, reject) => {
      const outgoing = (isTls ? tlsRequest : plainRequest)(options, (incoming) => {
        if (moment !== undefined) return end()
        receive(incoming).then(resolve, reject)
      })
      const end = (): void => {
        resolve(undefined)
        outgoing.destroy()
      }
      outgoing.setTimeout(LIMIT_MS, () => outgoing.destroy(new Error(`no answer within ${LIMIT_MS / 1000} s`)))
      // After the cut, an error is expected.
      outgoing.on('error', reject)
      // One turn later the system has the bytes.
      if (moment === 'sent') outgoing.on('finish', () => setImmediate(end))
      outgoing.end(body)
    })
  }

  const attempt = (sent: Sent): Promise<Answer | undefined> => exchange(sent, undefined).catch(() => undefined)

  return {
    async send(sent) {
      await pace()
      const answer = await exchange(sent, undefined)
      if (answer === undefined) throw new Error('The connection was cut.')
      return answer
    },
    async sendAtOnce(all) {
      const few = all.slice(0, AT_ONCE)
      // Connections that are open already: opening them would put the requests one after another.
      await Promise.all(few.map(({ url, from }) => attempt({ url: new URL(OPENING, url), ...(from && { from }) })))
      return Promise.all(few.map(attempt))
    },
    async sendAndCut(sent, moment) {
      await pace()
      await exchange(sent, moment)
    },
    close() {
      agents.plain.destroy()
      agents.tls.destroy()
    },
  }
}

function receive(incoming: IncomingMessage): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let bytes = 0
    incoming.on('data', (part: Buffer) => {
      bytes += part.length
      if (bytes > BODY_LIMIT_BYTES) incoming.destroy(new Error('an answer of more than 1 MiB'))
      else parts.push(part)
    })
    incoming.on('error', reject)
    incoming.on('end', () => {
      const body = Buffer.concat(parts).toString('utf8')
      resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body, members: membersOf(body) })
    })
  })
}

function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
  } catch {
    return {}
  }
}

/** A status and an error code: neither the rest of an answer nor any value of it gets into a report. */
export function describeAnswer(answer: Answer | undefined): string {
  if (answer === undefined) return 'no answer'
  const { error } = answer.members
  return typeof error === 'string' && /^[a-z_]{1,60}$/.test(error) ? `${answer.status} ${error}` : `${answer.status}`
}
