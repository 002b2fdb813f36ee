const NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]', '::1'])

/** Whether the host of a URL or of a listening address is one of the loopback names of RFC 8252 §7.3, spelled exactly. */
export function isLoopbackHost(host: string): boolean {
  return NAMES.has(host)
}

/**
 * Whether browsers connect to the local computer for a canonical host. Besides the loopback names, these are the other names
 * and addresses that are reserved for it (RFC 6761 §6.3, RFC 1122 §3.2.1.3).
 */
export function leadsToThisComputer(host: string): boolean {
  return isLoopbackHost(host) || host.endsWith('.localhost') || /^127\.\d+\.\d+\.\d+$/.test(host)
}

/** Whether a store of one issuer may be used as the other: they are the same text, or both are loopback addresses. */
export function isCompatibleIssuer(one: string, other: string): boolean {
  return one === other || [one, other].every((issuer) => isLoopbackHost(new URL(issuer).hostname))
}
