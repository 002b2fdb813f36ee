const NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]', '::1'])

/** Whether a host, as a URL or a listening address spells it, is this computer. RFC 8252 §7.3; no look-alike is. */
export function isLoopbackHost(host: string): boolean {
  return NAMES.has(host)
}
