import type { Language } from '../ports/pages.ts'
import { parsePreferences } from '../protocol/preferences.ts'

const maxLength = 1000

/**
 * The language of the pages: the first that the client asked for in `ui_locales` (OpenID Connect Core §3.1.2.1) and we
 * speak, else the one the browser likes best (RFC 9110 §12.5.4), else English. Regions and scripts are not told apart.
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
