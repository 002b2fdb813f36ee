/** Ranges that are parsed. Browsers send about ten. */
const RANGE_LIMIT = 32
const LENGTH_LIMIT = 1000
/** Characters of `ui_locales` that are read. */
const LOCALES_LIMIT = 255

/**
 * The ranges of an `Accept` or `Accept-Language` header in lower case, the most preferred first (RFC 9110 §12.4.2). Ranges of
 * equal preference keep their order. Refused (q=0) and malformed ranges are left out, and so is everything after 32 ranges
 * or a thousand characters.
 */
export function parsePreferences(header: string): readonly string[] {
  return header
    .slice(0, LENGTH_LIMIT)
    .split(',', RANGE_LIMIT)
    .map(parseRange)
    .filter((range) => range.quality > 0)
    .toSorted((left, right) => right.quality - left.quality)
    .map((range) => range.name)
}

function parseRange(text: string): { readonly name: string; readonly quality: number } {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim())
  const weight = parameters.find((parameter) => /^q=/i.test(parameter)) ?? 'q=1'
  const quality = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i.exec(weight)?.[1] ?? '0'
  return { name: name.toLowerCase(), quality: Number(quality) }
}

/** The first languages of `ui_locales`. It is stored with a delegated sign-in, and is part of the addresses of pages. */
export function shortenLocales(text: string | undefined): string | undefined {
  if (text === undefined || text.length <= LOCALES_LIMIT) return text
  return text.slice(0, text.lastIndexOf(' ', LOCALES_LIMIT) + 1).trimEnd()
}
