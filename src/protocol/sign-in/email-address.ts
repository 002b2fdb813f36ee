import { domainToUnicode } from 'node:url'
import type { Brand } from '../../base/brand.ts'
import { MAXIMA } from '../../base/maxima.ts'

/** An e-mail address in the one spelling in which addresses are stored and compared. Only `normalizeEmail` makes one. */
export type EmailAddress = Brand<string, 'EmailAddress'>

/** The longest address, in characters, that RFC 5321 §4.5.3.1.3 allows. */
export const EMAIL_LIMIT = MAXIMA.email.most
const LOCAL_LIMIT = 64
const LABEL_LIMIT = 63

/**
 * Returns one spelling for all ways to type an e-mail address, and '' for a text that is not an e-mail address. The domain is in ASCII (RFC
 * 5890 §2.3.2.1, UTS #46), because some programs send the one that a person types in Unicode in ASCII, and others as it is.
 */
export function normalizeEmail(text: string): EmailAddress {
  const [, local = '', domain = ''] = /^([^\s@\p{Cc}]+)@([^\s@\p{Cc}]+)$/u.exec(text.trim().normalize('NFKC')) ?? []
  const ascii = asciiDomain(domain)
  const email = `${lowered(local)}@${ascii ?? ''}`
  return (ascii === undefined || email.length > EMAIL_LIMIT ? '' : email) as EmailAddress
}

/** Returns the start of the normalized addresses of which a person types the start. The domain may be cut within a label. */
export function normalizeEmailStart(text: string): string {
  const [local = '', domain] = text.normalize('NFKC').split('@', 2)
  if (domain === undefined) return lowered(local)
  const labels = domain.split('.')
  const last = labels.pop() ?? ''
  // An A-label begins with the ASCII characters of the label (RFC 3492 §3.1).
  const start = isAscii(last) ? last.toLowerCase() : `xn--${last.toLowerCase().replaceAll(/[^\0-\x7f]/g, '')}`
  return `${lowered(local)}@${[...labels.map((label) => asciiDomain(label) ?? label), start].join('.')}`
}

/** Some letters compose with a mark in lower case alone: H and U+0331. */
function lowered(local: string): string {
  return local.toLowerCase().normalize('NFKC')
}

/**
 * The domain of an address that a person typed or an account has; undefined: it has none. It restricts, so each spelling of a domain is
 * that domain, also where an address of a provider would not be accepted (threats.md UP-19).
 */
export function domainOf(email: string): string | undefined {
  const address = `https://${email.slice(email.lastIndexOf('@') + 1)}`
  return URL.canParse(address) ? new URL(address).hostname.replace(/\.+$/, '') : undefined
}

/** A domain in ASCII and lower case, without the dot of the root; undefined: the text is no domain, or has a label without a character. */
export function asciiDomain(text: string): string | undefined {
  const ascii = (isAscii(text) ? text.toLowerCase() : hostOf(text))?.replace(/\.$/, '')
  return ascii?.split('.').includes('') ? undefined : ascii
}

/** UTS #46 §4.2 ToASCII, by the URL parser, which would also take a port, a path and escapes. */
function hostOf(domain: string): string | undefined {
  const address = `https://${domain}`
  return !/[\0-,/:-@[-^`{-\x7f]/.test(domain) && URL.canParse(address) ? new URL(address).hostname : undefined
}

function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text)
}

/** The normalized address with its domain in Unicode (UTS #46 §4.3). It is also how addresses were stored before their domain was in ASCII. */
export function unicodeEmail(email: EmailAddress): string {
  const at = email.lastIndexOf('@') + 1
  return email.slice(0, at) + unicodeDomain(email.slice(at))
}

/** Stays as it is where ToASCII would not lead back to it. */
function unicodeDomain(domain: string): string {
  if (!domain.includes('xn--')) return domain
  const unicode = domainToUnicode(domain)
  return asciiDomain(unicode) === domain ? unicode : domain
}

/**
 * A text as persons read it: the domain of each normalized address in it is in Unicode, if no letter of the domain can be taken for one of
 * another script. Each page, mail and line of a command passes through this function; what programs read has addresses in ASCII.
 */
export function showEmails(text: string): string {
  if (!text.includes('xn--')) return text
  return text.replaceAll(/(?<=[^\s@]@)[a-z0-9._-]*xn--[a-z0-9._-]*[a-z0-9]/g, (domain) => {
    const shown = unicodeDomain(domain)
    return isOfOneScript(shown) ? shown : domain
  })
}

/** The scripts of UAX #31 table 5 that have no letters like Latin ones, and those that languages write together. */
const SCRIPTS_BESIDE_LATIN = [
  ...'Arab Armn Beng Deva Ethi Geor Gujr Guru Hebr Khmr Knda Laoo Mlym Mymr Orya Sinh Taml Telu Thaa Thai Tibt'.split(
    ' ',
  ),
  'Hani Hira Kana',
  'Hani Bopo',
  'Hani Hang',
]
/** Letters that languages use, without those of phonetic alphabets. */
const LATIN = 'a-zß-öø-ƿǍ-ȳ\u1e00-\u1eff'

/**
 * UTS #39 §5.2, Moderately Restrictive: Latin with at most one other script, which is not Cyrillic or Greek; those are alone. It is asked
 * of the whole domain, because a label of Cyrillic letters alone can look like a Latin one, and then `com` shows that it is not.
 */
function isOfOneScript(domain: string): boolean {
  if (isAscii(domain)) return true
  const sets = [LATIN, '\\p{scx=Cyrl}', '\\p{scx=Grek}', ...SCRIPTS_BESIDE_LATIN.map(withLatin)]
  return sets.some((set) => new RegExp(`^[0-9.${set}-]+$`, 'u').test(domain))
}

function withLatin(scripts: string): string {
  return LATIN + scripts.replaceAll(/(\w+) ?/g, String.raw`\p{scx=$1}`)
}

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
