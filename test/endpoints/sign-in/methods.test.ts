import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { SIGN_IN_METHODS, type SignInMethodName } from '../../../src/endpoints/sign-in/methods.ts'
import { revocationCutoff } from '../../../src/tokens/revocation-cutoff.ts'
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
import { APPLICATION_URL, leave, openApplication } from '../../support/application.ts'
import { createAda } from '../../support/accounts.ts'
import { openProviderHost } from '../../support/provider/provider-host.ts'
import { addProvider, signInAt } from '../../support/provider/providers.ts'
import { givePasskey, passkeyFormOf, signedFields } from '../../../tools/sign-in/passkeys.ts'
import { leadsTo, pressProvider } from '../../../tools/provider-page.ts'
import { beginWindow, openTestServer, type TestServer } from '../../support/server.ts'
import { selectAll } from '../../support/store/dump.ts'
import { pageSays } from '../../texts/page-texts.ts'

type Page = LightMyRequestResponse

/** How a test signs in by a method. */
interface Driver {
  readonly env: Readonly<Record<string, string>>
  /** Makes the account, and starts to sign in. Returns the last step, with the right credentials. */
  readonly start: (server: TestServer, browser: PlainBrowser, t: TestContext) => Promise<() => Promise<Page>>
  /** Uses up the attempts, and returns the answer to the next one. */
  readonly exhaust: (server: TestServer, browser: PlainBrowser, t: TestContext) => Promise<Page>
  /** What the user sees if the account is disabled or deleted. */
  readonly refusal: { readonly status: number; readonly text: RegExp }
}

const DRIVERS: Readonly<Record<SignInMethodName, Driver>> = {
  password: {
    env: {},
    async start(server, browser) {
      await createAda(server)
      const page = await openPage(server, browser)
      return () => browser.submit(page, { email: EMAIL, password: PASSWORD })
    },
    async exhaust(server, browser) {
      const page = await openPage(server, browser)
      for (let count = 0; count < 10; count += 1) await browser.submit(page, { email: EMAIL, password: 'wrong' })
      return browser.submit(page, { email: EMAIL, password: PASSWORD })
    },
    refusal: { status: 401, text: pageSays('wrongCredentials') },
  },
  passkey: {
    env: {},
    async start(server, browser) {
      await createAda(server)
      const userId = (await server.context.store.findUserByEmail(EMAIL))?.id as UserId
      const { authenticator } = await givePasskey(server, userId)
      const fields = signedFields(await openPage(server, browser), { userId, authenticator })
      return () => browser.post('/v2/oauth/sign-in/passkey', fields)
    },
    async exhaust(server, browser) {
      const { hidden } = passkeyFormOf(await openPage(server, browser))
      for (let count = 0; count < 50; count += 1) await browser.post('/v2/oauth/sign-in/passkey', hidden)
      return browser.post('/v2/oauth/sign-in/passkey', hidden)
    },
    // A deleted user has no passkey, and the passkey of a disabled one is refused.
    refusal: { status: 401, text: /This passkey belongs to no account here|The passkey did not work/ },
  },
  provider: {
    env: {},
    async start(server, browser, t) {
      const host = await openProviderHost(t)
      await addProvider(server, host, { signUp: 'anybody' })
      const first = new PlainBrowser(server)
      await signInAt({ browser: first, page: await openPage(server, first), host }, { sub: 'ada' })
      await endSessions(server)
      const { settings, id } = await addedProvider(server)
      const update = {
        id,
        previous: settings,
        settings: { ...settings, signUp: 'off' },
        encryptedSecret: undefined,
      } as const
      await server.context.store.updateProvider(update)
      const location = leadsTo(await pressProvider(browser, await openPage(server, browser)))
      return () => browser.get(host.approve(location, { sub: 'ada' }))
    },
    async exhaust(server, browser, t) {
      const host = await openProviderHost(t)
      await addProvider(server, host)
      const page = await openPage(server, browser)
      const guess = async (): Promise<Page> => {
        const callback = new URL(host.approve(leadsTo(await pressProvider(browser, page)), {}))
        callback.searchParams.set('code', 'guessed')
        return browser.get(callback.href)
      }
      for (let count = 0; count < 50; count += 1) await guess()
      return guess()
    },
    // A deleted user is unknown to the provider.
    refusal: { status: 403, text: /This account cannot sign in here|You have no account here with/ },
  },
  delegate: {
    env: { GRANTOR_DELEGATE_URL: APPLICATION_URL, GRANTOR_AUTHORIZATION_RATE: '20' },
    async start(server, browser) {
      const client = await registerClient(server)
      const application = await openApplication(server)
      const address = await application.signIn(await leave(browser, authorizeUrl(client)), { decision: 'ask' })
      return () => browser.get(address)
    },
    async exhaust(server, browser) {
      const start = await browser.get(authorizeUrl(await registerClient(server)))
      const away = locationOf(await browser.get(locationOf(start)))
      for (let count = 0; count < 20; count += 1) await browser.get(away)
      return browser.get(away)
    },
    refusal: { status: 403, text: pageSays('accountRefused') },
  },
}

