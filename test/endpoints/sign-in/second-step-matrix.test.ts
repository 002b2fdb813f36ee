import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { authorizeUrl, locationOf, PASSWORD, PlainBrowser, redeem, type RegisteredClient } from '../../../tools/flow.ts'
import { createLink } from '../../../src/admin/user/link.ts'
import { createAccount } from '../../support/accounts.ts'
import { APPLICATION_URL, leave, openApplication } from '../../support/application.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { combine } from '../../support/runner/cases.ts'
import { leadsTo } from '../../../tools/provider-page.ts'
import { openProviderHost } from '../../support/provider/provider-host.ts'
import { addProvider, freshClaims, signInAt } from '../../support/provider/providers.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { SESSION_COOKIE } from '../../support/session-cookie.ts'
import { addApp, type App } from '../../../tools/sign-in/app.ts'
import { appOfPage, submitTo } from '../../support/sign-in/apps.ts'
import { openNodeSettings } from '../../support/store/migrated-database.ts'
import { perform } from '../../support/tasks.ts'
import { idTokenOf, makeClient, tokensOf } from '../openid/login.ts'
import { pageSays, pageTitled } from '../../texts/page-texts.ts'

/** Each first step × whether two factors are required × the account × what the person signs in for. */

type Page = LightMyRequestResponse

interface Person {
  readonly email: string
  password: string
  app: App | undefined
  /** No code of an app works twice, so each sign-in has that of the next step. */
  step: number
}

interface Method {
  readonly name: string
  /** What a session of this step alone says. */
  readonly methods: string
  readonly servers: readonly TestServer[]
  /** What the method signs in for, where not for everything. */
  readonly targets?: readonly string[]
  readonly signIn: (server: TestServer, browser: PlainBrowser, start: Page, person: Person) => Promise<Page>
}

const env = { GRANTOR_REDIRECT_ERRORS: 'true' }
const host = await openProviderHost(WHOLE_FILE)
const optional = await openTestServer(WHOLE_FILE, { env })
const required = await openTestServer(WHOLE_FILE, { env: { ...env, GRANTOR_SECOND_FACTOR: 'required' } })
const onPostgres = await openTestServer(WHOLE_FILE, {
  env: { ...env, ...(await openNodeSettings(WHOLE_FILE)), GRANTOR_SECOND_FACTOR: 'required' },
})
for (const server of [optional, required, onPostgres]) {
  await addProvider(server, host, { signUp: 'anybody' })
  await addProvider(server, host, { signUp: 'anybody', multiFactor: true }, { id: 'strong', name: 'Strong ID' })
  server.clock.advance(1001)
}
const delegating = await openTestServer(WHOLE_FILE, {
  env: { ...env, GRANTOR_DELEGATE_URL: APPLICATION_URL, GRANTOR_DELEGATE: 'sign-in' },
})
const application = await openApplication(delegating)

const METHODS: readonly Method[] = [
  { name: 'a password', methods: 'pwd', servers: [optional, required, onPostgres], signIn: byPassword },
  {
    name: 'a provider that says itself that it has asked for two factors',
    methods: 'fed',
    servers: [optional, required, onPostgres],
    signIn: atProvider('idp'),
  },
  {
    name: 'a provider with multi_factor',
    methods: 'fed mfa',
    servers: [optional, required],
    signIn: atProvider('strong'),
  },
  {
    name: 'a link and its new password',
    methods: 'pwd',
    servers: [optional, required, onPostgres],
    targets: ['an authorization', 'an account page'],
    signIn: byLink,
  },
  {
    name: 'a link and its provider',
    methods: 'fed',
    servers: [optional, required, onPostgres],
    targets: ['an account page'],
    signIn: byLinkAtProvider,
  },
  { name: 'the application', methods: 'fed', servers: [delegating], signIn: atApplication(false) },
  { name: 'the application with multi_factor', methods: 'fed mfa', servers: [delegating], signIn: atApplication(true) },
]

async function byPassword(_: TestServer, browser: PlainBrowser, start: Page, person: Person): Promise<Page> {
  const { email, password } = person
  return browser.submit(await browser.get(locationOf(start)), { email, password })
}

async function byLink(server: TestServer, browser: PlainBrowser, start: Page, person: Person): Promise<Page> {
  person.password = 'another long horse'
  const page = await browser.get(await makeLink(server, person))
  const used = await browser.submit(page, { password: person.password, repeated: person.password })
  assert.match(used.body, pageSays('account.linkUsedHeading'))
  server.clock.advance(1)
  return byPassword(server, browser, start, person)
}

