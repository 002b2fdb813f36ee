import { TEXTS, type EnglishTexts, type Language } from './generated.ts'

/** A text of the pages or mails, by its name in the files of this folder. A plural form belongs to the text before its ending. */
export type TextId = Exclude<keyof EnglishTexts, `${string}.${PluralForm}`>

/** Texts that replace those of the files, by language and id. */
export type TextChanges = Readonly<Partial<Record<Language, Readonly<Record<string, string>>>>>

const PLURAL_FORMS = ['zero', 'one', 'two', 'few', 'many'] as const
/** The categories of https://www.unicode.org/reports/tr35/tr35-numbers.html#Language_Plural_Rules, except `other`, the text itself. */
type PluralForm = (typeof PLURAL_FORMS)[number]

const SLOT = /\{([a-z_.]+)\}/i

/** Returns the texts of a language, with those that replace them. One that the language does not have is shown in English. */
export function textsIn(language: Language, changes: TextChanges): Readonly<Record<string, string>> {
  return { ...TEXTS[language], ...changes[language] }
}

/** The name that a language has for itself. */
export function nameOfLanguage(language: Language, changes: TextChanges): string {
  return changes[language]?.['languageName'] ?? TEXTS[language]['languageName'] ?? language
}

/**
 * The language of the mails of a user: plain text cannot mark a part in another language, so mails are in a language that has all
 * texts of mails. A mail that waits may have a language that was removed since.
 */
export function mailLanguage(wanted: Language, changes: TextChanges): Language {
  const own = textsIn(wanted, changes)
  return Object.keys(TEXTS.en).every((id) => !id.startsWith('mail.') || id in own) ? wanted : 'en'
}

/** Cuts a text at its slots: `strings[0]`, the value of `slots[0]`, `strings[1]`, and so on. */
export function cut(text: string): { readonly strings: readonly string[]; readonly slots: readonly string[] } {
  const parts = text.split(SLOT)
  return { strings: parts.filter((_, index) => index % 2 === 0), slots: parts.filter((_, index) => index % 2 === 1) }
}

/** The id of the text that this one is a plural form of, or the id itself. */
function textOf(id: string): string {
  const text = id.slice(0, Math.max(0, id.lastIndexOf('.')))
  return isText(text) && PLURAL_FORMS.some((form) => id === `${text}.${form}`) ? text : id
}

/** Whether English has a text of this id, which may be a name that every object has. */
function isText(id: string): boolean {
  return Object.hasOwn(TEXTS.en, id)
}

/** Characters of a text. */
const LONGEST = 2000

/** What is wrong with texts of a language, a line each: the id, and why. */
export function faultsOf(language: string, texts: Readonly<Record<string, unknown>>): readonly string[] {
  const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions()
  return Object.entries(texts).flatMap(([id, text]) => {
    const base = textOf(id)
    if (!isText(base)) return [`${id}: there is no such text`]
    const known = cut(TEXTS.en[base] ?? '').slots
    if (base !== id && !(known.includes('count') && pluralCategories.some((form) => id === `${base}.${form}`)))
      return [`${id}: the text has no such form in this language`]
    if (typeof text !== 'string' || text.trim() === '') return [`${id}: the value is no text`]
    if (text.length > LONGEST) return [`${id}: the text has more than ${LONGEST} characters`]
    if (/[\p{Cc}\u2028\u2029]/u.test(text)) return [`${id}: the text has a line break or another control character`]
    const { strings, slots } = cut(text)
    const unknown = new Set(slots).difference(new Set(known))
    if (unknown.size > 0)
      return [
        `${id}: the text has no slot ${inBraces(unknown)}${known.length === 0 ? '' : `, only ${inBraces(known)}`}`,
      ]
    return strings.some((string) => /[{}]/.test(string)) ? [`${id}: a brace begins or ends no slot`] : []
  })
}

function inBraces(slots: Iterable<string>): string {
  return Array.from(slots, (slot) => `{${slot}}`).join(', ')
}
