import { parsePreferences } from './preferences.ts'

/** The languages that the pages and the mails are written in. The first one is the default. */
export const LANGUAGES = ['en', 'de'] as const
export type Language = (typeof LANGUAGES)[number]

const maxLength = 1000

/**
 * Chooses the language of the pages: the first supported one in the client's `ui_locales` (OpenID Connect Core §3.1.2.1), else
 * the supported one that the browser prefers (RFC 9110 §12.5.4), else English. Regions and scripts are ignored.
 */
export function chooseLanguage(uiLocales: string | undefined, acceptLanguage: string | undefined): Language {
  const asked = (uiLocales ?? '').slice(0, maxLength).split(/\s+/)
  const liked = parsePreferences(acceptLanguage ?? '')
  return [...asked, ...liked].map(findLanguage).find((language) => language !== undefined) ?? LANGUAGES[0]
}

function findLanguage(tag: string): Language | undefined {
  const primary = tag.split('-')[0]?.toLowerCase()
  return LANGUAGES.find((language) => language === primary)
}
