import assert from 'node:assert/strict'
import { Secret } from 'otpauth'
import {
  authorizeUrl,
  EMAIL,
  hiddenFields,
  locationOf,
  PASSWORD,
  PlainBrowser,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { openApp, type App } from '../../../tools/sign-in/app.ts'
import type { TestServer } from '../server.ts'
import { pageTitled } from '../../texts/page-texts.ts'

type Page = Awaited<ReturnType<PlainBrowser['get']>>

/** The app that reads the key of a page. */
export function appOfPage({ clock }: Pick<TestServer, 'clock'>, page: Pick<Page, 'body'>): App {
  const key = /<code class="key">([A-Z2-7 ]+)<\/code>/.exec(page.body)?.[1]
  assert(key, page.body)
  return openApp(clock.now, Secret.fromBase32(key.replaceAll(' ', '')), [])
}

/** Goes to the page of the second step with the right password. */
export async function doFirstStep(browser: PlainBrowser, client: RegisteredClient, email = EMAIL): Promise<Page> {
  const page = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
  return browser.submit(page, { email, password: PASSWORD })
}

/** The recovery codes of a page. */
export function codesOfPage({ body }: Pick<Page, 'body'>): readonly string[] {
  return [...body.matchAll(/<li><code>([a-z0-9-]{19})<\/code>/g)].map(([, code]) => code ?? '')
}

/** Submits the form of a page that is posted to an address with this end. A page may have several forms with the same fields. */
export function submitTo(
  browser: PlainBrowser,
  page: Page,
  path: string,
  fields: Readonly<Record<string, string>>,
): Promise<Page> {
  const form = (page.body.match(/<form[^]*?<\/form>/g) ?? []).find((one) => one.includes(`${path}"`))
  assert(form, `${path} is not in ${page.body}`)
  return browser.submit({ ...page, body: form }, fields)
}

/** OTP-07: an app and its recovery codes are void, and the password alone starts no session. Another app does. */
export async function refuseFormerApp(
  server: TestServer,
  client: RegisteredClient,
  { email, app }: { readonly email: string; readonly app: App },
): Promise<void> {
  // The clock of the server before may have been ahead, and with it the not-before time of the user.
  server.clock.advance(10_000)
  const browser = new PlainBrowser(server)
  const page = await doFirstStep(browser, client, email)
  assert.match(page.body, pageTitled('setUpSecondStep'))
  const hidden = hiddenFields(page)
  const attempts = [
    ['code', app.code()],
    ['recovery-code', app.recoveryCodes[0] ?? ''],
    ['app', app.code()],
  ] as const
  for (const [way, code] of attempts) {
    const refused = await browser.post(`/v2/oauth/sign-in/${way}`, { ...hidden, code })
    assert.match(refused.body, pageTitled('setUpSecondStep'), way)
    assert.equal(
      [...browser.cookies.keys()].some((cookie) => cookie.includes('session')),
      false,
      way,
    )
  }
  const codes = await browser.submit(page, { code: appOfPage(server, page).code() })
  assert.equal((await browser.submit(codes, {})).statusCode, 303)
}
