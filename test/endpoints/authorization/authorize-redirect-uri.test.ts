import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { openAppRedirects } from '../../../src/protocol/uri/app-redirect.ts'
import { checkRedirectUri, redirectUriMatches } from '../../../src/protocol/uri/redirect-uri.ts'
import { authorizeUrl, locationOf, obtainCode, redeem, registerClient, VERIFIER } from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { openTestServer } from '../../support/server.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { assertLocalPage, WHOLE_FILE } from '../../support/authorize-answers.ts'
import { sentence } from '../../texts/page-texts.ts'

const REGISTERED = 'https://app.test/cb?a=1'
const LOOPBACK = 'http://127.0.0.1/cb'
const server = await openTestServer(WHOLE_FILE)
await createAda(server)
const client = await registerClient(server, {
  redirect_uris: [REGISTERED, LOOPBACK, 'http://localhost/cb', 'http://[::1]/cb'],
})

/** URIs that have passed inexact comparisons on other servers. */
const MUTANTS = [
  'https://APP.test/cb?a=1',
  'HTTPS://app.test/cb?a=1',
  'https://app.test/CB?a=1',
  'https://app.test/cb?A=1',
  'http://app.test/cb?a=1',
  'https://app.test:443/cb?a=1',
  'https://app.test:8443/cb?a=1',
  'https://app.test./cb?a=1',
  'https://app.test/cb/?a=1',
  'https://app.test/cb?a=1&',
  'https://app.test/cb?a=1&b=2',
  'https://app.test/cb?b=2&a=1',
  'https://app.test/cb?a=1&a=1',
  'https://app.test/cb?a=1#',
  'https://app.test/cb?a=1#x',
  'https://app.test/cb?',
  'https://app.test/cb',
  'https://app.test/',
  'https://app.test',
  'https://app.test//cb?a=1',
  'https://app.test/./cb?a=1',
  'https://app.test/x/../cb?a=1',
  'https://app.test/x/..;/cb?a=1',
  'https://app.test/x/%2e%2e/cb?a=1',
  'https://app.test%2fcb?a=1',
  'https://app.test/%63b?a=1',
  'https://app.test/cb%3fa=1',
  'https://app.test/cb%252f?a=1',
  'https://app.test\\cb?a=1',
  'https:\\\\app.test/cb?a=1',
  'https:/app.test/cb?a=1',
  'https:app.test/cb?a=1',
  '//app.test/cb?a=1',
  '/cb?a=1',
  'https://app.test@evil.test/cb?a=1',
  'https://evil.test@app.test/cb?a=1',
  'https://app.test%40evil.test/cb?a=1',
  'https://app.test\\@evil.test/cb?a=1',
  'https://app.test.evil.test/cb?a=1',
  'https://evilapp.test/cb?a=1',
  'https://appXtest/cb?a=1',
  'https://evil.test/?https://app.test/cb?a=1',
  'https://evil.test#https://app.test/cb?a=1',
  'https://app。test/cb?a=1',
  'https://app.test/cb?a=１',
  'https://аpp.test/cb?a=1',
  'https://xn--pp-7kc.test/cb?a=1',
  ' https://app.test/cb?a=1',
  'https://app.test/cb?a=1 ',
  'https://app.test/cb?a=1\t',
  'https://app.test/c\nb?a=1',
  'https://app.test/cb?a=1\r\n',
  'https://app.test/cb?a=1\0',
  'https://app.test/cb?a=1%00',
  'javascript:https://app.test/cb?a=1',
  'data:text/html,https://app.test/cb?a=1',
  'https://app.test/cb?a=1,https://evil.test',
  'https://app.test/cb?a=1 https://evil.test',
]

test('AUTH-03: no variation of a registered redirect URI is accepted, whatever else the request contains', async () => {
  for (const mutant of MUTANTS)
    for (const prompt of ['login', 'none'])
      assertLocalPage(
        await assertStoreUnchanged(server, () =>
          server.inject({ url: authorizeUrl(client, { redirect_uri: mutant, prompt }) }),
        ),
      )
})