interface ServerWithUser {
  readonly server: TestServer
  readonly userId: UserId
}

interface Situation {
  /** What happens before the last step. */
  readonly prepare: (opened: ServerWithUser) => Promise<unknown>
  readonly expected: (driver: Driver) => Driver['refusal']
}

const SITUATIONS: Readonly<Record<string, Situation>> = {
  'a disabled account': {
    prepare: ({ server, userId }) => server.context.store.disableUser({ id: userId, now: server.clock.now() }),
    expected: ({ refusal }) => refusal,
  },
  'a deleted account': {
    prepare: ({ server, userId }) => server.context.store.deleteUser({ id: userId }),
    expected: ({ refusal }) => refusal,
  },
  'an expired request': {
    prepare: async ({ server }) => server.clock.advance(600_000),
    expected: () => ({ status: 400, text: pageSays('errors.expired.heading') }),
  },
}

for (const { name } of SIGN_IN_METHODS) {
  const driver = DRIVERS[name]

  test(`UP-20, ${name}: the method signs a user in`, async (t) => {
    const server = await openTestServer(t, { env: driver.env })
    const answer = await (await driver.start(server, new PlainBrowser(server), t))()
    assert.match(locationOf(answer), /\/v2\/oauth\/consent\?/)
  })

  for (const [situation, { prepare, expected }] of Object.entries(SITUATIONS)) {
    test(`UP-20, ${name}: ${situation} gets the refusal of every method, and no session`, async (t) => {
      const server = await openTestServer(t, { env: driver.env })
      const finish = await driver.start(server, new PlainBrowser(server), t)
      const [user] = selectAll(server, 'select user_id from users')
      await prepare({ server, userId: user?.['user_id'] as UserId })
      const answer = await finish()
      const { status, text } = expected(driver)
      assert.equal(answer.statusCode, status, answer.body)
      assert.match(answer.body, text)
      assert.deepEqual(selectAll(server, 'select * from sessions'), [])
    })
  }

  test(`UP-20, ${name}: too many attempts get a refusal, and no session`, async (t) => {
    const server = await openTestServer(t, { env: driver.env })
    beginWindow(server)
    await createAda(server)
    const answer = await driver.exhaust(server, new PlainBrowser(server), t)
    assert.equal(answer.statusCode, 429, answer.body)
    assert.match(answer.body, /Too many (attempts|requests)/)
    assert.deepEqual(selectAll(server, 'select * from sessions'), [])
  })
}

test('with GRANTOR_PASSWORDS=off the sign-in page has no password form, and a form from before signs no user in', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const browser = new PlainBrowser(server)
  const fields = hiddenFields(await openPage(server, browser))
  await server.close()
  const { folder, clock } = server
  const off = await openTestServer(t, { folder, clock, env: { GRANTOR_PASSWORDS: 'off' } })
  const after = new PlainBrowser(off)
  for (const [name, value] of browser.cookies) after.cookies.set(name, value)
  const shown = await after.get(`/v2/oauth/sign-in?authorization=${fields['authorization']}`)
  assert.equal(shown.statusCode, 200)
  assert.deepEqual(shown.body.match(/<form/g)?.length, 1, 'The form of a passkey, which a script shows.')
  const answer = await after.post('/v2/oauth/sign-in', { ...fields, email: EMAIL, password: PASSWORD })
  assert.equal(answer.statusCode, 403)
  assert.match(answer.body, pageSays('methodOff'))
  assert.deepEqual(selectAll(off, 'select * from sessions'), [])
})

async function endSessions({ context }: TestServer): Promise<void> {
  for (const { id, userId } of await context.store.listSessions({ before: undefined, limit: 10 }))
    await context.store.endSession({ id, about: { userId }, ...revocationCutoff(context) })
}

async function addedProvider({ context }: TestServer) {
  const [provider] = await context.store.listProviders()
  assert.ok(provider)
  return provider
}

/** The sign-in page, for a new client. */
async function openPage(server: TestServer, browser: PlainBrowser): Promise<Page> {
  return browser.get(locationOf(await browser.get(authorizeUrl(await registerClient(server)))))
}
