import type { IncomingMessage } from 'node:http'
import { chooseLanguage, type Language } from '../base/language.ts'
import { shortenLocales } from '../base/preferences.ts'
import { CHOSEN, type LanguageLinks } from '../web/layout.ts'
import { isOtherSite } from './network.ts'
import type { CookieJar } from './session.ts'

/** The language of a page. `uiLocales`: the languages that the client asks for, if the address of the page does not have them. */
export function pageLanguage(
  message: Pick<IncomingMessage, 'headers' | 'url'>,
  jar: CookieJar,
  uiLocales = shortenLocales(queryOf(message).get('ui_locales') ?? undefined),
): Language {
  return chooseLanguage(uiLocales, jar.readLanguages(message), message.headers['accept-language'])
}

/**
 * What a page needs for links to itself in other languages, which repeat these parameters alone. `site`: which site's page sent the request.
 * Another site chooses no language for the reader.
 */
export function languageLinks(
  message: Pick<IncomingMessage, 'url'>,
  parameters: readonly string[],
  site: string | undefined,
): LanguageLinks {
  const sent = queryOf(message)
  const repeated = parameters.flatMap((name) => sent.getAll(name).map((value) => [name, value]))
  return { query: new URLSearchParams(repeated), isChosen: sent.has(...CHOSEN) && !isOtherSite(site) }
}

function queryOf({ url = '' }: Pick<IncomingMessage, 'url'>): URLSearchParams {
  const mark = url.indexOf('?')
  return new URLSearchParams(mark === -1 ? '' : url.slice(mark + 1))
}
