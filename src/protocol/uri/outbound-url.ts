import { findHostFault, findPathFault, readUri } from './canonical-uri.ts'
import { isLoopbackHost } from './loopback.ts'

/** Where the server may send requests of its own. */
export interface OutboundPolicy {
  readonly issuer: string
  /** The ports of https URLs that may be requested. */
  readonly ports: readonly number[]
  /**
   * The ports on which this server listens, if the issuer is a loopback address: then URLs of this computer may be requested on
   * all other ports, with http too. undefined: URLs of this computer are refused.
   */
  readonly loopbackExcept: readonly number[] | undefined
}

/** Whether the server may request a URL. `reason` is the end of a sentence that begins with the URL. */
export type OutboundUrlVerdict =
  | { readonly kind: 'usable'; readonly url: URL }
  | { readonly kind: 'refused'; readonly reason: string }

/** The labels of a DNS name with at least one dot. The last label of an IPv4 address is a number. RFC 1123 §2.1. */
const DNS_NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)+(?!\d+$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 }

/**
 * Checks a URL that a client wants the server to request (threats.md OUT-10, OUT-11). This looks at the text alone: the address
 * of the host is checked when it is resolved.
 */
export function checkOutboundUrl(text: string, policy: OutboundPolicy): OutboundUrlVerdict {
  const reading = readUri(text)
  if (reading.kind === 'refused') return reading
  const { url } = reading
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refused('does not use https')
  const fault = findPathFault(reading) ?? findHostFault(reading)
  if (fault !== undefined) return refused(fault)
  if (url.href !== text) return refused('is not in its canonical form')
  const port = url.port === '' ? DEFAULT_PORTS[url.protocol] : Number(url.port)
  const portFault = isLoopbackHost(url.hostname) ? findLoopbackFault(port, policy) : findWebFault(url, port, policy)
  return portFault === undefined ? { kind: 'usable', url } : refused(portFault)
}

/**
 * Checks a URL of a provider at which users sign in. The hosts that the operator named may have private addresses, no dot, and any
 * port; on a loopback issuer also http. The other hosts come from the provider's metadata, so they are checked as those of clients
 * are (threats.md UP-14).
 */
export function checkProviderUrl(
  text: string,
  policy: OutboundPolicy,
  privateHosts: readonly string[],
): OutboundUrlVerdict {
  const reading = readUri(text)
  if (reading.kind === 'refused') return reading
  const { url } = reading
  if (!privateHosts.includes(url.hostname)) return checkOutboundUrl(url.href, policy)
  const isLocal = policy.loopbackExcept !== undefined && isLoopbackHost(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal)) return refused('does not use https')
  if (url.origin === new URL(policy.issuer).origin) return refused('leads to this server itself')
  return { kind: 'usable', url }
}

function findLoopbackFault(port: number | undefined, { loopbackExcept }: OutboundPolicy): string | undefined {
  if (loopbackExcept === undefined) return 'leads to this computer'
  return port === undefined || loopbackExcept.includes(port) ? 'leads to this server itself' : undefined
}

function findWebFault(url: URL, port: number | undefined, { issuer, ports }: OutboundPolicy): string | undefined {
  if (url.protocol !== 'https:') return 'does not use https'
  if (!DNS_NAME.test(url.hostname)) return 'has a host that is not a DNS name with a dot'
  // A document of this server could name the server again, and each request would cause another one.
  if (url.hostname === new URL(issuer).hostname) return 'leads to this server itself'
  return port === undefined || !ports.includes(port)
    ? 'has a port that GRANTOR_OUTBOUND_PORTS does not name'
    : undefined
}

function refused(reason: string): OutboundUrlVerdict {
  return { kind: 'refused', reason }
}
