/** The maximum number of characters of a name or sentence on a page. */
export const DISPLAY_TEXT_LIMIT = 200

/** Control characters, line ends, and characters that change the direction of a line. */
const UNSEEN = '\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069'
/** The spaces that `trim` removes. It also removes line ends, which are in UNSEEN. */
const SPACES = '\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000\\ufeff'
/** Text that the pages show unchanged. The ranges are written out, because not every JSON Schema validator knows `\p{Cc}`. */
export const DISPLAY_TEXT_FORM = new RegExp(`^[${SPACES}]*[^${UNSEEN}${SPACES}][^${UNSEEN}]*$`, 'u')

/**
 * Returns the text without surrounding spaces. undefined if it is empty, too long, or has characters that would reorder or hide
 * other text of a page.
 */
export function parseDisplayText(text: string): string | undefined {
  const trimmed = text.trim()
  return [...trimmed].length <= DISPLAY_TEXT_LIMIT && DISPLAY_TEXT_FORM.test(trimmed) ? trimmed : undefined
}
