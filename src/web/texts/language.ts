import type { Language } from '../../base/language.ts'
import { english } from './english.ts'
import { german } from './german.ts'
import type { Texts } from './texts.ts'

/** The texts of the pages, by language. A missing text is a compile error. */
export const translations: Readonly<Record<Language, Texts>> = { en: english, de: german }
