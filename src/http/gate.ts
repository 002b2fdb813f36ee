import type { IncomingMessage } from 'node:http'
import type { Endpoint } from '../endpoints/index.ts'
import { invalidRequest, unavailable } from '../protocol/errors.ts'
import type { Proxies } from './proxies.ts'

/** Whether a request may come in at all, before anything of it is read. */
export interface Gate {
  /** @throws OAuthError invalid_request, temporarily_unavailable */
  readonly check: (message: IncomingMessage, endpoint: Pick<Endpoint, 'plain' | 'vital'>) => void
  /** Counts a request as under way, until it leaves. */
  readonly enter: () => void
  readonly leave: () => void
}

export interface GateOptions {
  readonly issuer: string
  readonly proxies: Proxies
}

/**
 * Requests under way at a time. One that comes when there are more is refused, which takes no time, because its answer would
 * come too late for whoever asks: this many take about fifty milliseconds.
 */
const BUSY_LIMIT = 500
/** The same for what is shed last. */
const VITAL_LIMIT = 2000
const RETRY_SECONDS = 1
/** Made once: an error notes where it was made, and that takes an eighth of the time of a refusal. */
const OVERLOADED = unavailable('overloaded', RETRY_SECONDS)

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/

/**
 * Turns away plain HTTP from outside for an https issuer: secrets went over the wire then, and an answer that works would
 * hide it (threats.md NET-01; RFC 9700 §2.6). And what comes while there is more to do than can be done soon.
 */
export function openGate({ issuer, proxies }: GateOptions): Gate {
  const isHttps = issuer.startsWith('https:')
  let underWay = 0
  return {
    check(message, { plain, vital }) {
      if (underWay >= (vital === true ? VITAL_LIMIT : BUSY_LIMIT)) throw OVERLOADED
      if (isHttps && plain !== true && !cameByTls(message, proxies)) throw invalidRequest('insecure_transport')
    },
    enter: () => void (underWay += 1),
    leave: () => void (underWay -= 1),
  }
}

/** A trusted proxy says how the request came to it; a process on this machine is not across a wire. */
function cameByTls(message: IncomingMessage, proxies: Proxies): boolean {
  const said = proxies.forwarded(message, 'x-forwarded-proto')
  return said === undefined ? LOOPBACK.test(message.socket.remoteAddress ?? '') : said === 'https'
}
