import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import type { MetadataInput } from '../../../src/admin/client/metadata.ts'
import { authorizeUrl, EMAIL, locationOf, PASSWORD, PlainBrowser, redeem } from '../../../tools/flow.ts'
import { leadsTo, pressProvider } from '../../../tools/provider-page.ts'
import { createAda } from '../../support/accounts.ts'
import { APPLICATION_URL, leave, openApplication, redirectOf } from '../../support/application.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { openProviderHost } from '../../support/provider/provider-host.ts'
import { addProvider } from '../../support/provider/providers.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { formsOf } from '../account/owner.ts'
import { idTokenOf, makeClient, tokensOf } from '../openid/login.ts'
import { pageSays } from '../../texts/page-texts.ts'

type Page = LightMyRequestResponse

/** What a source of sign-ins does when it is asked. All but `now` have a session of the person that is some seconds old. */
const HONESTIES = {
  /** It authenticates the person again if that is asked for, and says when. */
  honest: (age: number, isAsked: boolean) => (isAsked ? 0 : age),
  /** It ignores what is asked for, and says when the person authenticated. */
  stubborn: (age: number) => age,
  /** It says nothing. */
  silent: () => undefined,
  /** Its clock is ahead, by no more than it may be. A later time is refused (UP-13). */
  ahead: () => -5,
} as const
type Honesty = keyof typeof HONESTIES | 'now'

/** Signs the person in by a method, and returns the first answer that is not for the method. */
interface Source {
  readonly name: string
  readonly honesty: Honesty
  /** Seconds. */
  readonly age: number
  readonly server: TestServer
  readonly signIn: (browser: PlainBrowser, answer: Page) => Promise<{ readonly answer: Page; readonly trips: number }>
}

const LONG_AGO = 86_400
const AGES = [20, LONG_AGO]
const GRACE = { sub: 'grace', email: 'grace@acme.test', email_verified: true, name: 'Grace' }
/** How many times a person may be sent to a source for one request. */
const TRIPS = 2

const server = await openTestServer(WHOLE_FILE)
const host = await openProviderHost(WHOLE_FILE)
await createAda(server)
await addProvider(server, host, { signUp: 'anybody' })
await addProvider(server, host, { signUp: 'anybody' }, { id: 'hub', template: 'github', name: 'Hub' })
await addProvider(server, host, {}, { id: 'second', name: 'Second' })
server.clock.advance(1001)
const delegating = await openTestServer(WHOLE_FILE, {
  env: { GRANTOR_DELEGATE_URL: APPLICATION_URL, GRANTOR_DELEGATE: 'sign-in' },
})
const application = await openApplication(delegating)
await addProvider(delegating, host, {}, { id: 'second', name: 'Second' })

const SOURCES: readonly Source[] = [
  { name: 'password', honesty: 'now', age: 0, server, signIn: byPassword },
  { name: 'GitHub', honesty: 'now', age: 0, server, signIn: atProvider('hub', () => undefined) },
  ...Object.keys(HONESTIES).flatMap((name) => {
    const honesty = name as keyof typeof HONESTIES
    const ages = honesty === 'honest' || honesty === 'stubborn' ? AGES : [LONG_AGO]
    return ages.flatMap((age): readonly Source[] => [
      { name: 'provider', honesty, age, server, signIn: atProvider('idp', honestyOf(honesty, age)) },
      { name: 'application', honesty, age, server: delegating, signIn: atApplication(honestyOf(honesty, age)) },
    ])
  }),
]

type Say = (asked: { readonly isAfresh: boolean; readonly maxAge: number | undefined }) => number | undefined

function honestyOf(honesty: keyof typeof HONESTIES, age: number): Say {
  return ({ isAfresh, maxAge }) => HONESTIES[honesty](age, isAfresh || (maxAge !== undefined && age > maxAge))
}