async function byLinkAtProvider(server: TestServer, browser: PlainBrowser, _: Page, person: Person): Promise<Page> {
  const page = await browser.get(await makeLink(server, person))
  const left = leadsTo(await browser.submit(page, { provider: 'idp' }))
  return browser.get(host.approve(left, { ...freshClaims(server), sub: person.email, email: person.email }))
}

async function makeLink({ clock, context }: TestServer, { email }: Person): Promise<string> {
  clock.advance(1)
  return (await createLink(context, email)).address
}

function atProvider(id: string): Method['signIn'] {
  return async (server, browser, start, { email }) => {
    const page = await browser.get(locationOf(start))
    const claims = { ...freshClaims(server), sub: email, email, amr: ['mfa', 'otp'], acr: 'phr' }
    return signInAt({ browser, page, host }, claims, {}, id)
  }
}

function atApplication(multi_factor: boolean): Method['signIn'] {
  return async ({ clock }, browser, start, { email }) => {
    const interaction = await leave(browser, locationOf(start))
    const authenticated_at = new Date(clock.now()).toISOString()
    const who = { subject: email, email, email_verified: true, authenticated_at, multi_factor }
    return browser.get(await application.signIn(interaction, { ...who, decision: 'ask', remember_seconds: 900 }))
  }
}

/**
 * What the person signs in for. `asked`: the parameters of the client; undefined: the person opens an account page. `earlier`: an earlier
 * sign-in of the person, whose session the browser has, or whose consent the account.
 */
const TARGETS: Readonly<
  Record<string, { readonly asked?: Readonly<Record<string, string>>; readonly earlier?: 'session' | 'consent' }>
> = {
  'an authorization': { asked: {} },
  'an authorization with max_age': { asked: { max_age: '0' }, earlier: 'session' },
  'an authorization with prompt=none': { earlier: 'consent' },
  'an account page': {},
}

const HEADINGS = {
  code: pageTitled('secondStep'),
  'set-up': pageTitled('setUpSecondStep'),
} as const

function followsOf({ methods }: Method, server: TestServer, hasApp: boolean): 'session' | keyof typeof HEADINGS {
  if (methods.includes('mfa') || server === delegating) return 'session'
  if (hasApp) return 'code'
  return server === optional ? 'session' : 'set-up'
}

for (const method of METHODS) {
  const cases = combine([method.servers, [false, true], method.targets ?? Object.keys(TARGETS)])
  for (const server of method.servers) {
    for (const hasApp of [false, true]) {
      const follows = followsOf(method, server, hasApp)
      const rule = server === required ? 'required' : server === onPostgres ? 'required on PostgreSQL' : 'optional'
      const what = follows === 'session' ? 'a session' : `nothing before the second step (${follows})`
      test(`UI-14, OTP-03, UP-27: ${method.name}, ${rule}, ${hasApp ? 'an app' : 'no app'}: the first step gives ${what}`, async () => {
        for (const [where, has, target] of cases)
          if (where === server && has === hasApp) await check({ method, server, hasApp, follows, target })
      })
    }
  }
}

interface Case {
  readonly method: Method
  readonly server: TestServer
  readonly hasApp: boolean
  readonly follows: ReturnType<typeof followsOf>
  readonly target: string
}

