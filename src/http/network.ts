import { isIPv6 } from 'node:net'

/**
 * What budgets are counted by: an IPv4 address, or the /64 of an IPv6 one, because one subscriber has a whole /64. One
 * spelling for every way to write it (threats.md REG-19).
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const mapped = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address
  const groups = groupsOf(address)
  const [high = 0, low = 0] = groups.slice(6)
  // RFC 4291 §2.5.5.2: an IPv4 address in the form that is not dotted.
  if (groups.slice(0, 6).join() === '0,0,0,0,0,65535') return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  const network = groups.slice(0, 4).map((group) => group.toString(16))
  return `${network.join(':')}::/64`
}

/** The eight groups of an IPv6 address. The URL parser gives every spelling one form, without dots and leading zeros. */
function groupsOf(address: string): readonly number[] {
  const plain = new URL(`http://[${address.split('%', 1)[0]}]`).hostname.slice(1, -1)
  const [left = [], right = []] = plain.split('::', 2).map((half) => (half === '' ? [] : half.split(':')))
  const zeros = Array<string>(8 - left.length - right.length).fill('0')
  return [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16))
}
