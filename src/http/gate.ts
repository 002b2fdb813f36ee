import type { IncomingMessage } from 'node:http'
import type { Endpoint } from '../endpoints/index.ts'
import { invalidRequest, unavailable } from '../protocol/errors.ts'
import type { Proxies } from './proxies.ts'
import { limitFor, openShares } from './shares.ts'

/** Whether a request may come in, by its network's share of what is under way. */
export interface Gate {
  /**
   * Before anything of the request is read but its headers.
   *
   * @throws OAuthError invalid_request, temporarily_unavailable
   */
  readonly check: (message: IncomingMessage, network: string, endpoint: Pick<Endpoint, 'plain' | 'vital'>) => void
  /**
   * Counts a request while its body is read, until `endBody`.
   *
   * @throws OAuthError temporarily_unavailable, before anything of the body is read
   */
  readonly beginBody: (network: string) => void
  readonly endBody: (network: string) => void
  /**
   * Counts a request as under way, until it leaves. Asked again, because others may have entered while the body came.
   *
   * @throws OAuthError temporarily_unavailable
   */
  readonly enter: (network: string, endpoint: Pick<Endpoint, 'vital'>) => void
  readonly leave: (network: string) => void
}

export interface GateOptions {
  readonly issuer: string
  readonly proxies: Proxies
}

/**
 * Requests under way at a time, of a network that is alone. One that comes when there are more is refused, which takes
 * little time: its answer would come too late for its caller, because this many take about fifty milliseconds.
 */
const BUSY_LIMIT = limitFor(500)
/** The same for what is shed last. */
const VITAL_LIMIT = limitFor(2000)
/** Requests of a network that is alone whose bodies are still coming. They cost no time, but up to 16 KiB each. */
const BODIES_LIMIT = limitFor(2000)
const RETRY_SECONDS = 1
/** Made once: an error notes where it was made, and that takes an eighth of the time of a refusal. */
const OVERLOADED = unavailable('overloaded', RETRY_SECONDS)

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/

/**
 * Refuses plain HTTP from outside for an https issuer: secrets went over the wire then, and an answer that works would hide
 * it (threats.md NET-01; RFC 9700 §2.6). Refuses also what comes while there is more to do than can be done soon, or more of
 * the request's network than its share (threats.md NET-17).
 */
export function openGate({ issuer, proxies }: GateOptions): Gate {
  const isHttps = issuer.startsWith('https:')
  const underWay = openShares()
  const bodies = openShares()

  function requireRoom(network: string, vital: true | undefined): void {
    if (!underWay.hasRoom(network, vital === true ? VITAL_LIMIT : BUSY_LIMIT)) throw OVERLOADED
  }

  return {
    check(message, network, { plain, vital }) {
      requireRoom(network, vital)
      if (isHttps && plain !== true && !cameByTls(message, proxies)) throw invalidRequest('insecure_transport')
    },
    beginBody(network) {
      if (!bodies.hasRoom(network, BODIES_LIMIT)) throw OVERLOADED
      bodies.add(network)
    },
    endBody: (network) => bodies.remove(network, 1),
    enter(network, { vital }) {
      requireRoom(network, vital)
      underWay.add(network)
    },
    leave: (network) => underWay.remove(network, 1),
  }
}

/** A trusted proxy says how the request came to it; a process on this machine is not across a wire. */
function cameByTls(message: IncomingMessage, proxies: Proxies): boolean {
  const said = proxies.forwarded(message, 'x-forwarded-proto')
  return said === undefined ? LOOPBACK.test(message.socket.remoteAddress ?? '') : said === 'https'
}
