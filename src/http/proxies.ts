import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'
import { UNREADABLE_NETWORK } from './network.ts'

/** What says from whom a request is: the address of its peer, and the header `X-Forwarded-For`. */
export interface Sender {
  readonly socket: Pick<IncomingMessage['socket'], 'remoteAddress'>
  readonly headers: IncomingMessage['headers']
}

/** Finds the caller behind the operator's proxies. Headers of all other peers are ignored (threats.md NET-05). */
export interface Proxies {
  /** Whether the peer is one of the operator's proxies. */
  readonly isTrusted: (address: string) => boolean
  /** The last address on the request's path that is not a proxy, without port; `unreadable` if it is not an address. */
  readonly callerOf: (message: Sender) => string
  /** Whether a proxy names a caller: an address that is not one of the proxies themselves. */
  readonly namesCaller: (message: Sender) => boolean
  /** An `X-Forwarded-*` header as the nearest proxy wrote it; undefined when it is missing or the peer is not a proxy. */
  readonly forwarded: (message: IncomingMessage, name: 'x-forwarded-proto' | 'x-forwarded-host') => string | undefined
}

/**
 * Opens the list of the operator's proxies, given as networks in CIDR notation. `reportUnreadable` is called once, for the
 * first forwarded address that cannot be parsed.
 */
export function openProxies(networks: readonly string[], reportUnreadable: () => void): Proxies {
  const list = blockListOf(networks)
  let isReported = false
  const isTrusted = (address: string): boolean => networks.length > 0 && isListed(list, address)
  return {
    isTrusted,
    callerOf({ socket, headers }) {
      const peer = socket.remoteAddress ?? ''
      if (!isTrusted(peer)) return peer
      const caller = lastUnknown(peer, headers['x-forwarded-for'], isTrusted)
      if (caller === UNREADABLE_NETWORK && !isReported) {
        isReported = true
        reportUnreadable()
      }
      return caller
    },
    namesCaller: ({ headers }) => readForwarded(headers['x-forwarded-for']).some((address) => !isTrusted(address)),
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

/**
 * Each proxy appends the address of its peer, so the list is read from its end, up to the first address that is not a proxy.
 */
function lastUnknown(peer: string, header: string | string[] | undefined, isTrusted: Proxies['isTrusted']): string {
  const forwarded = readForwarded(header)
  return [...forwarded, peer].findLast((address) => !isTrusted(address)) ?? forwarded[0] ?? peer
}

function readForwarded(header: string | string[] | undefined): readonly string[] {
  return String(header ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map(readEntry)
}

/** `[2001:db8::1]`, `[2001:db8::1]:443` or `203.0.113.9:4711`. Azure Application Gateway, IIS and AWS add the port. */
const BRACKETS_OR_PORT = /^(?:\[([0-9a-f:.]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?$/i

/** The address of an entry, without brackets and port. With the port, each connection would have limits of its own. */
function readEntry(entry: string): string {
  if (isIP(entry) !== 0) return entry
  const [, inBrackets, beforePort] = BRACKETS_OR_PORT.exec(entry) ?? []
  const address = inBrackets ?? beforePort ?? ''
  return isIP(address) === (inBrackets === undefined ? 4 : 6) ? address : UNREADABLE_NETWORK
}
