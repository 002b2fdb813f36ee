import assert from 'node:assert/strict'
import { Secret, TOTP } from 'otpauth'
import { newRecoveryCodes, secretName } from '../../../src/endpoints/second-factor/app.ts'
import {
  authorizeUrl,
  EMAIL,
  hiddenFields,
  locationOf,
  PASSWORD,
  PlainBrowser,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import type { TestServer } from '../server.ts'

type Server = Pick<TestServer, 'clock' | 'context'>
type Page = Awaited<ReturnType<PlainBrowser['get']>>

/** An authenticator app: a released implementation, which Grantor's authors did not write. */
export interface App {
  /** The code that the app shows now, or so many steps later. */
  readonly code: (laterSteps?: number) => string
  /** A code that the app shows neither now nor in the steps around. */
  readonly wrongCode: () => string
  readonly recoveryCodes: readonly string[]
}

/** The app that reads the key of a page. */
export function appOfPage({ clock }: Pick<TestServer, 'clock'>, page: Pick<Page, 'body'>): App {
  const key = /<code class="key">([A-Z2-7 ]+)<\/code>/.exec(page.body)?.[1]
  assert(key, page.body)
  return appOf(clock, Secret.fromBase32(key.replaceAll(' ', '')), [])
}

/** Stores an app of a user, by default the one of tools/flow.ts, whose codes are all unused. Ends the sessions of the user. */
export async function addApp({ clock, context }: Server, email = EMAIL): Promise<App> {
  const { store, random, encryption } = context
  const user = await store.findUserByEmail(email)
  assert(user)
  const secret = random(20)
  const { codes, digests } = newRecoveryCodes(context, user.id)
  const outcome = await store.enableTotp({
    factor: {
      userId: user.id,
      secret: encryption.encrypt(secretName(user.id), secret),
      lastStep: 0,
      failures: 0,
      createdAt: clock.now(),
      usedAt: undefined,
    },
    recoveryDigests: digests,
    replaces: undefined,
    reason: { kind: 'sign-in', at: clock.now(), passwordHash: user.passwordHash },
  })
  assert.equal(outcome, 'enabled')
  return appOf(clock, new Secret({ buffer: new Uint8Array(secret).buffer }), codes)
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
  assert.match(page.body, /<h1>Set up two-step sign-in<\/h1>/)
  const hidden = hiddenFields(page)
  const attempts = [
    ['code', app.code()],
    ['recovery-code', app.recoveryCodes[0] ?? ''],
    ['app', app.code()],
  ] as const
  for (const [way, code] of attempts) {
    const refused = await browser.post(`/v2/oauth/sign-in/${way}`, { ...hidden, code })
    assert.match(refused.body, /<h1>Set up two-step sign-in<\/h1>/, way)
    assert.equal(
      [...browser.cookies.keys()].some((cookie) => cookie.includes('session')),
      false,
      way,
    )
  }
  const codes = await browser.submit(page, { code: appOfPage(server, page).code() })
  assert.equal((await browser.submit(codes, {})).statusCode, 303)
}

function appOf(clock: TestServer['clock'], secret: Secret, recoveryCodes: readonly string[]): App {
  const totp = new TOTP({ secret })
  const code = (laterSteps = 0) => totp.generate({ timestamp: clock.now() + laterSteps * 30_000 })
  return {
    code,
    wrongCode() {
      const near = [-1, 0, 1].map(code)
      return ['000000', '111111', '222222', '333333'].find((one) => !near.includes(one)) ?? ''
    },
    recoveryCodes,
  }
}
