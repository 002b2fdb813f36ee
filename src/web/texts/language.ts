import type { Language } from '../../ports/pages.ts'
import { parsePreferences } from '../../base/preferences.ts'
import { english } from './english.ts'
import { german } from './german.ts'
import type { Texts } from './texts.ts'

/** The texts of the pages, by language. A missing text is a compile error. */
export const translations: Readonly<Record<Language, Texts>> = { en: english, de: german }

const maxLength = 1000

/**
 * Chooses the language of the pages: the first supported one in the client's `ui_locales` (OpenID Connect Core §3.1.2.1), else
 * the supported one that the browser prefers (RFC 9110 §12.5.4), else English. Regions and scripts are ignored.
 */
export function chooseLanguage(uiLocales: string | undefined, acceptLanguage: string | undefined): Language {
  const asked = (uiLocales ?? '').slice(0, maxLength).split(/\s+/)
  const liked = parsePreferences(acceptLanguage ?? '')
  return [...asked, ...liked].map(findLanguage).find((language) => language !== undefined) ?? 'en'
}

function findLanguage(tag: string): Language | undefined {
  const primary = tag.split('-')[0]?.toLowerCase()
  return primary === 'en' || primary === 'de' ? primary : undefined
}
