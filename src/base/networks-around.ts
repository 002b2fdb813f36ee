/** The network and the two wider ones that contain it, the widest first; `unreadable` has no wider ones. */
export function networksAround(network: string): readonly string[] {
  const separator = network.includes(':') ? ':' : '.'
  const second = network.indexOf(separator, network.indexOf(separator) + 1)
  const third = network.indexOf(separator, second + 1)
  return third === -1 ? [network] : [network.slice(0, second), network.slice(0, third), network]
}

/**
 * Whether two callers are known to be in one network. All addresses of the machine itself are one: browsers reach `localhost` by either
 * family.
 */
export function isOneNetwork(one: string, other: string): boolean {
  if (one === 'unreadable') return false
  return one === other || (isThisMachine(one) && isThisMachine(other))
}

/** Whether a network is that of the machine itself, also as the audit has it. That of ::1 has no other caller. */
export function isThisMachine(network: string): boolean {
  return network.startsWith('127.') || network === '0:0:0:0::/64' || network === '0:0:0::/48'
}

/** The /24 of an IPv4 address, or the /48 of an IPv6 network, also of one that pages of other sites pay as. undefined: it is unreadable. */
export function coarseNetwork(network: string): string | undefined {
  const [address = ''] = network.split(' ', 1)
  const groups = address.split(address.includes(':') ? ':' : '.').slice(0, 3)
  if (groups.length < 3) return undefined
  return address.includes(':') ? `${groups.join(':')}::/48` : `${groups.join('.')}.0/24`
}
