import type { Language } from '../ports/pages.ts'
import { english } from './texts-english.ts'
import { german } from './texts-german.ts'
import type { Texts } from './texts.ts'

/** The words of the pages, by language. A word that is missing in one does not compile. */
export const translations: Readonly<Record<Language, Texts>> = { en: english, de: german }