async function check({ method, server, hasApp, follows, target }: Case): Promise<void> {
  const { asked, earlier } = TARGETS[target] ?? assert.fail()
  const expected = follows === 'session' ? method.methods : `${method.methods} otp mfa`
  const person = await createPerson(method, server, hasApp)
  const client = await makeClient(server)
  const browser = new PlainBrowser(server)
  const signIn = (start: Page): Promise<Page> => method.signIn(server, browser, start, person)
  const silently = async (): Promise<URL> =>
    new URL(locationOf(await browser.get(openidUrl(client, { ...asked, prompt: 'none' }))))
  if (earlier !== undefined) {
    await complete(server, browser, await signIn(await browser.get('/account')), person)
    if (earlier === 'consent') await allow(browser, await browser.get(openidUrl(client)))
    if (earlier === 'consent') browser.cookies.delete(SESSION_COOKIE)
    server.clock.advance(1001)
  }
  const held = browser.cookies.get(SESSION_COOKIE)
  const before = await startedSessions(server, person)

  const start = await browser.get(asked === undefined ? '/account/security' : openidUrl(client, asked))
  const since = Math.floor(server.clock.now() / 1000)
  const first = await signIn(start)
  const until = server.clock.now() / 1000
  if (follows !== 'session') {
    assert.equal(first.statusCode, 200, target)
    assert.match(first.body, HEADINGS[person.app === undefined ? 'set-up' : 'code'], target)
    assert.equal(browser.cookies.get(SESSION_COOKIE), held, target)
    assert.deepEqual(await startedSessions(server, person), before, target)
    assert.equal((await silently()).searchParams.get('error'), 'login_required', target)
    if (held === undefined) assert.match(locationOf(await browser.get('/account/security')), /\/sign-in\?/, target)
    server.clock.advance(2000)
  }

  const last = await complete(server, browser, first, person)
  assert.match(locationOf(last), asked === undefined ? /\/account(?:\/security)?$/ : /\/consent\?/, target)
  assert.deepEqual(await startedSessions(server, person), [...before, expected], target)
  if (asked !== undefined) {
    const code = await allow(browser, last)
    const { amr, auth_time } = idTokenOf(tokensOf(await redeem(server, client, code)))
    assert.deepEqual(amr, expected.split(' '), target)
    // A provider says when its step was; otherwise the user has authenticated with the last step (OpenID Connect Core §2).
    const end = method.methods.startsWith('fed') ? until : server.clock.now() / 1000
    assert.ok(Number(auth_time) >= since && Number(auth_time) <= end, `${target}: the time of the authentication`)
    if (follows !== 'session' && end !== until) assert.ok(Number(auth_time) > until, `${target}: after the first step`)
  } else if (earlier === 'consent') {
    assert.ok((await silently()).searchParams.has('code'), target)
  } else {
    const { body } = await browser.get('/account/sessions')
    const isSecondSaid = /with a second step|with an authenticator app/.test(body)
    assert.equal(isSecondSaid, expected.includes('mfa'), body)
  }
}

let persons = 0

/** Makes an account by the first sign-in, as people get one, or with a password; the app is from before sign-in was delegated. */
async function createPerson(method: Method, server: TestServer, hasApp: boolean): Promise<Person> {
  const person: Person = { email: `${(persons += 1)}@acme.test`, password: PASSWORD, app: undefined, step: -1 }
  const browser = new PlainBrowser(server)
  if ([byPassword, byLink, byLinkAtProvider].includes(method.signIn))
    await createAccount(server, { email: person.email, password: PASSWORD, name: undefined })
  else await method.signIn(server, browser, await browser.get('/account'), person)
  server.clock.advance(1)
  if (hasApp) person.app = await addApp(server, person.email)
  return person
}

/** Does the second step, if there is one. */
async function complete(server: TestServer, browser: PlainBrowser, page: Page, person: Person): Promise<Page> {
  if (page.statusCode !== 200) return page
  const isNew = person.app === undefined
  // The clock goes on. The code of the step before is refused if a step ends between making and sending it.
  const rest = 30_000 - (server.clock.now() % 30_000)
  if (rest < 5000) server.clock.advance(rest)
  const app = (person.app ??= appOfPage(server, page))
  const code = app.code(person.step)
  person.step += 1
  return isNew
    ? browser.submit(await browser.submit(page, { code }), {})
    : submitTo(browser, page, '/sign-in/code', { code })
}

/** Allows the client the access on the consent page to which an answer leads. Returns the code. */
async function allow(browser: PlainBrowser, answer: Page): Promise<string> {
  const page = await browser.get(locationOf(answer))
  return new URL(locationOf(await browser.submit(page, { decision: 'allow' }))).searchParams.get('code') ?? ''
}

function openidUrl(client: RegisteredClient, parameters: Readonly<Record<string, string>> = {}): string {
  return authorizeUrl(client, { scope: 'openid', ...parameters })
}

/** The methods of all sessions that were started, oldest first, as the audit has them. The newest is that of the store. */
async function startedSessions({ context }: TestServer, { email }: Person): Promise<readonly unknown[]> {
  const userId = (await context.store.findUserByEmail(email))?.id ?? assert.fail()
  type Events = readonly { readonly details: Readonly<Record<string, unknown>> }[]
  const { events } = await perform<{ readonly events: Events }>(context, 'audit.list', {
    user_id: userId,
    event: 'session.started',
  })
  const [newest] = await context.store.listSessions({ userId, before: undefined, limit: 1 })
  if (newest !== undefined) assert.equal(newest.authentication.methods.join(' '), events[0]?.details['methods'])
  return events.map(({ details }) => details['methods']).toReversed()
}