async function byPassword(browser: PlainBrowser, answer: Page): ReturnType<Source['signIn']> {
  const page = await browser.get(locationOf(answer))
  return { answer: await browser.submit(page, { email: EMAIL, password: PASSWORD }), trips: 1 }
}

function atProvider(id: string, say: Say): Source['signIn'] {
  return async (browser, start) => {
    const page = await browser.get(locationOf(start))
    let location = leadsTo(await pressProvider(browser, page, id))
    for (let trips = 1; ; trips += 1) {
      assert.ok(trips <= TRIPS, 'the person is sent to and fro')
      const query = new URL(location).searchParams
      assert.equal(query.get('prompt') === 'login', query.get('max_age') === '0', 'both, or none')
      const maxAge = query.has('max_age') ? Number(query.get('max_age')) : undefined
      const age = say({ isAfresh: query.get('prompt') === 'login', maxAge })
      const claims = id === 'hub' ? { id: 7, name: 'Ada', emails: [] } : GRACE
      const time = age === undefined ? {} : { auth_time: Math.floor(server.clock.now() / 1000) - age }
      const answer = await browser.get(host.approve(location, { ...claims, ...time }))
      if (!(answer.headers.location ?? '').startsWith(host.issuer)) return { answer, trips }
      location = locationOf(answer)
    }
  }
}

function atApplication(say: Say): Source['signIn'] {
  return async (browser, start) => {
    let answer = start
    for (let trips = 1; ; trips += 1) {
      assert.ok(trips <= TRIPS, 'the person is sent to and fro')
      const interaction = await leave(browser, locationOf(answer))
      const shown = (await application.show(interaction)).json<{ readonly sign_in_after: string | null }>()
      const now = delegating.clock.now()
      const maxAge = shown.sign_in_after === null ? undefined : (now - Date.parse(shown.sign_in_after)) / 1000
      const age = say({ isAfresh: false, maxAge })
      const time = age === undefined ? {} : { authenticated_at: new Date(now - age * 1000).toISOString() }
      const accepted = await application.accept(interaction, { decision: 'ask', remember_seconds: 900, ...time })
      if (accepted.statusCode === 409) return { answer: accepted, trips }
      answer = await browser.get(redirectOf(accepted))
      if (!(answer.headers.location ?? '').includes('/leave?')) return { answer, trips }
    }
  }
}

/** What a request of a client must lead to, and the age that its ID token must say; undefined: none. */
function expectedOf({ honesty, age }: Source, demand: number | undefined): 'refused' | number | undefined {
  if (honesty === 'now' || honesty === 'ahead') return 0
  if (honesty === 'silent') return demand === undefined ? undefined : 0
  if (demand === undefined || age <= demand) return age
  // The clock of the source may be a minute behind, of an application ten seconds.
  if (honesty === 'stubborn' && demand === 0 && age < 60) return 0
  return honesty === 'stubborn' ? 'refused' : 0
}

const REQUESTS: readonly (readonly [
  parameters: Readonly<Record<string, string>>,
  demand: number | undefined,
  metadata?: Partial<MetadataInput>,
])[] = [
  [{}, undefined],
  [{ prompt: 'login' }, 0],
  [{ max_age: '0' }, 0],
  [{ max_age: '60' }, 60],
  [{ max_age: '600' }, 600],
  [{ prompt: 'login', max_age: '600' }, 0],
  // Core 1.0 §5.5.1: any age, but the ID token says it.
  [{ claims: '{"id_token":{"auth_time":{"essential":true}}}' }, Infinity],
  [{}, Infinity, { require_auth_time: true }],
]

const ageIn = ({ clock }: TestServer, time: unknown): number => Math.floor(clock.now() / 1000) - Number(time)
const titleOf = ({ name, honesty, age }: Source): string => `${name}, ${honesty}, ${age} s`

