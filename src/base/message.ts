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
const PARAMETER_LIMIT = 100

/**
 * Parses `application/x-www-form-urlencoded`. Returns undefined for a broken percent-escape, invalid UTF-8 or too many parameters. `most`: by
 * default those of an OAuth request.
 */
export function parseForm(text: string, most = PARAMETER_LIMIT): Parameters | undefined {
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

/**
 * Whether a Content-Type header is `type`, without parameters or with a UTF-8 charset. A header that two parsers could read
 * differently does not match (threats.md REG-25).
 */
export function isMediaType(header: string | undefined, type: string): boolean {
  if (header === undefined) return false
  if (header === type) return true
  const [essence, charset, ...rest] = header.toLowerCase().split(';')
  if (essence === undefined || essence.replace(/ +$/, '') !== type || rest.length > 0) return false
  return charset === undefined || /^ *charset=(utf-8|"utf-8") *$/.test(charset)
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
