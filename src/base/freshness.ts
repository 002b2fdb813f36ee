/** The header fields of a response that say how long it may be used. */
export interface CachingHeaders {
  readonly 'cache-control'?: string | undefined
  readonly expires?: string | undefined
  readonly date?: string | undefined
  readonly age?: string | undefined
}

/**
 * Returns for how many seconds a response is fresh when it arrives. RFC 9111 §4.2. undefined: the response does not say it.
 *
 *  §5.2.2.4  `no-cache` and `no-store` (§5.2.2.5) mean that it is not fresh at all.
 *  §4.2.1    `max-age` counts before `Expires`. A value that is not valid means that the response is stale.
 *  §4.2.3    The time that the response spent in other caches is deducted.
 */
export function freshSeconds(headers: CachingHeaders): number | undefined {
  const directives = (headers['cache-control'] ?? '')
    .toLowerCase()
    .split(',')
    .map((one) => one.trim())
  if (directives.some((one) => /^no-(cache|store)\b/.test(one))) return 0
  const maxAge = directives.find((one) => one.startsWith('max-age'))
  const lifetime =
    maxAge === undefined ? untilExpiry(headers) : secondsOf(maxAge.replace(/^max-age="?([^"]*)"?$/, '$1'))
  return lifetime === undefined ? undefined : Math.max(0, lifetime - secondsOf(headers.age ?? ''))
}

function untilExpiry({ expires, date }: CachingHeaders): number | undefined {
  if (expires === undefined) return undefined
  const seconds = (Date.parse(expires) - Date.parse(date ?? '')) / 1000
  return Number.isFinite(seconds) ? Math.floor(seconds) : 0
}

/** RFC 9111 §1.2.2: a number of seconds; 0 if it is malformed. */
function secondsOf(text: string): number {
  return /^\d{1,10}$/.test(text) ? Number(text) : 0
}
