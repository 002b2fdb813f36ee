import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authorizeUrl, locationOf, PlainBrowser, postForm, registerClient } from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { openTestServer } from '../../support/server.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { assertLocalPage, consentedBrowser, isCodeAnswer, WHOLE_FILE } from '../../support/authorize-answers.ts'

const server = await openTestServer(WHOLE_FILE)
await createAda(server)
const client = await registerClient(server)
/** Ada has allowed the client in it. */
const browser = await consentedBrowser(server, client)
const [PATH = '', QUERY = ''] = authorizeUrl(client).split('?')
const FORM = Object.fromEntries(new URLSearchParams(QUERY))
const ENDPOINT = `${server.origin}${PATH}`

test('AUTH-24: a POST redirects to the same request by GET, which starts an authorization', async () => {
  const stranger = new PlainBrowser(server)
  const posted = await stranger.post(PATH, FORM)
  assert.equal(posted.statusCode, 303)
  assert.equal(locationOf(posted), `${ENDPOINT}?${QUERY}`)
  const started = await stranger.get(locationOf(posted))
  assert.ok(locationOf(started).startsWith(`${server.origin}/v2/oauth/sign-in?authorization=`))
})

test('AUTH-25: a POST sets no cookie and starts nothing, with and without cookies, from any site', async () => {
  for (const site of ['cross-site', 'same-site', 'same-origin', 'none']) {
    for (const one of [new PlainBrowser(server), browser]) {
      const post = () => one.post(PATH, FORM, { 'sec-fetch-site': site })
      const posted = await assertStoreUnchanged(server, post)
      assert.deepEqual([posted.statusCode, posted.cookies], [303, []], site)
    }
  }
})

test('RFC 6749 §3.1: a user who is signed in need not sign in again after a POST', async () => {
  // As a browser does with the POST of another site's page: no cookies.
  const posted = await postForm(server, PATH, { ...FORM, prompt: 'consent' })
  const started = await browser.get(locationOf(posted))
  assert.ok(locationOf(started).startsWith(`${server.origin}/v2/oauth/consent?authorization=`))
})

test('AUTH-16: prompt=none by POST gives a code to a client that the user allowed earlier', async () => {
  const posted = await postForm(server, PATH, { ...FORM, prompt: 'none' })
  assert.ok(isCodeAnswer(await browser.get(locationOf(posted))))
})

test('AUTH-12: the response to any POST is one Location header with the server’s own address and the same parameters', async () => {
  const bodies = [
    'state=a\r\nSet-Cookie:%20x=y',
    'state=%0d%0aSet-Cookie:%20x=y',
    'state=a#b',
    'state=%F0%9F%94%91+%26%3D',
    'state=ü',
    'redirect_uri=https%3A%2F%2Fevil.test%2F',
    '//evil.test/..',
    '',
  ]
  for (const payload of bodies) {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const posted = await server.inject({ method: 'POST', url: PATH, headers, payload })
    const location = new URL(locationOf(posted))
    assert.deepEqual([posted.statusCode, posted.cookies], [303, []])
    assert.equal(location.origin + location.pathname + location.hash, ENDPOINT)
    assert.deepEqual([...location.searchParams], [...new URLSearchParams(payload)], payload)
  }
})

test('RFC 9110 §4.1: a POST whose address would exceed 8,000 characters gets an error page', async () => {
  const spare = 8000 - `${ENDPOINT}?state=`.length
  assert.equal((await postForm(server, PATH, { state: 'x'.repeat(spare) })).statusCode, 303)
  assertLocalPage(await postForm(server, PATH, { state: 'x'.repeat(spare + 1) }))
})

test('AUTH-26: HEAD of a page changes nothing, sets no cookie and does not redirect, in any state of the authorization', async () => {
  const cookie = browser.cookieHeader
  const consentPage = locationOf(await browser.get(authorizeUrl(client, { prompt: 'consent' })))
  const urls = [
    authorizeUrl(client),
    authorizeUrl(client, { prompt: 'none' }),
    authorizeUrl(client, { redirect_uri: 'https://evil.test/' }),
    consentPage.slice(server.origin.length),
    '/v2/oauth/sign-in?authorization=x',
    '/v2/oauth/sign-out',
  ]
  for (const url of urls) {
    for (const headers of [{}, { cookie }]) {
      const head = await assertStoreUnchanged(server, () => server.inject({ method: 'HEAD', url, headers }))
      assert.deepEqual([head.statusCode, head.body, head.cookies, head.headers.location], [200, '', [], undefined], url)
      assert.equal(head.headers['cache-control'], 'no-store')
    }
  }
})
