import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LANGUAGES, type Language } from '../../src/base/language.ts'
import { ASK_FIELD } from '../../src/ports/pages/pages.ts'
import { EMAIL, locationOf, PASSWORD, PlainBrowser } from '../../tools/flow.ts'
import { createAccount } from '../support/accounts.ts'
import { openMailHost } from '../support/hosts/mail-host.ts'
import { openTestServer, type TestServer } from '../support/server.ts'

/** The links with which a reader chooses the language of a page, and the cookie that keeps it. */

const GERMAN = { 'accept-language': 'de', accept: 'text/html' }
const COOKIE = 'grantor-language-3000'

function languageOf({ body }: { readonly body: string }): string | undefined {
  return /<html lang="([^"]+)">/.exec(body)?.[1]
}

/** The links of a page by language. */
function linksOf({ body }: { readonly body: string }): ReadonlyMap<string, string> {
  const links = body.matchAll(/<a\s+href="(\?[^"]*)"\s+lang="([^"]+)"/g)
  return new Map(Array.from(links, ([, query = '', language = '']) => [language, query.replaceAll('&amp;', '&')]))
}

async function openSignIn(server: TestServer) {
  const browser = new PlainBrowser(server)
  const address = locationOf(await browser.get('/account/apps', GERMAN))
  const choose = (language: Language, page: { readonly body: string }, headers = {}) =>
    browser.get(address.split('?')[0] + (linksOf(page).get(language) ?? ''), { ...GERMAN, ...headers })
  return { browser, address, choose }
}

test('a page links to itself in each language, and the browser keeps the one that its reader chose', async (t) => {
  const { browser, address, choose } = await openSignIn(await openTestServer(t))
  const german = await browser.get(address, GERMAN)
  assert.equal(languageOf(german), 'de')
  assert.deepEqual([...linksOf(german).keys()], LANGUAGES)
  assert.match(german.body, /<nav class="languages" aria-label="Sprache">/)
  assert.match(german.body, /lang="de"\s+hreflang="de"\s+aria-current="true"\s*>Deutsch<\/a/)
  assert.equal(german.body.match(/hreflang="[^"]+"\s+aria-current/g)?.length, 1)
  assert.equal(browser.cookies.has(COOKIE), false)

  const french = await choose('fr', german, { 'sec-fetch-site': 'same-origin' })
  assert.equal(languageOf(french), 'fr')
  assert.equal(linksOf(french).get('es'), '?page=apps&ui_locales=es&keep=language')
  assert.equal(browser.cookies.get(COOKIE), 'fr')
  assert.equal(languageOf(await browser.get(address, GERMAN)), 'fr')
  assert.equal(languageOf(await browser.get('/', GERMAN)), 'fr')
  assert.equal(languageOf(await browser.get(`${address}&ui_locales=es`, GERMAN)), 'es')
  assert.equal(browser.cookies.get(COOKIE), 'fr', 'a client that asks for a language changes nothing')

  await choose('en', french)
  assert.equal(languageOf(await browser.get(address, GERMAN)), 'en')
})

test('the browser keeps the language of a link that leads to the sign-in, because the session ended', async (t) => {
  const server = await openTestServer(t)
  await createAccount(server, { email: EMAIL, password: PASSWORD, name: undefined })
  const { browser, address } = await openSignIn(server)
  await browser.submit(await browser.get(address, GERMAN), { email: EMAIL, password: PASSWORD })
  const apps = await browser.get('/account/apps', GERMAN)
  const link = `/account/apps${linksOf(apps).get('fr') ?? ''}`
  server.clock.advance(365 * 24 * 60 * 60 * 1000)
  const foreign = { ...GERMAN, 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'document' }
  await browser.get(link, foreign)
  assert.equal(browser.cookies.has(COOKIE), false, 'another site chooses none')
  const signIn = locationOf(await browser.get(link, GERMAN))
  assert.equal(browser.cookies.get(COOKIE), 'fr')
  assert.equal(languageOf(await browser.get(signIn, GERMAN)), 'fr')
})

test('another site chooses no language for the reader', async (t) => {
  const { browser, address, choose } = await openSignIn(await openTestServer(t))
  for (const site of ['cross-site', 'same-site']) {
    const opened = await choose('fr', await browser.get(address, GERMAN), {
      'sec-fetch-site': site,
      'sec-fetch-dest': 'document',
    })
    assert.equal(languageOf(opened), 'fr')
    assert.equal(browser.cookies.has(COOKIE), false, site)
  }
})

test('the answer to a password has links to the start of the sign-in, without what the reader typed', async (t) => {
  const { browser, address, choose } = await openSignIn(await openTestServer(t))
  await choose('fr', await browser.get(address, GERMAN))
  const page = await browser.get(address, GERMAN)
  const answer = await browser.submit(page, { email: EMAIL, password: 'a wrong password' })
  assert.match(answer.body, /Cette adresse e-mail et ce mot de passe/)
  assert.equal(linksOf(answer).get('es'), '?page=apps&ui_locales=es&keep=language')
  const spanish = await choose('es', answer)
  assert.equal(languageOf(spanish), 'es')
  assert.doesNotMatch(spanish.body, new RegExp(EMAIL))
  assert.equal(browser.cookies.get(COOKIE), 'es')
})

test('the page of a forgotten password has links also where it answers a form, and the page after it has none', async (t) => {
  const host = await openMailHost(t)
  const { browser, address } = await openSignIn(await openTestServer(t, { env: host.env }))
  const [, action = ''] = /formaction="([^"]+)"/.exec((await browser.get(address, GERMAN)).body) ?? []
  const asked = await browser.post(new URL(action).pathname + new URL(action).search, { email: EMAIL, [ASK_FIELD]: '' })
  assert.match(asked.body, new RegExp(EMAIL))
  assert.equal(linksOf(asked).get('es'), '?page=apps&ui_locales=es&keep=language')
  const shown = await browser.get(new URL(action).pathname + (linksOf(asked).get('es') ?? ''), GERMAN)
  assert.equal(languageOf(shown), 'es')
  assert.equal(linksOf(shown).get('fr'), '?page=apps&ui_locales=fr&keep=language')
  assert.equal(linksOf(await browser.submit(shown, { email: EMAIL })).size, 0)
})

