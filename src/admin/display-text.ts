import { AdminError } from './admin-error.ts'

/** Characters of a sentence or a name on a page; more is not read. */
export const DISPLAY_TEXT_LIMIT = 200

/** Controls, line ends, and what turns the direction of a line around. */
const UNSEEN = '\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069'
/** What `trim` takes away of the rest. */
const SPACES = '\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000\\ufeff'
/** Text that is displayed to users unchanged. Written out, because not every JSON Schema validator knows `\p{Cc}`. */
export const DISPLAY_TEXT_FORM = new RegExp(`^[${SPACES}]*[^${UNSEEN}${SPACES}][^${UNSEEN}]*$`, 'u')

/**
 * Returns the text without surrounding spaces. The consent page displays it, so it must not be empty, and must not reorder or hide
 * other text. `what` names the text in the error: `The name`.
 *
 * @throws AdminError when the text is empty, too long, or has invisible characters
 */
export function requireDisplayText(what: string, text: string): string {
  const words = text.trim()
  if (words === '') throw new AdminError(`${what} is empty.`)
  if ([...words].length > DISPLAY_TEXT_LIMIT)
    throw new AdminError(`${what} has more than ${DISPLAY_TEXT_LIMIT} characters.`)
  if (!DISPLAY_TEXT_FORM.test(words)) throw new AdminError(`${what} has control characters in it.`)
  return words
}
