import type { IncomingMessage } from 'node:http'
import { chooseLanguage, type Language } from '../base/language.ts'
import { shortenLocales } from '../base/preferences.ts'
import { CHOSEN, type LanguageLinks } from '../web/layout.ts'
import { isOtherSite } from './network.ts'
import type { CookieJar } from './session.ts'

type Parameter = readonly [name: string, value: string]

/** The language of a page. `uiLocales`: the languages that the client asks for, if the address of the page does not have them. */
export function pageLanguage(
  message: Pick<IncomingMessage, 'headers' | 'url'>,
  jar: CookieJar,
  uiLocales = shortenLocales(queryOf(message).get('ui_locales') ?? undefined),
): Language {
  return chooseLanguage(uiLocales, jar.readLanguages(message), message.headers['accept-language'])
}

/**
 * What a page needs for links to itself in other languages, which have these parameters alone. `site`: which site's page sent the request.
 * Another site chooses no language for the reader.
 */
export function languageLinks(
  message: Pick<IncomingMessage, 'url'>,
  parameters: readonly Parameter[],
  site: string | undefined,
): LanguageLinks {
  const isChosen = queryOf(message).has(...CHOSEN) && !isOtherSite(site)
  return { query: new URLSearchParams(parameters.map(([name, value]) => [name, value])), isChosen }
}

/** The parameters with these names that the address of the request has. */
export function sentParameters(message: Pick<IncomingMessage, 'url'>, names: readonly string[]): readonly Parameter[] {
  const sent = queryOf(message)
  return names.flatMap((name) => sent.getAll(name).map((value) => [name, value] as const))
}

function queryOf({ url = '' }: Pick<IncomingMessage, 'url'>): URLSearchParams {
  const mark = url.indexOf('?')
  return new URLSearchParams(mark === -1 ? '' : url.slice(mark + 1))
}
