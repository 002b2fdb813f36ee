import { EMAIL_LIMIT } from './account.ts'

/** An atom of RFC 5322 §3.2.3, also with letters of other alphabets (RFC 6532 §3.2). */
const ATOM = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+$/u
/** A label of a domain, as it is written or in its ASCII form. */
const LABEL = /^[\p{L}\p{M}\p{N}]([\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?$/u
const LOCAL_LIMIT = 64
const LABEL_LIMIT = 63

/**
 * Whether mail is sent to an address. Stricter than RFC 5321 §4.1.2: no quoted local part, no address in brackets, nothing that mail
 * programs read in several ways, such as lists, comments and names (threats.md ACC-11).
 */
export function isMailAddress(text: string): boolean {
  const at = text.lastIndexOf('@')
  const [local, domain] = [text.slice(0, at), text.slice(at + 1)]
  return (
    at > 0 &&
    text.length <= EMAIL_LIMIT &&
    local.length <= LOCAL_LIMIT &&
    local.split('.').every((atom) => ATOM.test(atom)) &&
    domain.split('.').every((label) => label.length <= LABEL_LIMIT && LABEL.test(label))
  )
}
