import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'

/** Who a request is from, when the operator's proxies stand between. Nobody else is believed (threats.md NET-05). */
export interface Proxies {
  /** Whether the peer is one of them. */
  readonly isTrusted: (address: string) => boolean
  /** The last address on the request's way that none of them vouches for. */
  readonly callerOf: (message: IncomingMessage) => string
  /** A `X-Forwarded-*` header as the nearest proxy wrote it; undefined when there is none or the peer is no proxy. */
  readonly forwarded: (message: IncomingMessage, name: 'x-forwarded-proto' | 'x-forwarded-host') => string | undefined
}

/** The operator's proxies, by network in CIDR notation. */
export function openProxies(networks: readonly string[]): Proxies {
  const list = blockListOf(networks)
  const isTrusted = (address: string): boolean => networks.length > 0 && isListed(list, address)
  return {
    isTrusted,
    callerOf({ socket, headers }) {
      const peer = socket.remoteAddress ?? ''
      return isTrusted(peer) ? lastUnknown(peer, headers['x-forwarded-for'], isTrusted) : peer
    },
    forwarded({ socket, headers }, name) {
      const value = headers[name]
      if (value === undefined || !isTrusted(socket.remoteAddress ?? '')) return undefined
      return String(value).split(',').at(-1)?.trim()
    },
  }
}

function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/', 2)
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}

function isListed(list: BlockList, text: string): boolean {
  const address = text.replace(/^::ffff:(?=\d+\.)/i, '')
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

/** Each proxy appended the address of its own peer, so the list is read from its end, as far as proxies wrote it. */
function lastUnknown(peer: string, header: string | string[] | undefined, isTrusted: Proxies['isTrusted']): string {
  const said = String(header ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
  return [...said, peer].findLast((address) => !isTrusted(address)) ?? said[0] ?? peer
}
