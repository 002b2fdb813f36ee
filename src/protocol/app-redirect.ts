/** Private-use redirect URIs that are allowed although their scheme has no dot (RFC 8252 §7.1). */
export interface AppRedirects {
  /** The schemes, in lower case, each once. */
  readonly schemes: readonly string[]
  readonly allows: (uri: string) => boolean
}

/** A scheme alone, or a scheme and the address after it. A query or a fragment is no part of a pattern. */
const ENTRY = /^[a-z][a-z0-9+.-]*(:[^?#\s]+)?$/i

/** Whether an entry of the operator's list is a scheme or a pattern. */
export function isAppRedirect(entry: string): boolean {
  return ENTRY.test(entry)
}

/** The scheme of an entry, in lower case as URIs have it. */
export function schemeOf(entry: string): string {
  return (entry.split(':', 1)[0] ?? '').toLowerCase()
}

/**
 * The operator's list. An entry without a colon allows every URI of its scheme. Any other entry is a pattern of the URI up to
 * its query: `*` is a run of characters other than `/` and `.`, `**` a run of any characters.
 *
 * Editors take commands by their scheme as well, such as the installation of an extension, so a client could register one of
 * them as its redirect URI. Patterns admit the addresses at which the editors await an authorization response.
 */
export function openAppRedirects(entries: readonly string[]): AppRedirects {
  const whole = new Set(entries.filter((entry) => !entry.includes(':')).map(schemeOf))
  const patterns = entries.filter((entry) => entry.includes(':')).map(compile)
  return {
    schemes: [...new Set(entries.map(schemeOf))],
    allows: (uri) => whole.has(schemeOf(uri)) || patterns.some((pattern) => pattern.test(withPath(uri))),
  }
}

function compile(entry: string): RegExp {
  const rest = withPath(entry).slice(entry.indexOf(':'))
  // A run of `*` stops at the dot or slash that follows it in most patterns, so a long URI costs no backtracking there.
  const parts = rest.split(/(\*+)/).map((part) => {
    if (part.startsWith('**')) return '[^?]*'
    return part === '*' ? '[^/.?]*' : RegExp.escape(part)
  })
  return new RegExp(`^${RegExp.escape(schemeOf(entry))}${parts.join('')}(?:\\?|$)`)
}

/** `app://host` and `app://host?x=1` have an empty path, which equals `/`. */
function withPath(uri: string): string {
  return uri.replace(/^([^:/?]+:\/\/[^/?]+)(?=\?|$)/, '$1/')
}
