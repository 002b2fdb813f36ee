/** The browser of a session in words that a person recognises. The `User-Agent` header itself is not stored. */
export interface Agent {
  /** `Firefox` */
  readonly browser: string
  /** `Linux`; undefined: not one of the known systems. */
  readonly system: string | undefined
}

/** Longer headers are not read: the server did not ask for them. */
const HEADER_LIMIT = 1024

/** The first that matches: browsers also name those that they want to be taken for (RFC 9110 §10.1.5). */
const BROWSERS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\b(?:OPR|OPT|OPiOS)\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|Chromium|CriOS|HeadlessChrome)\//],
  ['Safari', /\bVersion\/[\d.]+ (?:Mobile\/\w+ )?Safari\//],
]

const SYSTEMS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Android', /\bAndroid\b/],
  ['iOS', /\((?:iPhone|iPad|iPod)\b/],
  ['Windows', /\bWindows NT\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['macOS', /\bMacintosh\b/],
  ['Linux', /\bLinux\b/],
]

/** Reads the browser and its system from a `User-Agent` header. undefined: the browser is not a known one. */
export function parseAgent(header: string | undefined): Agent | undefined {
  if (header === undefined || header.length > HEADER_LIMIT) return undefined
  const nameOf = (known: typeof BROWSERS) => known.find(([, pattern]) => pattern.test(header))?.[0]
  const browser = nameOf(BROWSERS)
  return browser === undefined ? undefined : { browser, system: nameOf(SYSTEMS) }
}
