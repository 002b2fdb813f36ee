import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { AdminError } from '../../../src/admin/admin-error.ts'
import { createLink } from '../../../src/admin/user/link.ts'
import { setPassword } from '../../../src/admin/user/user.ts'
import { authorizeUrl, hiddenFields, locationOf, PASSWORD, PlainBrowser } from '../../../tools/flow.ts'
import { leadsTo, pressProvider } from '../../../tools/provider-page.ts'
import { createAccount } from '../../support/accounts.ts'
import { APPLICATION_URL } from '../../support/application.ts'
import { addProvider, freshClaims, signInAt } from '../../support/provider/providers.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { SESSION_COOKIE } from '../../support/session-cookie.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { formsOf, openOwner, removalsOf } from '../account/owner.ts'
import { openServerWithProvider, type ServerWithProvider } from './provider/server-with-provider.ts'
import { sentence } from '../../texts/page-texts.ts'

type Page = LightMyRequestResponse

/** The settings with which the server is opened again, and what then signs users in. */
const MODES = {
  'this server': { env: {}, signedInBy: ['password', 'provider'] },
  'this server without passwords': { env: { GRANTOR_PASSWORDS: 'off' }, signedInBy: ['provider'] },
  'the application': { env: { GRANTOR_DELEGATE_URL: APPLICATION_URL, GRANTOR_DELEGATE: 'sign-in' }, signedInBy: [] },
  'the application, with everything delegated,': {
    env: { GRANTOR_DELEGATE_URL: APPLICATION_URL },
    signedInBy: [],
  },
} as const satisfies Readonly<
  Record<string, { readonly env: Readonly<Record<string, string>>; readonly signedInBy: readonly Method[] }>
>
type Method = 'password' | 'provider'

/** A person who begins before the server is opened again with other settings, and goes on after it. */
interface Way {
  readonly method: Method
  readonly begin: (setup: ServerWithProvider, email: string) => Promise<Rest>
}
interface Rest {
  readonly browser: PlainBrowser
  /** Whether the way led further. */
  readonly goOn: (server: TestServer, browser: PlainBrowser) => Promise<boolean>
}

const SAME_SITE = { 'sec-fetch-site': 'same-origin' }
const NEW = { password: 'another long horse', repeated: 'another long horse' }

const WAYS: Readonly<Record<string, Way>> = {
  'the sign-in page shows the button of a provider': at('provider', (page) => async (_, browser) => {
    const shown = await browser.get(addressOf(page), SAME_SITE)
    assert.equal(shown.statusCode, 200)
    return shown.body.includes('value="idp"')
  }),
  'the form of the button': at('provider', (page) => async (_, browser) => leads(await pressProvider(browser, page))),
  'the password form': at('password', (page, _, email) => async (__, browser) => {
    const fields = { ...hiddenFields({ body: page.body }), email, password: PASSWORD }
    return startsSession(await browser.post('/v2/oauth/sign-in', fields))
  }),
  'the return of a sign-in': {
    method: 'provider',
    async begin({ arrive, host }, email) {
      const { browser, page } = await arrive()
      const callback = host.approve(leadsTo(await pressProvider(browser, page)), { sub: email })
      return { browser, goOn: async (_, after) => startsSession(await after.get(callback)) }
    },
  },
  'the return with a new sign-in method': {
    method: 'provider',
    async begin({ server, host }, email) {
      const owner = openOwner(server, email)
      const left = await owner.submit(await owner.open('/account/security/add-provider'), 'provider')
      const callback = host.approve(leadsTo(left), { sub: email })
      return { browser: owner.browser, goOn: async (_, after) => isRedirect(await after.get(callback)) }
    },
  },
  'the return with a link': {
    method: 'provider',
    async begin({ server, host }, email) {
      const browser = new PlainBrowser(server)
      const page = await browser.get((await createLink(server.context, email)).address)
      const form = formsOf(page).find(({ hidden }) => hidden['provider'] === 'idp')
      const callback = host.approve(leadsTo(await browser.post(form?.action ?? '', form?.hidden ?? {})), { sub: email })
      return { browser, goOn: async (_, after) => startsSession(await after.get(callback)) }
    },
  },
  'the return with a proof': {
    method: 'provider',
    async begin(setup, email) {
      const { server, host } = setup
      await connect(setup, email, 'second')
      const { browser, page } = await setup.arrive()
      const asked = await signInAt({ browser, page, host }, { ...freshClaims(server), sub: `${email}-at-idp`, email })
      const callback = host.approve(leadsTo(await pressProvider(browser, asked, 'second')), {
        ...freshClaims(server),
        sub: email,
      })
      return { browser, goOn: async (_, after) => startsSession(await after.get(callback)) }
    },
  },
  'the account page adds a provider': atSecurity('provider', 'add-provider', { provider: 'idp' }, leads),
  'the account page removes an identity': {
    method: 'provider',
    async begin(setup, email) {
      await connect(setup, email, 'idp')
      const browser = await connect(setup, email, 'second')
      const [question] = removalsOf(await browser.get('/account/security'))
      const [form] = formsOf(await browser.get(`${question?.pathname}${question?.search}`))
      assert.ok(form)
      return { browser, goOn: async (_, after) => isRemoved(await after.post(form.action, form.hidden)) }
    },
  },
  'the account page sets a password': atSecurity('password', 'password', NEW, isRedirect),
  'the form of a link leads to a provider': ofLink('provider', { provider: 'idp' }, leads),
  'the form of a link sets a password': ofLink('password', NEW, ({ body }) =>
    body.includes(sentence('account.linkUsedHeading')),
  ),
  'the operator creates a link': {
    method: 'provider',
    begin: async ({ server }, email) => ({
      browser: new PlainBrowser(server),
      goOn: ({ context }) => succeeds(createLink(context, email)),
    }),
  },
  'the operator sets a password': {
    method: 'password',
    begin: async ({ server }, email) => ({
      browser: new PlainBrowser(server),
      goOn: ({ context }) => succeeds(setPassword(context, email, 'another long horse')),
    }),
  },
  // The last one, because the sign-in page asks for the address alone where a provider is required.
  'the sign-in page leads to the provider of the address': {
    method: 'provider',
    async begin({ server, client, host }) {
      const required = { routing: 'required', domains: ['routed.test'] } as const
      await addProvider(server, host, required, { id: 'routed' })
      const browser = new PlainBrowser(server)
      const start = await browser.get(authorizeUrl(client, { login_hint: 'ada@routed.test' }))
      const goOn: Rest['goOn'] = async (_, after) =>
        (await after.get(locationOf(start), SAME_SITE)).headers.location?.startsWith(host.issuer) === true
      return { browser, goOn }
    },
  },
}

