import { isIPv4, isIPv6 } from 'node:net'

/** An address of this machine, as a socket reports it. */
export const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/

/** The one network of all addresses that cannot be parsed, so that different spellings share their limits. */
export const UNREADABLE_NETWORK = 'unreadable'

/** RFC 4291 §2.5.5.2: an IPv4-mapped address in hexadecimal. RFC 6052 §2.1: the address of an IPv4 caller behind NAT64. */
const EMBEDDING: ReadonlySet<string> = new Set(['0,0,0,0,0,65535', '100,65435,0,0,0,0'])

/**
 * The network whose limits an address counts against: an IPv4 address, or the /64 of an IPv6 address, because one subscriber
 * has a whole /64. All spellings of an address give the same network (threats.md REG-19).
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return isIPv4(address) ? address : UNREADABLE_NETWORK
  const mapped = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? UNREADABLE_NETWORK
  const groups = groupsOf(address)
  const [high = 0, low = 0] = groups.slice(6)
  // The last 32 bits are those of an IPv4 address.
  if (EMBEDDING.has(groups.slice(0, 6).join())) return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  const network = groups.slice(0, 4).map((group) => group.toString(16))
  return `${network.join(':')}::/64`
}

/**
 * The network whose budgets a request takes. Those that pages of other sites send have a name of their own: what a page does is not what
 * the people of the network do, and must not lock them out (threats.md BND-07).
 */
export function payingNetwork(network: string, site: string | undefined): string {
  return isOtherSite(site) ? `${network} pages` : network
}

/** `site`: `Sec-Fetch-Site`. `none`: a person typed the address, or opened a bookmark. Fetch Metadata §2.3. */
export function isOtherSite(site: string | undefined): boolean {
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}

/** The eight groups of an IPv6 address. The URL parser normalizes all spellings, without dots and leading zeros. */
function groupsOf(address: string): readonly number[] {
  const plain = new URL(`http://[${address.split('%', 1)[0]}]`).hostname.slice(1, -1)
  const [left = [], right = []] = plain.split('::', 2).map((half) => (half === '' ? [] : half.split(':')))
  const zeros = Array<string>(8 - left.length - right.length).fill('0')
  return [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16))
}