for (const source of SOURCES) {
  const { server: own, signIn } = source
  const isStubbornByApplication = source.name === 'application' && source.honesty === 'stubborn' && source.age === 20

  test(`UP-21, UP-24: ${titleOf(source)}: a client that asks for a new sign-in gets one, or no code, and a true auth_time`, async () => {
    for (const [parameters, demand, metadata] of REQUESTS) {
      const message = JSON.stringify(parameters)
      const client = await makeClient(own, {}, metadata)
      const browser = new PlainBrowser(own)
      const start = await browser.get(authorizeUrl(client, { scope: 'openid', ...parameters }))
      const { answer } = await signIn(browser, start)
      const expected = isStubbornByApplication && demand === 0 ? 'refused' : expectedOf(source, demand)
      if (expected === 'refused') {
        assert.ok([403, 409].includes(answer.statusCode), message)
        continue
      }
      assert.match(locationOf(answer), /\/consent\?/, message)
      const page = await browser.get(locationOf(answer))
      assert.equal(page.statusCode, 200, message)
      const allowed = new URL(locationOf(await browser.submit(page, { decision: 'allow' })))
      const tokens = tokensOf(await redeem(own, client, allowed.searchParams.get('code') ?? ''))
      const { auth_time: time } = idTokenOf(tokens)
      if (expected === undefined) assert.equal(time, undefined, message)
      else assert.ok(Math.abs(ageIn(own, time) - expected) <= 2, `${message}: ${ageIn(own, time)} is not ${expected}`)
    }
  })

  test(`UP-24: ${titleOf(source)}: the session of a second tab gives a client that asked for a new sign-in no more than the first`, async () => {
    for (const [parameters, demand, metadata] of REQUESTS) {
      const browser = new PlainBrowser(own)
      const first = await browser.get(
        authorizeUrl(await makeClient(own, {}, metadata), { scope: 'openid', ...parameters }),
      )
      const { answer } = await signIn(browser, await browser.get('/account'))
      assert.match(locationOf(answer), /\/account$/)
      const consent = locationOf(first).replace('/sign-in?', '/consent?').replace(/&.*/, '')
      const shown = await browser.get(consent)
      // A source that says a minute less may be right, but not where the request came later.
      const plain = expectedOf(source, undefined)
      const isNewEnough = demand === undefined || (typeof plain === 'number' && plain <= demand)
      assert.equal(shown.statusCode, isNewEnough ? 200 : 303, JSON.stringify(parameters))
      if (!isNewEnough) assert.match(locationOf(shown), /\/sign-in\?/)
    }
  })

  test(`UP-24: ${titleOf(source)}: a user who signed in long ago signs in again before a sign-in method is added`, async () => {
    const browser = new PlainBrowser(own)
    const { answer } = await signIn(browser, await browser.get('/account'))
    const page = await browser.get(locationOf(answer))
    const csrf = formsOf(page)[0]?.hidden['csrf'] ?? ''
    const add = (): Promise<Page> => browser.post('/account/security/add-provider', { csrf, provider: 'second' })
    const plain = expectedOf(source, undefined)
    const isRecent = plain !== undefined && plain !== 'refused' && plain <= 300
    const added = await add()
    // While the application signs users in, no method can be added (DEL-14).
    if (source.name === 'application') return assert.doesNotMatch(added.body, /http-equiv="refresh"/)
    assert.equal(pageSays('account.confirm').test(added.body), !isRecent)
    if (isRecent) return assert.match(leadsTo(added), /\/authorize\?/)
    const again = { headers: { location: '/v2/oauth/sign-in?page=security' } } as unknown as Page
    const confirmed = await signIn(browser, again)
    if (source.honesty === 'stubborn') {
      assert.equal(confirmed.answer.statusCode, 403)
      return assert.match(confirmed.answer.body, /which did not ask you to\. Sign out of[^]*reason=provider-not-fresh/)
    }
    assert.match(locationOf(confirmed.answer), /\/account\/security$/)
    assert.match(leadsTo(await add()), /\/authorize\?/)
  })
}
