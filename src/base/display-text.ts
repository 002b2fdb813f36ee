import * as z from 'zod'
import { MAXIMA } from './maxima.ts'

/** The maximum number of characters of a name or sentence on a page. */
export const DISPLAY_TEXT_LIMIT = MAXIMA.displayText.most

/**
 * Control characters, line ends, characters that change the direction of a line, and characters that are invisible, such as fillers
 * and tags. Joiners and variation selectors are not among them, because scripts and emoji need them.
 */
const UNSEEN =
  '\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ud800-\\uf8ff\\ufeff\\uffa0\\ufff0-\\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}\u{f0000}-\u{ffffd}\u{100000}-\u{10fffd}'
/** The spaces that `trim` removes. It also removes line ends and U+FEFF, which are in UNSEEN. */
const SPACES = '\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000'
/** Invisible alone. */
const JOINERS = '\\u200c\\u200d\\ufe00-\\ufe0f'
/** Text that the pages show. The ranges are written out, because not every JSON Schema validator knows `\p{Cc}`. */
export const DISPLAY_TEXT_FORM = new RegExp(`^[${SPACES}]*[^${UNSEEN}${SPACES}${JOINERS}][^${UNSEEN}]*$`, 'u')

/**
 * Returns the text without surrounding spaces. undefined if it is empty, too long, or has characters that would reorder or hide
 * other text of a page.
 */
export function parseDisplayText(text: string): string | undefined {
  const trimmed = text.trim()
  return [...trimmed].length <= DISPLAY_TEXT_LIMIT && DISPLAY_TEXT_FORM.test(trimmed) ? trimmed : undefined
}

/** The schema of a text that pages show, and that is not empty. It is read without the spaces around it. */
export function displayed(most: number, example: string) {
  const text = z.string().regex(DISPLAY_TEXT_FORM, {
    error: `This must have between 1 and ${most} characters, one of them not a space and none a control character.`,
    abort: true,
  })
  return sized(text, { least: 1, most, example }).transform((given) => given.trim())
}

/** Text with limits on its length in code points, as JSON Schema counts; zod counts UTF-16 units. */
export function sized(
  text: z.ZodString,
  { least, most, example }: { readonly least: number; readonly most: number; readonly example: string },
): z.ZodString {
  return text
    .refine((value) => [...value].length >= least, {
      error: `This must have at least ${least} ${least === 1 ? 'character' : 'characters'}.`,
      abort: true,
    })
    .refine((value) => [...value].length <= most, { error: `This must have at most ${most} characters.` })
    .meta({ minLength: least, maxLength: most, examples: [example] })
}
