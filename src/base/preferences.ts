/** Ranges that are parsed. Browsers send about ten. */
const RANGE_LIMIT = 32
const LENGTH_LIMIT = 1000

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
  const [name = '', weight = 'q=1'] = text.split(';').map((part) => part.trim())
  const quality = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i.exec(weight)?.[1] ?? '0'
  return { name: name.toLowerCase(), quality: Number(quality) }
}
