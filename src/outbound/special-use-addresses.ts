import { BlockList, isIP } from 'node:net'

/** A range of addresses with a special use. */
export interface SpecialUseRange {
  /** CIDR notation. */
  readonly range: string
  readonly use: string
  readonly source: string
}

/**
 * Addresses that the server never connects to: the registries of special-purpose addresses (RFC 6890; IANA, "IPv4/IPv6
 * Special-Purpose Address Registry"), and multicast. Ranges of these registries that are reachable worldwide are refused too if
 * they lie within a wider range of the list: no web server has such an address.
 */
export const SPECIAL_USE_RANGES: readonly SpecialUseRange[] = [
  { range: '0.0.0.0/8', use: 'this network', source: 'RFC 791 §3.2' },
  { range: '10.0.0.0/8', use: 'private use', source: 'RFC 1918' },
  { range: '100.64.0.0/10', use: 'shared address space of carriers', source: 'RFC 6598' },
  { range: '127.0.0.0/8', use: 'loopback', source: 'RFC 1122 §3.2.1.3' },
  { range: '169.254.0.0/16', use: 'link local, and the metadata services of clouds', source: 'RFC 3927' },
  { range: '172.16.0.0/12', use: 'private use', source: 'RFC 1918' },
  { range: '192.0.0.0/24', use: 'IETF protocol assignments', source: 'RFC 6890 §2.1' },
  { range: '192.0.2.0/24', use: 'documentation', source: 'RFC 5737' },
  { range: '192.31.196.0/24', use: 'AS112', source: 'RFC 7535' },
  { range: '192.52.193.0/24', use: 'multicast tunneling', source: 'RFC 7450' },
  { range: '192.88.99.0/24', use: '6to4 relays', source: 'RFC 7526' },
  { range: '192.168.0.0/16', use: 'private use', source: 'RFC 1918' },
  { range: '192.175.48.0/24', use: 'AS112', source: 'RFC 7534' },
  { range: '198.18.0.0/15', use: 'benchmarks', source: 'RFC 2544' },
  { range: '198.51.100.0/24', use: 'documentation', source: 'RFC 5737' },
  { range: '203.0.113.0/24', use: 'documentation', source: 'RFC 5737' },
  { range: '224.0.0.0/4', use: 'multicast', source: 'RFC 5771' },
  { range: '240.0.0.0/4', use: 'reserved, and limited broadcast', source: 'RFC 1112 §4, RFC 919 §7' },
  { range: '::/128', use: 'unspecified', source: 'RFC 4291 §2.5.2' },
  { range: '::1/128', use: 'loopback', source: 'RFC 4291 §2.5.3' },
  { range: '::/96', use: 'IPv4-compatible', source: 'RFC 4291 §2.5.5.1' },
  { range: '64:ff9b:1::/48', use: 'translation to IPv4 of one network', source: 'RFC 8215' },
  { range: '100::/64', use: 'discard', source: 'RFC 6666' },
  { range: '100:0:0:1::/64', use: 'dummy prefix', source: 'RFC 9780' },
  { range: '2001::/23', use: 'IETF protocol assignments, such as Teredo', source: 'RFC 2928' },
  { range: '2001:db8::/32', use: 'documentation', source: 'RFC 3849' },
  { range: '2002::/16', use: '6to4', source: 'RFC 3056' },
  { range: '2620:4f:8000::/48', use: 'AS112', source: 'RFC 7534' },
  { range: '3fff::/20', use: 'documentation', source: 'RFC 9637' },
  { range: '5f00::/16', use: 'segment routing', source: 'RFC 9602' },
  { range: 'fc00::/7', use: 'unique local', source: 'RFC 4193' },
  { range: 'fe80::/10', use: 'link local', source: 'RFC 4291 §2.5.6' },
  { range: 'fec0::/10', use: 'site local', source: 'RFC 3879' },
  { range: 'ff00::/8', use: 'multicast', source: 'RFC 4291 §2.7' },
]

/** The IPv6 addresses that are assigned to hosts of the internet. IANA, "IPv6 Global Unicast Address Assignments". */
const GLOBAL_UNICAST = '2000::/3'
/** IPv6 addresses whose last 32 bits are an IPv4 address, which decides: RFC 4291 §2.5.5.2 (mapped), RFC 6052 §2.1 (NAT64). */
const IPV4_EMBEDDING = ['::ffff:', '64:ff9b::']
/** RFC 8215. An operator may name a host that has such an address. */
const NAT64_OF_ONE_NETWORK = '64:ff9b:1::'

/** This network, link local, and the metadata services of AWS and Google Cloud, whose IPv6 addresses are unique local ones. */
const NEVER = ['0.0.0.0/8', '169.254.0.0/16', '::/128', 'fe80::/10', 'fd00:ec2::254/128', 'fd20:ce::254/128']

/** Made for the first address, because they take longer to make than most commands take, and these ask for none. */
let lists: ReturnType<typeof makeLists> | undefined

/** Whether an address belongs to a host of the internet, so that the server may connect to it (threats.md OUT-01). */
export function isPublicAddress(address: string): boolean {
  const { specialUse, routableIpv6 } = (lists ??= makeLists())
  return isOutside(specialUse, address) && (isIP(address) === 4 || routableIpv6.check(address, 'ipv6'))
}

/** Whether the server may connect to an address although it is not public, because the operator named its host. */
export function mayBePrivate(address: string): boolean {
  return isOutside((lists ??= makeLists()).neverAllowed, address)
}

function makeLists() {
  return {
    specialUse: listOf(SPECIAL_USE_RANGES.flatMap(({ range }) => [range, ...embed(range)])),
    neverAllowed: listOf(NEVER.flatMap((range) => [range, ...embed(range, [...IPV4_EMBEDDING, NAT64_OF_ONE_NETWORK])])),
    routableIpv6: listOf([GLOBAL_UNICAST, ...embed('0.0.0.0/0')]),
  }
}

/** Whether a text is an address, and none of the list. */
function isOutside(list: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && !list.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

/** Returns the IPv6 ranges whose addresses contain those of an IPv4 range. */
function embed(range: string, prefixes = IPV4_EMBEDDING): readonly string[] {
  const [address = '', bits] = range.split('/')
  return isIP(address) === 4 ? prefixes.map((prefix) => `${prefix}${address}/${96 + Number(bits)}`) : []
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits] = range.split('/')
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}
