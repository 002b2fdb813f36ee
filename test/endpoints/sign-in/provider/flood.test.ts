import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { authorizeUrl, EMAIL, locationOf, PASSWORD, PlainBrowser } from '../../../../tools/flow.ts'
import { createAda } from '../../../support/accounts.ts'
import { leadsTo, pressProvider } from '../../../../tools/provider-page.ts'
import { selectAll } from '../../../support/store/dump.ts'
import { isSignedIn, openServerWithProvider, type ServerWithProvider } from './server-with-provider.ts'

const ENV = { GRANTOR_TRUST_PROXY: '127.0.0.1', GRANTOR_AUTHORIZATION_RATE: '100000' }
/** Requests to one host that are under way at a time. */
const SLOTS = 16
const OFFICE = '198.51.100.1'

/** A browser of a network. */
function browserOf({ server }: ServerWithProvider, address: string): PlainBrowser {
  return new PlainBrowser({
    inject: (request) => server.inject({ ...request, headers: { ...request.headers, 'x-forwarded-for': address } }),
  })
}

function openPage({ client }: ServerWithProvider, browser: PlainBrowser) {
  return browser.get(authorizeUrl(client)).then((start) => browser.get(locationOf(start)))
}

/** The addresses of callbacks that one person goes to, with a code of the provider or with made-up ones. */
async function callbacks(
  setup: ServerWithProvider,
  browser: PlainBrowser,
  codes: readonly string[],
): Promise<readonly string[]> {
  const page = await openPage(setup, browser)
  return Promise.all(
    codes.map(async (code) => {
      const claims = { sub: code, email: `${code}@acme.test`, email_verified: true, name: code }
      const callback = new URL(setup.host.approve(leadsTo(await pressProvider(browser, page)), claims))
      if (code.startsWith('made-up')) callback.searchParams.set('code', code)
      return callback.href
    }),
  )
}

const madeUp = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `made-up-${index}`)

for (const networks of [1, 8]) {
  test(`UP-28: made-up codes from ${networks} networks delay other sign-ins by two answers of the provider, and leave it available`, async (t) => {
    const setup = await openServerWithProvider(t, { signUp: 'anybody' }, { env: ENV })
    const open: (() => void)[] = []
    setup.host.holdBack('/token', () => new Promise<void>((resolve) => open.push(resolve)))
    const hostile: Promise<unknown>[] = []
    for (let index = 0; index < 8; index += 1) {
      const browser = browserOf(setup, `203.0.113.${index % networks}`)
      for (const callback of await callbacks(setup, browser, madeUp(20))) hostile.push(browser.get(callback))
    }
    while (open.length < SLOTS) await nextTurn()
    const people = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        const browser = browserOf(setup, `192.0.2.${index}`)
        const [callback = ''] = await callbacks(setup, browser, [`person-${index}`])
        return { browser, callback }
      }),
    )
    const waiting = new Set(people)
    const others = people.map(async (person) => {
      const { browser, callback } = person
      const answer = await browser.get(callback)
      waiting.delete(person)
      return isSignedIn(answer)
    })
    while (usedStates(setup) < hostile.length + people.length) await nextTurn()
    let answers = 0
    for (; waiting.size > 0; answers += 1) {
      for (const answer of open.splice(0)) answer()
      while (waiting.size > 0 && open.length < SLOTS) await nextTurn()
    }
    assert.deepEqual(new Set(await Promise.all(others)), new Set([true]))
    assert.ok(answers <= 3, String(answers))
    const [provider] = await setup.server.context.store.listProviders()
    assert.ok(provider !== undefined && !setup.server.context.providerSignIn.isDown(provider))
    setup.host.holdBack('/token', async () => undefined)
    for (const answer of open.splice(0)) answer()
    await Promise.all(hostile)
  })
}

function usedStates({ server }: ServerWithProvider): number {
  return Number(selectAll(server, 'select count(*) as count from consumed')[0]?.['count'])
}

for (const [familiar, ownSpent, networkSpent, status] of [
  [false, false, false, 303],
  [false, false, true, 429],
  [false, true, false, 429],
  [false, true, true, 429],
  [true, false, false, 303],
  [true, false, true, 303],
  [true, true, false, 429],
  [true, true, true, 429],
] as const) {
  const whose = `${familiar ? 'a browser known for a day' : 'a new browser'}${ownSpent ? ' that failed too often' : ''}`
  test(`UP-29: in ${networkSpent ? 'a network above its limit' : 'a network'}, ${whose} gets ${status}`, async (t) => {
    const setup = await openServerWithProvider(t, { signUp: 'anybody' }, { env: ENV })
    const browser = browserOf(setup, OFFICE)
    await openPage(setup, browser)
    if (familiar) setup.server.clock.advance(24 * 60 * 60_000)
    const { secrets, store, clock } = setup.server.context
    const spend = (by: number, ...name: readonly string[]) => {
      const bucket = secrets.digest('bucket', ['sign-in', 'provider', ...name])
      return store.countHit({ bucket, now: clock(), windowMs: 15 * 60_000, by })
    }
    const [cookie = ''] = [...browser.cookies].flatMap(([name, value]) => (name.includes('browser') ? [value] : []))
    if (ownSpent) await spend(50, 'browser', secrets.verify('browser', cookie)?.hash ?? '')
    if (networkSpent) await spend(2000, OFFICE)
    const [callback = ''] = await callbacks(setup, browser, ['ada'])
    assert.equal((await browser.get(callback)).statusCode, status)
  })
}

for (const [familiar, spent, status] of [
  [false, 'new', 429],
  [false, 'familiar', 303],
  [true, 'new', 303],
  [true, 'familiar', 429],
] as const) {
  const whose = familiar ? 'a browser known for a day' : 'a new browser'
  test(`UP-31: where ${spent} browsers of the network came back 600 times within a minute, ${whose} gets ${status}`, async (t) => {
    const setup = await openServerWithProvider(t, { signUp: 'anybody' }, { env: ENV })
    const browser = browserOf(setup, OFFICE)
    await openPage(setup, browser)
    if (familiar) setup.server.clock.advance(24 * 60 * 60_000)
    const { budgets, clock } = setup.server.context
    const name = spent === 'familiar' ? `${OFFICE} familiar` : OFFICE
    const [callback = ''] = await callbacks(setup, browser, ['ada'])
    const taken = Array.from({ length: 601 }, () => budgets.take('sign-in', name, clock(), OFFICE).isWithin)
    assert.deepEqual([taken[599], taken[600]], [true, false])
    assert.equal((await browser.get(callback)).statusCode, status)
  })
}

test('UP-29: one person who makes up codes locks no other browser of the network out, neither of the provider nor of passwords', async (t) => {
  const setup = await openServerWithProvider(t, { signUp: 'anybody' }, { env: ENV })
  await createAda(setup.server)
  for (let index = 0; index < 2; index += 1) {
    const browser = browserOf(setup, OFFICE)
    for (const callback of await callbacks(setup, browser, madeUp(51))) await browser.get(callback)
  }
  const other = browserOf(setup, OFFICE)
  const [callback = ''] = await callbacks(setup, other, ['person'])
  assert.ok(isSignedIn(await other.get(callback)))
  const ada = browserOf(setup, OFFICE)
  assert.ok(isSignedIn(await ada.submit(await openPage(setup, ada), { email: EMAIL, password: PASSWORD })))
})