test('AUTH-03: no edit of a registered redirect URI matches it: 5000 mutants', () => {
  fc.assert(
    fc.property(edits(REGISTERED), (mutant) => {
      assert.equal(redirectUriMatches(REGISTERED, mutant), mutant === REGISTERED, mutant)
    }),
    { numRuns: 5000 },
  )
})

test('AUTH-03: no edit of a registered redirect URI is accepted over HTTP: a sample', async () => {
  await fc.assert(
    fc.asyncProperty(edits(REGISTERED), async (mutant) => {
      const response = await server.inject({ url: authorizeUrl(client, { redirect_uri: mutant }) })
      if (mutant === REGISTERED) assert.equal(response.statusCode, 303)
      else assertLocalPage(response)
    }),
    { numRuns: 300 },
  )
})

test('AUTH-04: an edited loopback URI that still matches differs only in its port: 5000 mutants', () => {
  const policy = { apps: openAppRedirects([]), own: new URL('https://as.example') }
  fc.assert(
    fc.property(edits('http://127.0.0.1:8080/cb'), (mutant) => {
      if (!redirectUriMatches('http://127.0.0.1/cb', mutant)) return
      if (checkRedirectUri(mutant, policy).kind !== 'usable') return
      assert.match(mutant, /^http:\/\/127\.0\.0\.1(:\d{1,5})?\/cb$/)
    }),
    { numRuns: 5000 },
  )
})

const LOOPBACK_CASES: readonly (readonly [uri: string, isTaken: boolean])[] = [
  ['http://127.0.0.1:51004/cb', true],
  ['http://127.0.0.1/cb', true],
  ['http://localhost:51004/cb', true],
  ['http://[::1]:51004/cb', true],
  ['http://127.0.0.1:65535/cb', true],
  ['http://127.0.0.1:65536/cb', false],
  ['http://127.0.0.1:051/cb', false],
  ['http://127.0.0.1:/cb', false],
  ['http://127.0.0.2:51004/cb', false],
  ['http://127.1:51004/cb', false],
  ['http://[::ffff:127.0.0.1]:51004/cb', false],
  ['http://127.0.0.1:51004/cb2', false],
  ['http://127.0.0.1:51004/cb?x=1', false],
  ['http://127.0.0.1:51004/cb/', false],
  ['http://127.0.0.1:51004/cb#', false],
  ['https://127.0.0.1:51004/cb', false],
  ['http://127.0.0.1:51004@evil.test/cb', false],
  ['http://127.0.0.1:51004.evil.test/cb', false],
  ['http://localhost.evil.test:51004/cb', false],
  ['http://LOCALHOST:51004/cb', false],
]
test('AUTH-04: a loopback redirect may have any port, and must be equal otherwise', async () => {
  for (const [uri, isTaken] of LOOPBACK_CASES) {
    const response = await server.inject({ url: authorizeUrl(client, { redirect_uri: uri }) })
    if (isTaken) assert.equal(response.statusCode, 303, uri)
    else assertLocalPage(response)
  }
})

test('AUTH-04: localhost, 127.0.0.1 and [::1] are not interchangeable', async () => {
  const one = await registerClient(server, { redirect_uris: ['http://127.0.0.1/cb'] })
  for (const uri of ['http://localhost:5/cb', 'http://[::1]:5/cb'])
    assertLocalPage(await server.inject({ url: authorizeUrl(one, { redirect_uri: uri }) }))
})

test('AUTH-04: a loopback redirect to the server’s own port is rejected, for each loopback name', async () => {
  for (const uri of ['http://127.0.0.1:3000/cb', 'http://localhost:3000/cb', 'http://[::1]:3000/cb'])
    assertLocalPage(await server.inject({ url: authorizeUrl(client, { redirect_uri: uri }) }))
})

