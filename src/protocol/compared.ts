/** The most characters of a value in the log. */
const LIMIT = 200

/**
 * What the server compared, for the log of the operator, who has to find which side is wrong: an issuer, an audience, a client or an API. A
 * value that a caller sent is made visible and cut. What may be an address of a person, a credential or a token is left out.
 */
export function compared(expected: readonly string[], received: unknown): string {
  return `expected ${
    expected.length === 0
      ? 'none'
      : expected
          .map(loggable)
          .join(' or ')
          .slice(0, 2 * LIMIT)
  }, received ${loggable(received)}`
}

/** Returns a value as JSON in ASCII. */
export function loggable(value: unknown): string {
  const text = (JSON.stringify(value) ?? 'none')
    .replaceAll(/[^\s"/@]+@/g, '…@')
    .replaceAll(/[?#][^\s"]*/g, '?…')
    .replaceAll(/\b(eyJ|g[a-z]{2}_)[\w.~-]{24,}/g, (found, prefix: string) =>
      prefix === 'gci_' ? found : `${prefix}…`,
    )
    .replaceAll(/[^ -~…]/gu, (sign) => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`)
  return text.length > LIMIT ? `${text.slice(0, LIMIT)}…` : text
}
