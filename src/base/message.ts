import { MAXIMA } from './maxima.ts'

/** The encodings of OAuth messages: forms and media types. RFC 6749 appendix B, RFC 9110 §8.3. */

/** Parameters of a form or a query. */
export interface Parameters {
  /** Returns undefined for a parameter that is absent or empty (RFC 6749 §3.1: a parameter without a value counts as omitted). */
  readonly get: (name: string) => string | undefined
  /** Every value of a parameter that may be repeated, such as `resource`. Empty values are left out. */
  readonly all: (name: string) => readonly string[]
  /** Names that occur more than once (RFC 6749 §3.1 forbids it), in the order of their first occurrence. */
  readonly repeated: readonly string[]
  readonly names: readonly string[]
}

/** No OAuth request has more parameters. */
const PARAMETER_LIMIT = MAXIMA.parameters.most

/**
 * Parses `application/x-www-form-urlencoded`. Returns undefined for a broken percent-escape, invalid UTF-8 or too many parameters. `most`: by
 * default those of an OAuth request.
 */
export function parseForm(text: string, most: number = PARAMETER_LIMIT): Parameters | undefined {
  if (text === '') return NO_PARAMETERS
  const first = new Map<string, string>()
  const further: [name: string, value: string][] = []
  const pairs = text.split('&', most + 1)
  if (pairs.length > most) return undefined
  for (const pair of pairs) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals === -1 ? pair : pair.slice(0, equals))
    const value = equals === -1 ? '' : decode(pair.slice(equals + 1))
    if (name === undefined || value === undefined) return undefined
    if (first.has(name)) further.push([name, value])
    else first.set(name, value)
  }
  return new FormParameters(first, further)
}

/** Decodes one form-urlencoded component. Returns undefined if it is malformed. */
export function decode(text: string): string | undefined {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    return undefined
  }
}

/** A Content-Type header. RFC 9110 §8.3.1. */
interface MediaType {
  /** Type and subtype in lower case, such as `application/json`. */
  readonly name: string
  /** In lower case. */
  readonly charset: string | undefined
}

/** RFC 9110 §5.6.2. */
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const TYPE = new RegExp(`${TOKEN}/${TOKEN}`, 'y')
/** RFC 9110 §5.6.6: name, and value as a token or quoted (§5.6.4). Neither follows where the semicolon is the last or doubled. */
const PARAMETER = new RegExp(
  String.raw`[\t ]*;[\t ]*(?:(${TOKEN})=(?:(${TOKEN})|"((?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t \x21-\x7e\x80-\xff])*)"))?`,
  'y',
)
/** The charsets in which the bytes of ASCII are ASCII. */
const CHARSET = /^(?:utf-?8|us-ascii|iso-8859-\d{1,2}|windows-125\d)$/

/** Parses a Content-Type header. Returns undefined for one that its grammar does not allow, or that names two charsets. */
export function parseMediaType(header: string): MediaType | undefined {
  TYPE.lastIndex = 0
  const name = TYPE.exec(header)?.[0]
  if (name === undefined) return undefined
  let charset: string | undefined
  let end = name.length
  for (;;) {
    PARAMETER.lastIndex = end
    const parameter = PARAMETER.exec(header)
    if (parameter === null) break
    end = PARAMETER.lastIndex
    const [, attribute, token, quoted] = parameter
    if (attribute?.toLowerCase() !== 'charset') continue
    if (charset !== undefined) return undefined
    charset = (token ?? quoted?.replaceAll(/\\(.)/g, '$1') ?? '').toLowerCase()
  }
  return /^[\t ]*$/.test(header.slice(end)) ? { name: name.toLowerCase(), charset } : undefined
}

/**
 * Whether a Content-Type header is `type`, in a charset whose ASCII bytes are ASCII. Forms and JSON have no parameters, but clients send
 * them: Apache HttpClient sends the charset ISO-8859-1 with a form, whose encoding leaves ASCII alone. A header that two parsers could
 * read differently does not match (threats.md REG-25).
 */
export function isMediaType(header: string | undefined, type: string): boolean {
  if (header === undefined) return false
  if (header === type) return true
  const sent = parseMediaType(header)
  return sent?.name === type && (sent.charset === undefined || CHARSET.test(sent.charset))
}

class FormParameters implements Parameters {
  private readonly first: ReadonlyMap<string, string>
  private readonly further: readonly (readonly [name: string, value: string])[]

  /** `first` has the first value of each parameter, `further` the other ones of those that are repeated, which few forms have. */
  constructor(first: ReadonlyMap<string, string>, further: readonly (readonly [name: string, value: string])[]) {
    this.first = first
    this.further = further
  }

  get names(): readonly string[] {
    return [...this.first.keys()]
  }

  get repeated(): readonly string[] {
    const { further } = this
    return further.length === 0 ? NONE : this.names.filter((name) => further.some(([other]) => other === name))
  }

  get(name: string): string | undefined {
    const value = this.first.get(name)
    return value === '' ? undefined : value
  }

  all(name: string): readonly string[] {
    const value = this.first.get(name)
    if (value === undefined) return NONE
    const more = this.further.flatMap(([other, text]) => (other === name ? [text] : []))
    return [value, ...more].filter((text) => text !== '')
  }
}

const NONE: readonly string[] = []
export const NO_PARAMETERS: Parameters = new FormParameters(new Map(), [])