test('AUTH-04: the token endpoint requires the port of the authorization request', async () => {
  const code = await obtainCode(server, client, { redirect_uri: 'http://127.0.0.1:51004/cb' })
  for (const uri of ['http://127.0.0.1/cb', 'http://127.0.0.1:51005/cb', REGISTERED]) {
    const refused = await assertStoreUnchanged(server, () => redeem(server, client, code, { redirect_uri: uri }))
    assert.equal(refused.json().error, 'invalid_grant')
  }
  const redeemed = await redeem(server, client, code, {
    redirect_uri: 'http://127.0.0.1:51004/cb',
    code_verifier: VERIFIER,
  })
  assert.equal(redeemed.statusCode, 200, redeemed.body)
})

test('REG-07: a scheme that is not allowed can be registered beside a valid URI, but not used', async () => {
  const mixed = await registerClient(server, {
    redirect_uris: ['unknown-app://cb', 'cursor://anysphere.cursor-mcp/oauth/callback', 'https://app.test/cb'],
  })
  const url = authorizeUrl(mixed, { redirect_uri: 'unknown-app://cb' })
  for (const [language, heading] of [
    ['en', sentence('errors.redirect-not-allowed.heading')],
    ['de', 'Diese Zieladresse ist nicht erlaubt'],
  ] as const) {
    const page = await server.inject({ url, headers: { 'accept-language': language } })
    assertLocalPage(page)
    for (const part of [heading, 'GRANTOR_REDIRECT_SCHEMES', 'redirect_uri_not_allowed'])
      assert.ok(page.body.includes(part), `${language} ${part}`)
  }
  const allowed = await server.inject({
    url: authorizeUrl(mixed, { redirect_uri: 'cursor://anysphere.cursor-mcp/oauth/callback' }),
  })
  assert.equal(allowed.statusCode, 303)
})

test('AUTH-23: a registered query remains in front of the response parameters', async () => {
  const others = await registerClient(server, {
    redirect_uris: ['https://h.test/cb?x=1', 'https://h.test/cb?', 'https://h.test'],
  })
  for (const [uri, start] of [
    ['https://h.test/cb?x=1', 'https://h.test/cb?x=1&error='],
    ['https://h.test/cb?', 'https://h.test/cb?error='],
    ['https://h.test', 'https://h.test?error='],
  ] as const) {
    const page = await server.inject({ url: authorizeUrl(others, { redirect_uri: uri, response_type: 'token' }) })
    assert.ok(page.body.includes(start.replaceAll('&', '&amp;')), page.body)
    assert.equal(page.headers.location, undefined)
  }
  assert.ok(locationOf(await server.inject({ url: authorizeUrl(others, { redirect_uri: 'https://h.test' }) })))
})

/** One to three edits of a text: something taken out, put in, replaced, doubled, encoded or in other case. */
function edits(text: string): fc.Arbitrary<string> {
  const piece = fc.oneof(
    fc.constantFrom(
      '/',
      '//',
      '.',
      '..',
      '..;/',
      ';',
      '@',
      '\\',
      '\t',
      '\0',
      '%2f',
      '%252f',
      '%2e',
      '#',
      '?',
      '&',
      '=',
    ),
    fc.constantFrom(':', ':443', ':80', '*', ' ', '。', '．', 'evil.test', 'evil.test/', '[', ']', 'а', '%00', '\r\n'),
    fc.string({ minLength: 1, maxLength: 2 }),
  )
  const edit = fc.record({ at: fc.nat(text.length), length: fc.nat(3), piece, kind: fc.nat(4) })
  return fc.array(edit, { minLength: 1, maxLength: 3 }).map((all) =>
    all.reduce((current, { at, length, piece: put, kind }) => {
      const [head, body, tail] = [current.slice(0, at), current.slice(at, at + length), current.slice(at + length)]
      if (kind === 0) return head + tail
      if (kind === 1) return head + put + body + tail
      if (kind === 2) return head + put + tail
      if (kind === 3) return head + (body === body.toUpperCase() ? body.toLowerCase() : body.toUpperCase()) + tail
      return head + encodeURIComponent(body) + body + tail
    }, text),
  )
}
