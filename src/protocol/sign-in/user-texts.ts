import { normalizeEmail, unicodeEmail } from './email-address.ts'

/** What a search compares of a user: the name, and the address with its domain in ASCII and in Unicode. */
export function userTexts({
  name,
  email,
}: {
  readonly name?: string | null | undefined
  readonly email?: string | null | undefined
}): readonly string[] {
  const unicode = email?.includes('xn--') === true ? [unicodeEmail(normalizeEmail(email))] : []
  return [...(name ? [name] : []), ...(email ? [email] : []), ...unicode]
}
