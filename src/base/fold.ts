/**
 * Texts as a search compares them: in lower case, without marks, and with the letters that a keyboard of another language has instead. One
 * function for what is stored and what is typed, and for both databases.
 */

/** Letters that have no decomposition into a letter and a mark (Unicode Standard Annex #15). */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ŧ: 't',
  ŋ: 'n',
  ı: 'i',
  ĸ: 'k',
  ς: 'σ',
}
const OTHER_LETTERS = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'g')

/** The letters of a part of a word by which an index finds it. A shorter text is looked for at the start of addresses. */
const GRAM_LETTERS = 3

export function fold(text: string): string {
  // Most texts have ASCII characters alone, and take a twentieth of the time.
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase()
  const lower = withoutMarks(text).toLowerCase()
  return withoutMarks(lower).replace(OTHER_LETTERS, (letter) => LETTERS[letter] ?? letter)
}

/** A letter with a mark may be in one case alone, so both cases are decomposed. */
function withoutMarks(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '')
}

/** The folded words of a text, each once. A text without a letter has none. */
export function wordsOf(text: string): readonly string[] {
  return [...new Set(fold(text).split(/[\s\p{C}]+/u))].filter((word) => word !== '')
}

/** Whether a word is long enough to be looked for in any part of a text. */
export function isLongWord(word: string): boolean {
  return word.length >= GRAM_LETTERS && [...word].length >= GRAM_LETTERS
}

/** Whether the folded texts have all words, each in any of the texts and in any part of it. */
export function hasWords(words: readonly string[], ...texts: readonly (string | undefined)[]): boolean {
  const folded = texts.flatMap((text) => (text === undefined ? [] : [fold(text)]))
  return words.every((word) => folded.some((text) => text.includes(word)))
}

/**
 * A number for each three letters in a row of the words, in ascending order. What has a word has all its numbers. What has the numbers need not
 * have the word: it is compared again.
 */
export function gramsOf(words: readonly string[]): readonly number[] {
  const grams = new Set<number>()
  for (const word of words) {
    const letters = [...word]
    for (let at = 0; at + GRAM_LETTERS <= letters.length; at += 1) grams.add(gramOf(letters, at))
  }
  return [...grams].toSorted((one, other) => one - other)
}

/** 31 bits of the three code points. Numbers of ASCII letters differ. */
function gramOf(letters: readonly string[], at: number): number {
  let gram = 0
  for (let next = at; next < at + GRAM_LETTERS; next += 1)
    gram = Math.imul(gram, 1031) + ((letters[next] as string).codePointAt(0) as number)
  return gram & 0x7fffffff
}
