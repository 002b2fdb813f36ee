import { MAXIMA } from '../../base/maxima.ts'

/** Bytes. Longer passwords cost hashing time and add no strength. */
export const PASSWORD_BYTES = MAXIMA.password.most
/** Of other characters a password may repeat as many as it likes. */
const DIFFERENT_CHARACTERS = 5

/** Why a new password is refused. */
export type PasswordFault = 'password-too-short' | 'password-too-long' | 'password-common'

export interface PasswordRules {
  /** Characters. */
  readonly shortest: number
  /** What a person who knows the account tries first: the address, its local part, the names of the user and of the server. */
  readonly words: readonly string[]
  /** Whether a text in lower case is in the list of common passwords. */
  readonly isCommon: (text: string) => boolean
}

/** The least number of characters of a new password: fewer if it is never the only factor. NIST SP 800-63B-4 §3.1.1.2. */
export function shortestPassword({ secondFactor }: { readonly secondFactor: 'optional' | 'required' }): number {
  return secondFactor === 'required' ? 8 : 15
}

/** The form in which passwords are measured and hashed, so that every keyboard writes the same one. NIST SP 800-63B-4 §3.1.1.2. */
export function normalizePassword(password: string): string {
  return password.normalize('NFKC')
}

/** Whether a password has more bytes than any that is accepted. */
export function isPasswordTooLong(password: string): boolean {
  return Buffer.byteLength(normalizePassword(password)) > PASSWORD_BYTES
}

/**
 * Returns why a password must not be set. There are no rules for the kinds of its characters (NIST SP 800-63B-4 §3.1.1.2). It must not be
 * a common password or a word of its account, also with digits or punctuation around it, repeated, or in other letters' case.
 */
export function findPasswordFault(password: string, rules: PasswordRules): PasswordFault | undefined {
  if (isPasswordTooLong(password)) return 'password-too-long'
  const characters = [...normalizePassword(password)]
  if (characters.length < rules.shortest) return 'password-too-short'
  const isPoor = new Set(characters).size < DIFFERENT_CHARACTERS
  return isPoor || isGuessable(password, rules) ? 'password-common' : undefined
}

function isGuessable(password: string, { words, isCommon }: PasswordRules): boolean {
  const typed = normalizePassword(password).toLowerCase()
  const plain = plainText(password)
  const core = plain.replace(/^\p{N}+/u, '').replace(/\p{N}+$/u, '')
  return (
    [typed, plain, core].some((text) => isCommon(text) || isCommon(repeatedPart(text))) ||
    words.some((word) => isMadeOf(plain, plainText(word)))
  )
}

/** Letters and digits alone, in lower case. */
function plainText(text: string): string {
  return normalizePassword(text)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]/gu, '')
}

/** The shortest text of which a text is a repetition. */
function repeatedPart(text: string): string {
  return text.slice(0, (text + text).indexOf(text, 1))
}

/** Whether a text has a word, once or more often, and no other letter. A word without letters must be the whole text. */
function isMadeOf(text: string, word: string): boolean {
  if (!/\p{L}/u.test(word)) return word !== '' && text === word
  return text.includes(word) && !/\p{L}/u.test(text.replaceAll(word, ''))
}
