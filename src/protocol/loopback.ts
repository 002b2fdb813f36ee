const NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]', '::1'])

/** Whether a host, as a URL or a listening address spells it, is this computer. RFC 8252 §7.3; no look-alike is. */
export function isLoopbackHost(host: string): boolean {
  return NAMES.has(host)
}

/**
 * Whether browsers connect to this computer for a canonical host: also for the other names and addresses that are reserved for
 * it (RFC 6761 §6.3, RFC 1122 §3.2.1.3).
 */
export function leadsToThisComputer(host: string): boolean {
  return isLoopbackHost(host) || host.endsWith('.localhost') || /^127\.\d+\.\d+\.\d+$/.test(host)
}
