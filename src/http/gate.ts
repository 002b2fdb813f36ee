import type { IncomingMessage } from 'node:http'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { invalidRequest, unavailable } from '../protocol/errors.ts'
import { LOOPBACK } from './network.ts'
import type { Proxies } from './proxies.ts'
import { limitFor, openShares } from '../base/shares.ts'

/** Admits or refuses a request, by its transport and by how many requests of its network are being processed. */
export interface Gate {
  /** Whether the issuer allows plain HTTP, or TLS protected the request. */
  readonly isSecure: (message: IncomingMessage) => boolean
  /**
   * Checks a request of which only the headers have been read.
   *
   * @throws OAuthError invalid_request, temporarily_unavailable
   */
  readonly check: (
    message: IncomingMessage,
    network: string,
    endpoint: Pick<Endpoint, 'allowInsecure' | 'priority' | 'withoutStore'>,
  ) => void
  /**
   * Counts a request while its body is read, until `endBody`.
   *
   * @throws OAuthError temporarily_unavailable, before anything of the body is read
   */
  readonly beginBody: (network: string) => void
  readonly endBody: (network: string) => void
  /**
   * Counts a request as being processed, until `leave`. Checks for room again, because other requests may have entered while
   * the body arrived.
   *
   * @throws OAuthError temporarily_unavailable
   */
  readonly enter: (network: string, endpoint: Pick<Endpoint, 'priority'>) => void
  readonly leave: (network: string) => void
}

export interface GateOptions {
  readonly issuer: string
  readonly proxies: Proxies
  readonly hasStoreGoneBack: () => boolean
}

/**
 * Requests that are processed at a time when only one network sends any. They take about fifty milliseconds. A request beyond
 * the limit is refused, which takes little time, because its answer would come too late for the caller.
 */
const BUSY_LIMIT = limitFor(500)
/** The same for endpoints of high priority. */
const HIGH_PRIORITY_LIMIT = limitFor(2000)
/** Requests whose bodies are still arriving, when only one network sends any. They take no time, but up to 16 KiB each, or 256 KiB of an administrator. */
const BODIES_LIMIT = limitFor(2000)
const RETRY_SECONDS = 1
/** Created once: recording the stack of an error takes an eighth of the time of a refusal. */
const OVERLOADED = unavailable('overloaded', RETRY_SECONDS)
/** An operator has to answer first, which takes a while. */
const WENT_BACK = unavailable('store_went_back', 10)

/**
 * Opens a gate that refuses three kinds of requests.
 *
 * - Plain HTTP from another machine when the issuer is https: the request's secrets crossed the network unencrypted, and a
 *   successful answer would hide that (threats.md NET-01; RFC 9700 §2.6).
 * - Requests to a store that may have been restored by other means, until the operator has answered (threats.md BAK-07).
 * - Requests of a network that has used up its share of the requests being processed (threats.md NET-17).
 */
export function openGate({ issuer, proxies, hasStoreGoneBack }: GateOptions): Gate {
  const isHttps = issuer.startsWith('https:')
  const underWay = openShares()
  const bodies = openShares()

  function requireRoom(network: string, priority: 'high' | undefined): void {
    if (!underWay.hasRoom(network, priority === 'high' ? HIGH_PRIORITY_LIMIT : BUSY_LIMIT)) throw OVERLOADED
  }

  const isSecure = (message: IncomingMessage): boolean => !isHttps || cameByTls(message, proxies)

  return {
    isSecure,
    check(message, network, { allowInsecure, priority, withoutStore }) {
      requireRoom(network, priority)
      if (hasStoreGoneBack() && withoutStore !== true) throw WENT_BACK
      if (allowInsecure !== true && !isSecure(message)) throw invalidRequest('insecure_transport')
    },
    beginBody(network) {
      if (!bodies.hasRoom(network, BODIES_LIMIT)) throw OVERLOADED
      bodies.add(network)
    },
    endBody: (network) => bodies.remove(network, 1),
    enter(network, { priority }) {
      requireRoom(network, priority)
      underWay.add(network)
    },
    leave: (network) => underWay.remove(network, 1),
  }
}

/**
 * Whether TLS protected the request: as a trusted proxy forwarded it, because the server of a host speaks TLS, or because the request
 * came from this machine.
 */
function cameByTls(message: IncomingMessage, proxies: Proxies): boolean {
  const said = proxies.forwarded(message, 'x-forwarded-proto')
  if (said === undefined && isEncrypted(message)) return true
  return said === undefined ? LOOPBACK.test(message.socket.remoteAddress ?? '') : said === 'https'
}

/** Whether TLS protects the connection of the request. */
export function isEncrypted({ socket }: Pick<IncomingMessage, 'socket'>): boolean {
  return 'encrypted' in socket && socket.encrypted === true
}
