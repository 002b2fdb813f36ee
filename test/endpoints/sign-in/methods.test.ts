import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { SIGN_IN_METHODS, type SignInMethodName } from '../../../src/endpoints/sign-in/methods.ts'
import type { UserId } from '../../../src/protocol/ids.ts'
import {
  authorizeUrl,
  EMAIL,
  hiddenFields,
  locationOf,
  PASSWORD,
  PlainBrowser,
  registerClient,
} from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { selectAll } from '../../support/store-dump.ts'

type Page = LightMyRequestResponse

/** How a test signs in by a method, from the sign-in page that the browser shows. */
interface Driver {
  /** Authenticates the user with the right credentials. */
  readonly signIn: (browser: PlainBrowser, page: Page) => Promise<Page>
  /** Uses up the attempts of the account. */
  readonly exhaust: (browser: PlainBrowser, page: Page) => Promise<void>
  /** What the user sees if the account is disabled or deleted. */
  readonly refusal: { readonly status: number; readonly text: RegExp }
}

const DRIVERS: Readonly<Record<SignInMethodName, Driver>> = {
  password: {
    signIn: (browser, page) => browser.submit(page, { email: EMAIL, password: PASSWORD }),
    async exhaust(browser, page) {
      for (let count = 0; count < 10; count += 1) await browser.submit(page, { email: EMAIL, password: 'wrong' })
    },
    refusal: { status: 401, text: /That email and password do not match/ },
  },
}

interface Scene {
  readonly server: TestServer
  readonly driver: Driver
  readonly browser: PlainBrowser
  readonly page: Page
  readonly userId: UserId
}

interface Situation {
  readonly prepare: (scene: Scene) => Promise<unknown>
  readonly expected: (driver: Driver) => Driver['refusal']
}

const SITUATIONS: Readonly<Record<string, Situation>> = {
  'a disabled account': {
    prepare: ({ server, userId }) => server.context.store.disableUser({ id: userId, now: server.clock.now() }),
    expected: ({ refusal }) => refusal,
  },
  'a deleted account': {
    prepare: ({ server, userId }) => server.context.store.deleteUser(userId),
    expected: ({ refusal }) => refusal,
  },
  'an expired request': {
    prepare: async ({ server }) => server.clock.advance(600_000),
    expected: () => ({ status: 400, text: /This page has expired/ }),
  },
  'too many attempts': {
    prepare: ({ driver, browser, page }) => driver.exhaust(browser, page),
    expected: () => ({ status: 429, text: /Too many attempts/ }),
  },
}

for (const { name } of SIGN_IN_METHODS) {
  const driver = DRIVERS[name]

  test(`UP-20, ${name}: the method signs a user in`, async (t) => {
    const { browser, page } = await setScene(t, driver)
    const answer = await driver.signIn(browser, page)
    assert.match(locationOf(answer), /\/v2\/oauth\/consent\?/)
  })

  for (const [situation, { prepare, expected }] of Object.entries(SITUATIONS)) {
    test(`UP-20, ${name}: ${situation} gets the refusal of every method, and no session`, async (t) => {
      const scene = await setScene(t, driver)
      await prepare(scene)
      const answer = await driver.signIn(scene.browser, scene.page)
      const { status, text } = expected(driver)
      assert.equal(answer.statusCode, status, answer.body)
      assert.match(answer.body, text)
      assert.deepEqual(selectAll(scene.server, 'select * from sessions'), [])
    })
  }
}

test('with GRANTOR_PASSWORDS=off the sign-in page has no password form, and a form from before signs no user in', async (t) => {
  const { server, browser, page } = await setScene(t, DRIVERS.password)
  const fields = hiddenFields(page)
  await server.close()
  const { folder, clock } = server
  const off = await openTestServer(t, { folder, clock, env: { GRANTOR_PASSWORDS: 'off' } })
  const after = new PlainBrowser(off)
  for (const [name, value] of browser.cookies) after.cookies.set(name, value)
  const shown = await after.get(`/v2/oauth/sign-in?authorization=${fields['authorization']}`)
  assert.equal(shown.statusCode, 200)
  assert.ok(!shown.body.includes('<form') && shown.body.includes('There is no way to sign in here'))
  const answer = await after.post('/v2/oauth/sign-in', { ...fields, email: EMAIL, password: PASSWORD })
  assert.equal(answer.statusCode, 403)
  assert.match(answer.body, /You cannot sign in that way here any more/)
  assert.deepEqual(selectAll(off, 'select * from sessions'), [])
})

async function setScene(t: Parameters<typeof openTestServer>[0], driver: Driver): Promise<Scene> {
  const server = await openTestServer(t)
  await createAda(server)
  const client = await registerClient(server)
  const browser = new PlainBrowser(server)
  const page = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
  const [user] = selectAll(server, 'select user_id from users')
  return { server, driver, browser, page, userId: user?.['user_id'] as UserId }
}
