import { LANGUAGES, type Language } from '../texts/generated.ts'
import { parsePreferences } from './preferences.ts'

export { LANGUAGES, type Language }

const maxLength = 1000

/**
 * Chooses the language of the pages: the first supported one in the client's `ui_locales` (OpenID Connect Core §3.1.2.1), else
 * one that the reader chose before and the browser keeps, else the supported one that the browser prefers (RFC 9110 §12.5.4), else
 * English. A language without the region or script that is asked for is taken for it (RFC 4647 §3.4).
 *
 * `kept`: the values of the cookie, which any program of a loopback host may have set.
 */
export function chooseLanguage(
  uiLocales: string | undefined,
  kept: readonly string[],
  acceptLanguage: string | undefined,
): Language {
  const asked = (uiLocales ?? '').slice(0, maxLength).split(/\s+/)
  const liked = parsePreferences(acceptLanguage ?? '')
  const chosen = LANGUAGES.filter((language) => kept.includes(language))
  return [...asked, ...chosen, ...liked].map(findLanguage).find((language) => language !== undefined) ?? LANGUAGES[0]
}

function findLanguage(tag: string): Language | undefined {
  const range = tag.toLowerCase()
  const found = LANGUAGES.find((language) => language.toLowerCase() === range)
  const end = range.lastIndexOf('-')
  return found !== undefined || end < 1 ? found : findLanguage(range.slice(0, end))
}
