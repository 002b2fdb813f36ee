import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import type { OutboundFailure } from '../ports/outbound.ts'
import { isLoopbackHost } from '../protocol/uri/loopback.ts'
import { loopbackAddresses, type Resolve } from './resolve.ts'
import { mayBePrivate } from './special-use-addresses.ts'

/** How names become addresses, and which addresses may be connected to. Tests have name servers of their own. */
export interface Network {
  readonly resolve: Resolve
  readonly isPublicAddress: (address: string) => boolean
}

/** Where a connection goes. */
export interface Target {
  readonly kind: 'target'
  readonly addresses: readonly LookupAddress[]
  /** Judges the address of the peer again, once it is connected. */
  readonly isAllowed: (address: string) => boolean
}

/** Addresses of one host that are tried. */
const ADDRESS_LIMIT = 8

/**
 * Resolves the host of a URL once. Each of its addresses must be public: an answer that has a private address among public ones is an
 * attack, so it is refused as a whole. A host that the operator named may have any address but a link-local one (threats.md OUT-01).
 */
export async function findTarget(
  { resolve, isPublicAddress }: Network,
  url: URL,
  { isNamed, signal }: { readonly isNamed: boolean; readonly signal: AbortSignal },
): Promise<Target | OutboundFailure> {
  const hostname = url.hostname.replaceAll(/[[\]]/g, '')
  const isLoopback = isLoopbackHost(hostname)
  const addresses = isLoopback
    ? loopbackAddresses(hostname)
    : isNamed && isIP(hostname) !== 0
      ? [{ address: hostname, family: isIP(hostname) }]
      : await resolve(hostname, signal)
  if (signal.aborted) return { kind: 'unreachable', reason: 'timeout' }
  if (addresses.length === 0) return { kind: 'unreachable', reason: 'name-unresolved' }
  const isKnown = (address: string): boolean => addresses.some((one) => one.address === address)
  const isPermitted = (address: string): boolean => isKnown(address) && mayBePrivate(address)
  const isAllowed = isLoopback || isNamed ? isPermitted : isPublicAddress
  if (!addresses.every(({ address }) => isAllowed(address))) return { kind: 'unacceptable', reason: 'address' }
  return { kind: 'target', addresses: addresses.slice(0, ADDRESS_LIMIT), isAllowed }
}
