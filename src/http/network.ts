import { isIPv4, isIPv6 } from 'node:net'

/** An address of this machine, as a socket reports it. */
export const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/

/** The one network of all addresses that cannot be parsed, so that different spellings share their limits. */
export const UNREADABLE_NETWORK = 'unreadable'

/**
 * What an IPv6 address begins with whose last 32 bits are an IPv4 address: mapped (RFC 4291 §2.5.5.2), translated (RFC 2765 §2.1, NAT64 of
 * RFC 6052 §2.1, and of RFC 8215 with a /96).
 */
const EMBEDDING: ReadonlySet<string> = new Set([
  '0,0,0,0,0,65535',
  '0,0,0,0,65535,0',
  '100,65435,0,0,0,0',
  '100,65435,1,0,0,0',
])
/** RFC 8215. A network chooses its prefix below this one, and where the IPv4 address is: each address is one caller. */
const LOCAL_TRANSLATION = '100,65435,1'
/** RFC 3056 and RFC 4380. The first has the IPv4 address of a site after its prefix, the second that of a NAT at its end, inverted. */
const [SIX_TO_FOUR, TEREDO] = ['8194', '8193,0']

/**
 * The network whose limits an address counts against: an IPv4 address, or the /64 of an IPv6 address, because one subscriber
 * has a whole /64. All spellings of an address give the same network (threats.md REG-19). An IPv6 address that is made of the IPv4 address of
 * its caller counts as that one: behind a translator all callers would be one /64, and a 6to4 site would be 65,536.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return isIPv4(address) ? address : UNREADABLE_NETWORK
  const mapped = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? UNREADABLE_NETWORK
  const groups = groupsOf(address)
  const embedded = findEmbedded(groups)
  if (embedded !== undefined) return embedded.flatMap((group) => [group >> 8, group & 255]).join('.')
  const named = groups.map((group) => group.toString(16))
  return beginsWith(groups, LOCAL_TRANSLATION) ? named.join(':') : `${named.slice(0, 4).join(':')}::/64`
}

/** The two halves of the IPv4 address that the groups of an IPv6 address have. */
function findEmbedded(groups: readonly number[]): readonly number[] | undefined {
  if (EMBEDDING.has(groups.slice(0, 6).join())) return groups.slice(6)
  if (beginsWith(groups, SIX_TO_FOUR)) return groups.slice(1, 3)
  return beginsWith(groups, TEREDO) ? groups.slice(6).map((group) => group ^ 0xffff) : undefined
}

function beginsWith(groups: readonly number[], prefix: string): boolean {
  return `${groups.join()},`.startsWith(`${prefix},`)
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
