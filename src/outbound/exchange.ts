import type { LookupAddress } from 'node:dns'
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { parseMediaType } from '../base/message.ts'
import type { OutboundFailure } from '../ports/outbound.ts'

/** One request over one connection. */
export interface Exchange {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  /** The addresses that were evaluated. The connection goes to one of them, and no name is resolved again. */
  readonly addresses: readonly LookupAddress[]
  /** Judges the address of the peer again, once it is connected. */
  readonly isAllowed: (address: string) => boolean
  readonly headers: Readonly<Record<string, string>>
  /** The body of a POST. */
  readonly body: string | undefined
  /**
   * Which answers are accepted: those with status 200, also those that refuse the request, or those with status 200 or 204, whose body
   * is not read.
   */
  readonly accepts: 'success' | 'refusals-too' | 'acknowledgement'
  /** Bytes of the body of the answer. */
  readonly bodyLimit: number
  /** Aborted when the answer must be complete. */
  readonly signal: AbortSignal
}

export type ExchangeOutcome =
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly headers: IncomingHttpHeaders
      readonly body: Buffer
    }
  | { readonly kind: 'not-modified'; readonly headers: IncomingHttpHeaders }
  | OutboundFailure

/** This process can send no further request now. Those that are under way end within seconds. */
export const BUSY = { kind: 'limited', reason: 'busy', retryAfterSeconds: 5 } as const
/** The process has as many open files as it may have, which callers cause with their connections. */
const NO_FILES: ReadonlySet<string | undefined> = new Set(['EMFILE', 'ENFILE'])
/** Bytes of all response headers. A longer header section ends the connection. */
const HEADER_LIMIT = 16_384
const JSON_TYPE = /^application\/(?:json|.+\+json)$/
/** Statuses that say "not now". Networks in front of a site refuse programs with 403 while they suspect an attack. */
const FOR_NOW: ReadonlySet<number> = new Set([403, 408, 425, 429])
/** Redirects and statuses that say "not now" were rejected before. */
const IS_ACCEPTED: Readonly<Record<Exchange['accepts'], (status: number) => boolean>> = {
  success: (status) => status === 200,
  'refusals-too': (status) => status >= 200,
  acknowledgement: (status) => status === 200 || status === 204,
}

/**
 * Sends a request, and reads at most `bodyLimit` bytes of the answer. Redirects are not followed. Whatever happens, the
 * connection is closed afterwards.
 */
export function exchange(planned: Exchange): Promise<ExchangeOutcome> {
  const { signal } = planned
  return new Promise((resolve) => {
    const sent = send(planned)
    let isConnected = false
    const timeOut = (): void => end({ kind: 'unreachable', reason: 'timeout' })
    function end(outcome: ExchangeOutcome): void {
      signal.removeEventListener('abort', timeOut)
      resolve(outcome)
      sent.destroy()
    }
    signal.addEventListener('abort', timeOut, { once: true })
    sent.on('socket', (socket) => {
      socket.once('connect', () => {
        if (!planned.isAllowed(socket.remoteAddress ?? '')) end({ kind: 'unacceptable', reason: 'address' })
      })
      socket.once(planned.url.protocol === 'https:' ? 'secureConnect' : 'connect', () => (isConnected = true))
    })
    sent.on('response', (response) => {
      const outcome = checkHead(response, planned)
      if (outcome === undefined) readBody(response, planned.bodyLimit, end)
      else end(outcome)
    })
    // Node.js hands the socket of a 101 over without listeners, and does not close it with the request. A reset would then end
    // the process.
    sent.on('upgrade', (_response, socket) => {
      socket.on('error', () => undefined)
      socket.destroy()
      end({ kind: 'unacceptable', reason: 'status', detail: '101' })
    })
    sent.on('error', (cause) => end(faultOf(cause, isConnected)))
    sent.on('close', () =>
      end({ kind: 'unreachable', reason: isConnected ? 'connection-closed' : 'connection-failed' }),
    )
    sent.end(planned.body)
  })
}

function send({ method, url, addresses, headers }: Exchange): ClientRequest {
  const isTls = url.protocol === 'https:'
  // Read at the first request: most servers never make one, and these modules take memory.
  const { request } = isTls ? process.getBuiltinModule('node:https') : process.getBuiltinModule('node:http')
  return request(url, {
    method,
    headers,
    // A connection of its own, without the proxy of the environment and without the sockets of other requests.
    agent: false,
    lookup: (_host, _options, done) => process.nextTick(done, null, addresses),
    maxHeaderSize: HEADER_LIMIT,
    // Stated, because NODE_TLS_REJECT_UNAUTHORIZED would change the default.
    rejectUnauthorized: true,
  })
}

/** Returns the outcome of an answer whose body is not read; undefined: the body is read. */
function checkHead(response: IncomingMessage, planned: Exchange): ExchangeOutcome | undefined {
  const { statusCode: status = 0, headers } = response
  if (status === 304 && planned.headers['If-None-Match'] !== undefined) return { kind: 'not-modified', headers }
  if (status >= 300 && status < 400) return { kind: 'unacceptable', reason: 'redirect' }
  if (status >= 500 || FOR_NOW.has(status)) return { kind: 'unreachable', reason: 'status', detail: String(status) }
  if (!IS_ACCEPTED[planned.accepts](status)) return { kind: 'unacceptable', reason: 'status', detail: String(status) }
  if (planned.accepts === 'acknowledgement') return { kind: 'answered', status, headers, body: Buffer.alloc(0) }
  const isPlain = headers['content-encoding'] === undefined || headers['content-encoding'] === 'identity'
  if (!isPlain || !JSON_TYPE.test(parseMediaType(headers['content-type'] ?? '')?.name ?? ''))
    return { kind: 'unacceptable', reason: 'content-type' }
  return Number(headers['content-length'] ?? 0) > planned.bodyLimit ? TOO_LARGE : undefined
}

const TOO_LARGE: ExchangeOutcome = { kind: 'unacceptable', reason: 'too-large' }

function readBody(response: IncomingMessage, limit: number, end: (outcome: ExchangeOutcome) => void): void {
  const chunks: Buffer[] = []
  let length = 0
  response.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length > limit) end(TOO_LARGE)
    else chunks.push(chunk)
  })
  response.on('error', (cause) => end(faultOf(cause, true)))
  response.on('end', () => {
    const { statusCode: status = 0, headers } = response
    end({ kind: 'answered', status, headers, body: Buffer.concat(chunks) })
  })
}

function faultOf(cause: NodeJS.ErrnoException, isConnected: boolean): ExchangeOutcome {
  const { code } = cause
  if (NO_FILES.has(code)) return { ...BUSY, detail: code }
  if (code?.startsWith('HPE_') === true) return { kind: 'unacceptable', reason: 'malformed', detail: code }
  const reason = isConnected ? 'connection-closed' : 'connection-failed'
  return { kind: 'unreachable', reason, ...(code === undefined ? {} : { detail: code }) }
}
