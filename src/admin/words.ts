import { AdminError } from './admin-error.ts'

/** Characters of a sentence or a name on the consent page; more is not read. */
const WORDS_LIMIT = 200

/**
 * People read it on the consent page, so it must be there and must not reorder or hide anything. `what` names it: `The name`.
 *
 * @throws AdminError when it is empty, too long, or has characters that nobody sees
 */
export function requireWords(what: string, text: string): string {
  const words = text.trim()
  if (words === '') throw new AdminError(`${what} is empty.`)
  if ([...words].length > WORDS_LIMIT) throw new AdminError(`${what} has more than ${WORDS_LIMIT} characters.`)
  if (/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(words)) {
    throw new AdminError(`${what} has control characters in it.`)
  }
  return words
}
