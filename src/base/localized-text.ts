import { LANGUAGES, type Language } from './language.ts'

/** The languages of a text, and `default`: the text of all languages that have none of their own, in a language that is not known. */
export const TEXT_LANGUAGES = ['default', ...LANGUAGES] as const
export type TextLanguage = (typeof TEXT_LANGUAGES)[number]

/** A text that pages show: one text for all languages, or texts by language. A plain text is the same as one with only a `default`. */
export type LocalizedText = string | TextsByLanguage
export type TextsByLanguage = Readonly<Partial<Record<TextLanguage, string | undefined>>>

/** A text in the language of a page. */
export interface TextInLanguage {
  readonly text: string
  /** The language of the text, where it is known and is not that of the page. */
  readonly lang: Language | undefined
}

/** The texts by their languages. */
export function textsByLanguage(text: LocalizedText): TextsByLanguage {
  return typeof text === 'string' ? { default: text } : text
}

/** The one form of equal texts: a plain text where there is only a `default`, and the languages in one order. undefined: no text is left. */
export function localizedText(texts: TextsByLanguage): LocalizedText | undefined {
  const given = TEXT_LANGUAGES.flatMap((language) => {
    const text = texts[language]
    return text === undefined ? [] : [[language, text] as const]
  })
  const [first] = given
  if (first === undefined) return undefined
  return given.length === 1 && first[0] === 'default' ? first[1] : (Object.fromEntries(given) as TextsByLanguage)
}

/** The text in a language. Without one it is the default, else the first that there is, English before others. */
export function textIn(text: LocalizedText, language: Language): TextInLanguage {
  const texts = textsByLanguage(text)
  const found = [language, ...TEXT_LANGUAGES].find((one) => texts[one] !== undefined) ?? 'default'
  return { text: texts[found] ?? '', lang: found === 'default' || found === language ? undefined : found }
}

/** The one text where there is room for no other: the default, else the first that there is, English before others. */
export function mainText(text: LocalizedText): string {
  const texts = textsByLanguage(text)
  return texts.default ?? textIn(texts, LANGUAGES[0]).text
}

/** The different texts among these. */
export function distinctTexts(texts: readonly LocalizedText[]): readonly LocalizedText[] {
  return [...new Map(texts.map((text) => [JSON.stringify(text), text])).values()]
}

/** Each of the texts, in whichever language: for searches and comparisons. */
export function allTexts(text: LocalizedText): readonly string[] {
  return Object.values(textsByLanguage(text)).filter((one) => one !== undefined)
}

/** The text on one line, for operators, who see each text that a user may see: `Wall (de: Wand)`. */
export function inOneLine(text: LocalizedText): string {
  const [texts, main] = [textsByLanguage(text), mainText(text)]
  const others = LANGUAGES.filter((language) => (texts[language] ?? main) !== main)
  if (others.length === 0) return main
  const byText = Map.groupBy(others, (language) => texts[language])
  return `${main} (${Array.from(byText, ([other, all]) => `${all.join(', ')}: ${other}`).join('; ')})`
}

const TAGS = new RegExp(` \\((?=(?:${LANGUAGES.join('|')})[,:] )|; (?=(?:${LANGUAGES.join('|')})[,:] )`)

/** Each text of such a line, after the whole. A text that has this form itself counts for more texts than it is. */
export function textsInLine(line: string): readonly [string, ...string[]] {
  const [first = '', ...others] = line.endsWith(')') ? line.slice(0, -1).split(TAGS) : []
  return others.length === 0 ? [line] : [line, first, ...others.map((one) => one.slice(one.indexOf(': ') + 2))]
}