test('LNK-01: a link that no longer works is shown again without its token, and an unknown client by its id alone', async (t) => {
  const browser = new PlainBrowser(await openTestServer(t))
  const unknown = 'client_id=an-unknown-app'
  const evil = 'redirect_uri=https%3A%2F%2Fevil.test'
  for (const [path, sent, repeated] of [
    ['/account/link', 'token=u_x.y&done=x', ''],
    ['/v2/oauth/authorize', evil, ''],
    ['/v2/oauth/authorize', `${evil}&${unknown}`, `${unknown}&`],
  ] as const) {
    const refused = await browser.get(`${path}?${sent}`, GERMAN)
    assert.equal(linksOf(refused).get('es'), `?${repeated}ui_locales=es&keep=language`, path)
    const again = await browser.get(path + (linksOf(refused).get('es') ?? ''), GERMAN)
    assert.equal(languageOf(again), 'es')
    assert.equal(again.statusCode, refused.statusCode)
  }
  const malformed = new URLSearchParams({ client_id: 'c_0"><script>' }).toString()
  assert.equal(linksOf(await browser.get(`/v2/oauth/authorize?${malformed}`, GERMAN)).size, 0)
})

test('a page at an unknown path has the links without what its address has, and most refusals have none', async (t) => {
  const browser = new PlainBrowser(await openTestServer(t))
  const unknown = await browser.get('/nothing?secret=x', GERMAN)
  assert.equal(linksOf(unknown).get('es'), '?ui_locales=es&keep=language')
  assert.equal(languageOf(await browser.get('/nothing?ui_locales=es&keep=language', GERMAN)), 'es')
  assert.equal(browser.cookies.get(COOKIE), 'es')
  for (const refused of ['/v2/oauth/consent?authorization=x', '/v2/oauth/authorize?client_id=x&client_id=y'])
    assert.equal(linksOf(await browser.get(refused, GERMAN)).size, 0, refused)
})

test('UI-07: links to the page in another language have the parameters of its address that the page reads, and no others', async (t) => {
  const { browser, address } = await openSignIn(await openTestServer(t))
  const planted = '&done=x&continue=https%3A%2F%2Fevil.test&user_code=BQFH-MJCC&token=%22%3E%3Cscript%3E'
  const page = await browser.get(address + planted, GERMAN)
  assert.equal(linksOf(page).get('fr'), '?page=apps&ui_locales=fr&keep=language')
  assert.doesNotMatch(page.body, /evil|BQFH|script%3E/)
})
