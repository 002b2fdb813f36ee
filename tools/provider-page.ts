import type { Response as LightMyRequestResponse } from 'light-my-request'
import { attribute, hiddenFields, type PlainBrowser } from './flow.ts'

type Page = LightMyRequestResponse

/** Presses the button of a provider on a sign-in page. Returns the page that leads there. @throws Error without such a button */
export function pressProvider(browser: PlainBrowser, page: Page, provider = 'idp'): Promise<Page> {
  return browser.post('/v2/oauth/sign-in/provider', { ...formOf(page, provider), provider })
}

/** The hidden fields of the form with the button of a provider. */
function formOf(page: Page, provider: string): Record<string, string> {
  const form = (page.body.match(/<form[^]*?<\/form>/g) ?? []).find((one) => one.includes(`value="${provider}"`))
  if (form === undefined) throw new Error(`There is no button for ${provider}: ${page.body}`)
  return hiddenFields({ body: form })
}

/** The address to which a page leads by itself. @throws Error if it leads nowhere */
export function leadsTo(page: Page): string {
  const refresh = /<meta http-equiv="refresh"[^>]*>/.exec(page.body)?.[0]
  if (refresh === undefined) throw new Error(`The page leads nowhere (${page.statusCode}): ${page.body}`)
  return attribute(refresh, 'content').replace('0; url=', '')
}
