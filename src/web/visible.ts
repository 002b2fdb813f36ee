import { showEmails } from '../protocol/sign-in/email-address.ts'

const plain = /^[\x20-\x7e]*$/

/** Made for the first text that needs it: the properties of characters take as long to read as many modules to load. */
let harmful: RegExp | undefined

const spaces = /\s{2,}|[\t\n\r\f\v]/g
const pile = /(\p{M}{4})\p{M}+/gu

/**
 * Makes text safe to display, with the addresses in it as persons read them. Characters that are invisible or rearrange the page become U+FFFD. Runs of spaces become one
 * space, because they could push a warning out of sight. Combining marks are cut so that they do not cover other lines.
 */
export function visible(text: string): string {
  if (plain.test(text) && !text.includes('  ')) return showEmails(text)
  return showEmails(text)
    .replaceAll(spaces, ' ')
    .replaceAll((harmful ??= makeHarmful()), (match, joiner: string | undefined) =>
      joiner === undefined ? '\u{fffd}' : match,
    )
    .replaceAll(pile, '$1')
}

/**
 * Characters that a reader cannot see, or that reorder the text around them: controls, bidirectional marks, fillers, tags,
 * private use. Joiners in an emoji, or in a script that needs them, are kept (see below).
 */
function makeHarmful(): RegExp {
  const unseen =
    /[\p{Cc}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\u{fff9}-\u{fffb}\u{2800}]/u

  const emojiJoiner = /(?<=\p{Extended_Pictographic}\p{Emoji_Modifier}?\u{fe0f}?)\u{200d}(?=\p{Extended_Pictographic})/u
  const emojiStyle = /(?<=[\p{Extended_Pictographic}#*0-9])[\u{fe0e}\u{fe0f}]/u
  const scripts = 'Arab Syrc Mong Nkoo Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr Mymr Tibt'
  const joined = `[${scripts.replaceAll(/(\w+) ?/g, '\\p{Script_Extensions=$1}')}]`
  const scriptJoiner = new RegExp(`(?<=${joined})[\\u{200c}\\u{200d}](?=${joined})`, 'u')
  const spared = [emojiJoiner, emojiStyle, scriptJoiner].map((pattern) => pattern.source).join('|')
  return new RegExp(`(?<spared>${spared})|${unseen.source}`, 'gu')
}
