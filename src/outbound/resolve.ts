import type { LookupAddress } from 'node:dns'

/** Returns all addresses of a host; empty: no name server returned one before the signal was aborted. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>

/** How long one name server may take. */
const SERVER_TIMEOUT_MS = 1000

/**
 * Opens a resolver. `servers`: the addresses of name servers, with ports; undefined: those of the system.
 *
 * `dns.lookup` would use the threads of libuv, which hash passwords too: names with a silent name server would stop all
 * sign-ins. This resolver waits without a thread, and does not read `/etc/hosts`.
 */
export function openResolver(servers: readonly string[] | undefined): Resolve {
  return async (host, signal) => {
    const { Resolver } = process.getBuiltinModule('node:dns').promises
    // A resolver for each request: cancelling ends all queries of a resolver, and the system's name servers may change.
    const resolver = new Resolver({ timeout: SERVER_TIMEOUT_MS, tries: 1 })
    if (servers !== undefined) resolver.setServers(servers)
    const cancel = () => resolver.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    const answers = await Promise.allSettled([resolver.resolve6(host), resolver.resolve4(host)])
    signal.removeEventListener('abort', cancel)
    const [six = [], four = []] = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    return [...six.map((address) => ({ address, family: 6 })), ...four.map((address) => ({ address, family: 4 }))]
  }
}

/** The addresses of a loopback host, without a question to a name server. RFC 6761 §6.3. */
export function loopbackAddresses(hostname: string): readonly LookupAddress[] {
  const four = { address: '127.0.0.1', family: 4 }
  const six = { address: '::1', family: 6 }
  if (hostname === 'localhost') return [four, six]
  return hostname === '127.0.0.1' ? [four] : [six]
}
