import { EMAIL_LIMIT } from './account.ts'

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
    local.split('.').every(isAtom) &&
    domain.split('.').every((label) => label.length <= LABEL_LIMIT && isLabel(label))
  )
}

/**
 * Whether a text is an atom of RFC 5322 §3.2.3, also with letters of other alphabets (RFC 6532 §3.2). Here and below, the expression is in
 * the function because the properties of characters are read when it is made, which most processes need not do.
 */
function isAtom(text: string): boolean {
  return /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+$/u.test(text)
}

/** Whether a text is a label of a domain, as it is written or in its ASCII form. */
function isLabel(text: string): boolean {
  return /^[\p{L}\p{M}\p{N}]([\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?$/u.test(text)
}
