import { LANGUAGES, type Language } from '../base/language.ts'
import { TEXTS, type TextSlots } from '../texts/generated.ts'
import { cut, textsIn, type TextChanges, type TextId } from '../texts/texts.ts'
import { escapeText, fill, type Fragment, type Markup } from './markup.ts'

/** The values of the slots of a text, all of them; of one of several texts, those of each. A text without slots takes none. */
type Values<Id extends TextId, Value> = [SlotsOf<Id>] extends [never]
  ? readonly []
  : readonly [values: Readonly<Record<SlotsOf<Id>, Value>>]
type SlotsOf<Id extends TextId> = Id extends keyof TextSlots ? TextSlots[Id] : never

/** The id of a text without slots. */
export type PlainTextId = Exclude<TextId, keyof TextSlots>

export function isPlainTextId(id: string): id is PlainTextId {
  return TEXTS.en[id]?.includes('{') === false
}

/** The texts of the pages and mails in one language. `count` chooses the plural form. */
export interface Translation {
  /** Returns a text as the content of an element, with its values escaped. It says its language if the page has another one. */
  readonly show: <Id extends TextId>(id: Id, ...values: Values<Id, Fragment>) => Markup
  /** Returns a text for an attribute, a title or a mail, with its values as they are: what it becomes a part of escapes it. */
  readonly say: <Id extends TextId>(id: Id, ...values: Values<Id, string | number>) => string
}

/** The texts of every language. */
export type Translations = Readonly<Record<Language, Translation>>

const opened = new WeakMap<TextChanges, Translations>()

/** Returns the texts of the files, with those that replace them. */
export function openTranslations(changes: TextChanges): Translations {
  const before = opened.get(changes)
  if (before !== undefined) return before
  const rows = LANGUAGES.map((language) => [language, openTranslation(language, changes)] as const)
  const translations = Object.fromEntries(rows) as Translations
  opened.set(changes, translations)
  return translations
}

function openTranslation(language: Language, changes: TextChanges): Translation {
  const [own, english] = [textsIn(language, changes), textsIn('en', changes)]
  const prepared = new Map<string, Prepared>()
  const sourceOf = (id: string) =>
    id in own ? { texts: own, from: language } : { texts: english, from: 'en' as const }
  const formOf = (id: string, count: number): string => {
    const { texts, from } = sourceOf(id)
    const form = `${id}.${pluralRules(from).select(count)}`
    return form in texts ? form : id
  }
  const add = (id: string): Prepared => {
    const { texts, from } = sourceOf(id)
    const text = prepare(texts[id] ?? '', from === language ? undefined : from)
    prepared.set(id, text)
    return text
  }
  const find = (id: string, count: unknown): Prepared => {
    const exact = typeof count === 'number' ? formOf(id, count) : id
    return prepared.get(exact) ?? add(exact)
  }
  return {
    show(id, ...[values]: readonly (Readonly<Record<string, Fragment>> | undefined)[]) {
      const { markup, escaped, slots } = find(id, values?.['count'])
      return markup ?? fill(escaped, slots, values ?? {})
    },
    say(id, ...[values]: readonly (Readonly<Record<string, string | number>> | undefined)[]) {
      const { strings, slots } = find(id, values?.['count'])
      return strings.reduce((text, string, index) => `${text}${values?.[slots[index - 1] ?? ''] ?? ''}${string}`)
    },
  }
}

/** A text that is cut and escaped once. */
interface Prepared extends ReturnType<typeof cut> {
  readonly escaped: readonly string[]
  /** undefined: the text has slots. */
  readonly markup: Markup | undefined
}

/** `other`: the language of the text, if it is not that of the page. A screen reader then reads it in its own (WCAG 2.2, 3.1.2). */
function prepare(text: string, other: Language | undefined): Prepared {
  const { strings, slots } = cut(text)
  const [start, end] = other === undefined ? ['', ''] : [`<span lang="${other}">`, '</span>']
  const parts = strings
    .map(escapeText)
    .map((part, index) => `${index === 0 ? start : ''}${part}${index === slots.length ? end : ''}`)
  return { strings, slots, escaped: parts, markup: slots.length === 0 ? fill(parts, [], {}) : undefined }
}

const rules = new Map<Language, Intl.PluralRules>()

/** Created for the first text that needs it, because ICU's data of a language takes memory. */
function pluralRules(language: Language): Intl.PluralRules {
  const known = rules.get(language) ?? new Intl.PluralRules(language)
  rules.set(language, known)
  return known
}