for (const [mode, { env, signedInBy }] of Object.entries(MODES)) {
  test(`DEL-14: ${mode} signs users in, and no other way does, also one that was begun before`, async (t) => {
    const setup = await openServerWithProvider(t, { signUp: 'anybody' })
    await addProvider(setup.server, setup.host, {}, { id: 'second', name: 'Second' })
    setup.server.clock.advance(1001)
    const begun = new Map<string, Rest>()
    for (const [name, { begin }] of Object.entries(WAYS)) {
      const email = `way-${begun.size}@acme.test`
      await createAccount(setup.server, { email, password: PASSWORD, name: undefined })
      begun.set(name, await begin(setup, email))
    }
    const after = await reopenWith(t, setup, env)
    for (const [name, { browser, goOn }] of begun) {
      const { method } = WAYS[name] ?? assert.fail()
      const isOpen = (signedInBy as readonly Method[]).includes(method)
      const act = () => goOn(after, movedTo(after, browser))
      assert.equal(await (isOpen ? act() : assertStoreUnchanged(after, act)), isOpen, name)
    }
  })
}

/** A way that begins with the sign-in page. */
function at(method: Method, goOnFrom: (page: Page, setup: ServerWithProvider, email: string) => Rest['goOn']): Way {
  return {
    method,
    async begin(setup, email) {
      const { browser, page } = await setup.arrive()
      return { browser, goOn: goOnFrom(page, setup, email) }
    },
  }
}

/** A form of a page for the sign-in methods of the own account. */
function atSecurity(
  method: Method,
  page: string,
  fields: Readonly<Record<string, string>>,
  isDone: (answer: Page) => boolean,
): Way {
  return {
    method,
    async begin({ server }, email) {
      const owner = openOwner(server, email)
      const csrf = formsOf(await owner.open('/account'))[0]?.hidden['csrf'] ?? ''
      const goOn: Rest['goOn'] = async (_, browser) =>
        isDone(await browser.post(`/account/security/${page}`, { csrf, ...fields }))
      return { browser: owner.browser, goOn }
    },
  }
}

/** A form of the page of a link. The page itself has to say the same. */
function ofLink(method: Method, fields: Readonly<Record<string, string>>, isDone: (answer: Page) => boolean): Way {
  return {
    method,
    async begin({ server }, email) {
      const { address } = await createLink(server.context, email)
      const token = new URL(address).searchParams.get('token') ?? ''
      const goOn: Rest['goOn'] = async (_, browser) => {
        const isOffered = formsOf(await browser.get(address)).some(({ names }) => names.has(method))
        const isOpen = isDone(await browser.post('/account/link', { token, ...fields }))
        assert.equal(isOffered, isOpen)
        return isOpen
      }
      return { browser: new PlainBrowser(server), goOn }
    },
  }
}

/** Signs the user in, and adds an identity at a provider. */
async function connect({ server, host }: ServerWithProvider, email: string, provider: string): Promise<PlainBrowser> {
  const owner = openOwner(server, email)
  const left = await owner.submit(await owner.open('/account/security/add-provider'), 'provider', {}, provider)
  await owner.browser.get(host.approve(leadsTo(left), { ...freshClaims(server), sub: email }))
  return owner.browser
}

function addressOf(page: Page): string {
  return `/v2/oauth/sign-in?authorization=${hiddenFields({ body: page.body })['authorization']}`
}

async function reopenWith(
  t: TestContext,
  { server }: ServerWithProvider,
  env: Readonly<Record<string, string>>,
): Promise<TestServer> {
  await server.close()
  const { folder, clock } = server
  return openTestServer(t, { folder, clock, env })
}

/** The same browser, at the server that was opened again. */
function movedTo(server: TestServer, { cookies }: PlainBrowser): PlainBrowser {
  const browser = new PlainBrowser(server)
  for (const [name, value] of cookies) browser.cookies.set(name, value)
  return browser
}

function leads({ body }: Page): boolean {
  return body.includes('http-equiv="refresh"')
}

function isRemoved({ headers }: Page): boolean {
  return headers.location?.endsWith('?done=method-removed') === true
}

function isRedirect({ statusCode }: Page): boolean {
  return statusCode === 303
}

function startsSession({ cookies }: Page): boolean {
  return cookies.some(({ name, value }) => name === SESSION_COOKIE && value !== '')
}

async function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    (cause: unknown) => {
      assert.ok(cause instanceof AdminError, String(cause))
      return false
    },
  )
}
