import type { IncomingMessage } from 'node:http'
import type { Endpoint } from '../endpoints/index.ts'
import { invalidRequest } from '../protocol/errors.ts'
import type { Proxies } from './proxies.ts'

/** Whether a request may come in at all, before anything of it is read. */
export interface Gate {
  /** @throws OAuthError invalid_request */
  readonly check: (message: IncomingMessage, endpoint: Endpoint) => void
}

export interface GateOptions {
  readonly issuer: string
  readonly proxies: Proxies
}

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/

/**
 * Turns away plain HTTP from outside for an https issuer: secrets went over the wire then, and an answer that works would
 * hide it (threats.md NET-01; RFC 9700 §2.6).
 */
export function openGate({ issuer, proxies }: GateOptions): Gate {
  const isHttps = issuer.startsWith('https:')
  return {
    check(message, { plain }) {
      if (isHttps && plain !== true && !cameByTls(message, proxies)) throw invalidRequest('insecure_transport')
    },
  }
}

/** A trusted proxy says how the request came to it; a process on this machine is not across a wire. */
function cameByTls(message: IncomingMessage, proxies: Proxies): boolean {
  const said = proxies.forwarded(message, 'x-forwarded-proto')
  return said === undefined ? LOOPBACK.test(message.socket.remoteAddress ?? '') : said === 'https'
}
