/** Private-use redirect URIs that are allowed although their scheme has no dot (RFC 8252 §7.1). */
export interface AppRedirects {
  /** The schemes of which every URI is allowed, in lower case. */
  readonly schemes: readonly string[]
  readonly allows: (uri: string) => boolean
}

/** A scheme alone, or a scheme followed by the rest of the URI. A pattern has no query and no fragment. */
const ENTRY = /^[a-z][a-z0-9+.-]*(:[^?#\s]+)?$/i

/** Whether an entry of the operator's list is a valid scheme or pattern. */
export function isAppRedirectEntry(entry: string): boolean {
  return ENTRY.test(entry)
}

/** The scheme of an entry, in lower case as URIs have it. */
export function schemeOf(entry: string): string {
  return (entry.split(':', 1)[0] ?? '').toLowerCase()
}

/**
 * Compiles the operator's list. An entry without a colon allows every URI of its scheme. Any other entry is a pattern for the
 * URI up to its query: `*` matches characters other than `/` and `.`, `**` matches any characters.
 *
 * Editors also use their scheme for commands, such as the installation of an extension, and a client could register such a
 * command as its redirect URI. Patterns therefore allow only the URIs at which the editors expect an authorization response.
 */
export function openAppRedirects(entries: readonly string[]): AppRedirects {
  const whole = new Set(entries.filter((entry) => !entry.includes(':')).map(schemeOf))
  const patterns = entries.filter((entry) => entry.includes(':')).map(compile)
  return {
    schemes: [...whole],
    allows: (uri) => whole.has(schemeOf(uri)) || patterns.some((pattern) => pattern.test(withPath(uri))),
  }
}

function compile(entry: string): RegExp {
  const rest = withPath(entry).slice(entry.indexOf(':'))
  // In most patterns a dot or a slash follows `*`, where its match ends. So a long URI causes no backtracking there.
  const parts = rest.split(/(\*+)/).map((part) => {
    if (part.startsWith('**')) return '[^?]*'
    return part === '*' ? '[^/.?]*' : RegExp.escape(part)
  })
  return new RegExp(`^${RegExp.escape(schemeOf(entry))}${parts.join('')}(?:\\?|$)`)
}

/** Writes the empty path of `app://host` and `app://host?x=1` as `/`. */
function withPath(uri: string): string {
  return uri.replace(/^([^:/?]+:\/\/[^/?]+)(?=\?|$)/, '$1/')
}
