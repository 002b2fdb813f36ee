import fc from 'fast-check'

/**
 * Arbitrary texts. `unit: 'binary'` of fast-check, and its `webPath`, `webQueryParameters` and `webUrl`, first make a table of all
 * characters, which costs each process 1.3 s. These compute the same characters.
 */

const SURROGATES = { first: 0xd800, count: 0x800 }

/** Any character of Unicode, a unit of `fc.string`. The inverse lets fast-check try its list of dangerous words too. */
export const CHARACTER = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES.count })
  .map((index) => String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count), indexOf)

/** The characters of RFC 3986 §3.3, and one in ten is any other, escaped. */
const URI_CHARACTER = fc.oneof(
  { weight: 10, arbitrary: fc.constantFrom(..."abcxyzABCXYZ0189-._~!$&'()*+,;=:@") },
  { weight: 1, arbitrary: CHARACTER.map(encodeURIComponent) },
)

export const PATH = fc
  .array(fc.string({ unit: URI_CHARACTER }), { maxLength: 5 })
  .map((segments) => segments.map((segment) => `/${segment}`).join(''))

/** The query of a URI, without its question mark, or its fragment. */
export const QUERY = fc.string({ unit: fc.oneof({ weight: 20, arbitrary: URI_CHARACTER }, fc.constantFrom('/', '?')) })

/** A web address that may have a query and a fragment. */
export const WEB_URL = fc
  .tuple(
    fc.constantFrom('http', 'https'),
    fc.webAuthority(),
    PATH,
    fc.option(QUERY, { nil: undefined }),
    fc.option(QUERY, { nil: undefined }),
  )
  .map(
    ([scheme, authority, path, query, fragment]) =>
      `${scheme}://${authority}${path}${query === undefined ? '' : `?${query}`}${fragment === undefined ? '' : `#${fragment}`}`,
  )

/** @throws Error for what is not one character */
function indexOf(text: unknown): number {
  const code = typeof text === 'string' ? text.codePointAt(0) : undefined
  if (code === undefined || text !== String.fromCodePoint(code)) throw new Error('It is not one character.')
  return code < SURROGATES.first ? code : code - SURROGATES.count
}
