import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { openTestServer, type TestServer } from '../support/server.ts'
import { assertError } from '../support/error-answer.ts'
import { pageTitled } from '../texts/page-texts.ts'

/** Unknown paths answer with a page for people, and with JSON for all other callers. */

const ends: (() => unknown)[] = []
let server: TestServer

before(async () => {
  server = await openTestServer({ after: (end) => void ends.push(end as () => unknown) })
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

const FIREFOX = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const CHROME =
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7'

const ACCEPTS: readonly (readonly [accept: string | undefined, isPage: boolean])[] = [
  [FIREFOX, true],
  [CHROME, true],
  ['text/html', true],
  ['TEXT/HTML; q=0.9, application/json;q=0.5', true],
  ['text/html, application/json', true],
  ['text/html;level=1;q=0.9, application/json;q=0.5', true],
  [undefined, false],
  ['', false],
  ['*/*', false],
  ['application/json', false],
  ['application/json, text/html', false],
  ['application/json, text/event-stream', false],
  ['text/html;q=0.5, application/json', false],
  ['text/html;q=0.5, application/*', false],
  ['text/html;q=0.5, */*', false],
  ['text/html;q=0', false],
  ['text/html;level=1;q=0', false],
  ['text/html-not', false],
  ['text/plain', false],
  ['image/avif,image/webp,*/*', false],
  [`${'x/y,'.repeat(5000)}text/html`, false],
]

for (const [accept, isPage] of ACCEPTS) {
  test(`RFC 9110 §12.5.1: an unknown path answers with a page to callers that prefer HTML, else with JSON: ${JSON.stringify(accept)?.slice(0, 60)}`, async () => {
    const answer = await visit('/nothing', accept === undefined ? {} : { accept })
    if (!isPage) return void assertError(answer, 404, 'invalid_request')
    assert.equal(answer.statusCode, 404)
    assert.match(answer.body, pageTitled('errors.not-found.heading'))
  })
}

test('the page at an unknown path has the headers of every page, no CORS headers, and nothing of the address', async () => {
  const { headers: expected } = await visit('/v2/oauth/authorize', { accept: FIREFOX })
  const bodies = new Set<string>()
  for (const url of ['/nothing', '/%3Cscript%3Ealert(1)%3C/script%3E?x=<b>', '/v2/oauth', '//evil.test/..']) {
    const { headers, body } = await visit(url, { accept: FIREFOX })
    for (const name of ['content-length', 'date', 'x-request-id']) delete headers[name]
    const { 'content-length': _, date: __, 'x-request-id': ___, ...wanted } = expected
    assert.deepEqual(headers, wanted, url)
    assert.match(String(headers['content-security-policy']), /^default-src 'none'; style-src 'sha256-/)
    bodies.add(body)
  }
  assert.equal(bodies.size, 1)
})

test('the page at an unknown path is in the language of the browser', async (t) => {
  const acme = await openTestServer(t, { env: { GRANTOR_NAME: 'Acme Cloud' } })
  const german = await visit('/nothing', { accept: FIREFOX, 'accept-language': 'de-AT,en;q=0.5' }, acme)
  assert.match(german.body, /<html lang="de">[^]*Acme Cloud[^]*<h1>Hier ist keine Seite<\/h1>/)
  assert.match((await visit('/nothing', { accept: FIREFOX })).body, /<html lang="en">/)
})

test('HEAD of an unknown path has the headers of the page or JSON that GET returns; other methods answer with JSON', async () => {
  for (const accept of [FIREFOX, '*/*']) {
    const { headers, body } = await visit('/nothing', { accept })
    const head = await server.inject({ method: 'HEAD', url: '/nothing', headers: { accept } })
    assert.deepEqual([head.statusCode, head.body], [404, ''])
    for (const name of ['content-type', 'content-length']) assert.equal(head.headers[name], headers[name])
    assert.equal(headers['content-length'], String(Buffer.byteLength(body)))
  }
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'] as const) {
    assertError(await server.inject({ method, url: '/nothing', headers: { accept: FIREFOX } }), 404, 'invalid_request')
  }
})

test("a browser that opens the issuer's own address gets a page that explains what the site is for", async (t) => {
  const below = await openTestServer(t, { env: { GRANTOR_ISSUER: 'http://localhost:3000/tenant' } })
  const homes: readonly (readonly [TestServer, string])[] = [
    [server, '/'],
    [server, '/?from=mail'],
    [server, 'http://localhost:3000'],
    [below, '/tenant'],
    [below, '/tenant/'],
    [below, '/%74enant/'],
  ]
  for (const [at, url] of homes) {
    const page = await visit(url, { accept: FIREFOX }, at)
    assert.equal(page.statusCode, 404, url)
    assert.match(page.body, /<h1>There is nothing to do here<\/h1>[^]*Go to the app[^]*Go to your account/, url)
    const account = /<a class="button main" href="([^"]+)"/.exec(page.body)?.[1] ?? ''
    assert.equal((await at.inject({ method: 'GET', url: account })).statusCode, 303, account)
    const german = await visit(url, { accept: FIREFOX, 'accept-language': 'de' }, at)
    assert.match(german.body, /<h1>Hier gibt es nichts zu tun<\/h1>/)
    assertError(await visit(url, {}, at), 404, 'invalid_request')
  }
  for (const url of ['/', '/tenant/x', '/tenants']) {
    assert.match((await visit(url, { accept: FIREFOX }, below)).body, pageTitled('errors.not-found.heading'), url)
  }
})

test('RFC 9110 §12.5.1: a malformed path is refused, with a page for a person and with JSON for all other callers', async () => {
  for (const url of ['/%ff', '/v2/oauth/%', '/%E0%A4%A']) {
    const page = await visit(url, { accept: FIREFOX })
    assert.equal(page.statusCode, 400)
    assert.match(page.body, /^<!doctype html>[^]*<h1>/)
    assertError(await visit(url, {}), 400, 'invalid_request')
    assertError(await server.inject({ method: 'POST', url, headers: { accept: FIREFOX } }), 400, 'invalid_request')
  }
})

test('RFC 9110 §15.5.6: GET of a path without GET answers a person with a page, and other callers with JSON, both with Allow', async () => {
  for (const url of ['/v2/oauth/token', '/v2/oauth/revoke', '/v2/oauth/register/secret']) {
    const page = await visit(url, { accept: FIREFOX })
    assert.equal(page.statusCode, 405, url)
    assert.match(page.body, pageTitled('errors.not-found.heading'))
    const json = await visit(url, {})
    assertError(json, 405, 'invalid_request')
    assert.equal(page.headers['allow'], json.headers['allow'])
    assert.match(String(page.headers['allow']), /^POST/)
  }
})

test('RFC 9110 §15.5.5: a path with a trailing slash is unknown, and a person gets the page of an unknown path', async () => {
  for (const url of ['/v2/oauth/token/', '/v2/oauth/sign-in/', '/.well-known/oauth-authorization-server/']) {
    const page = await visit(url, { accept: FIREFOX })
    assert.equal(page.statusCode, 404)
    assert.match(page.body, pageTitled('errors.not-found.heading'))
    assertError(await visit(url, {}), 404, 'invalid_request')
  }
})

function visit(
  url: string,
  headers: Readonly<Record<string, string>>,
  at: TestServer = server,
): Promise<LightMyRequestResponse> {
  return at.inject({ method: 'GET', url, headers })
}
