import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EpochMs } from '../../src/base/brand.ts'
import { consoleCookies } from '../../src/http/admin/console/cookies.ts'
import { cookieJar } from '../../src/http/session.ts'
import { openSecrets, type MintedCredential } from '../../src/protocol/secrets.ts'

const SECURE = cookieJar('https://auth.example', 3600)
const LOCAL = cookieJar('http://localhost:3000', 3600)

function read(cookie: string | undefined) {
  return SECURE.read({ headers: cookie === undefined ? {} : { cookie } })
}

test("RFC 6265 §4.2: the server's cookies are found among others by their whole name, all of one name in their order", () => {
  const cookie =
    'a=1; x__Host-grantor-session=no; __Host-grantor-session=gss_1;__Host-grantor-browser=gbr_1; __Host-grantor-session=gss_2'
  assert.deepEqual(read(cookie), { browser: ['gbr_1'], session: ['gss_1', 'gss_2'] })
  for (const other of [
    undefined,
    '',
    '__Host-grantor-session',
    '__Host-grantor-sessionx=1',
    ';;=; =x',
    '__host-grantor-session=1',
  ])
    assert.deepEqual(read(other), { browser: [], session: [] }, String(other))
})

test('RFC 6265bis §4.1.3.2: over https cookies are bound to the host, and scripts cannot read them', () => {
  const credential = { token: 'gss_token' } as MintedCredential
  const ours = '__Host-grantor-session'
  assert.deepEqual(SECURE.write({ session: credential }), [
    `${ours}=gss_token; Max-Age=3600; Path=/; HttpOnly; Secure; SameSite=Lax`,
  ])
  assert.deepEqual(SECURE.write({ session: 'end' }), [`${ours}=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax`])
  assert.deepEqual(SECURE.write({}), [])
  assert.match(SECURE.write({ browser: credential })[0] ?? '', /^__Host-grantor-browser=gss_token; Max-Age=15552000; /)
})

test('the language that a reader chose is kept for a year, without anything about the browser', () => {
  const cookie = '__Host-grantor-language=fr; Max-Age=31536000; Path=/; HttpOnly; Secure; SameSite=Lax'
  assert.deepEqual(SECURE.write({ language: 'fr' }), [cookie])
  assert.deepEqual(LOCAL.write({ language: 'es' }), [
    'grantor-language-3000=es; Max-Age=31536000; Path=/; HttpOnly; SameSite=Lax',
  ])
  const sent = 'a=1; __Host-grantor-language=fr; __Host-grantor-session=x; __Host-grantor-language='
  assert.deepEqual(SECURE.readLanguages({ headers: { cookie: sent } }), ['fr', ''])
})

test('RFC 6265 §8.5: issuers and consoles of one host have cookies of their own, by port and path, because they share its cookies', () => {
  const [session] = LOCAL.write({ session: { token: 'gss_token' } as MintedCredential })
  assert.equal(session, 'grantor-session-3000=gss_token; Max-Age=3600; Path=/; HttpOnly; SameSite=Lax')
  const context = { clock: () => 0 as EpochMs, secrets: openSecrets('a root secret that is long enough for a test') }
  for (const host of ['https://auth.example', 'http://localhost']) {
    const origins = ['', ':8443', ':9443'].map((port) => host + port)
    const issuers = origins.flatMap((origin) => ['', '/one', '/two'].map((path) => origin + path))
    const cookies = [
      ...issuers.flatMap((issuer) => cookieJar(issuer, 1).write({ session: 'end' })),
      ...origins.map((origin) => consoleCookies(context, origin).endSession()),
    ]
    const names = new Set(cookies.map((cookie) => cookie.split('=', 1)[0]))
    assert.equal(names.size, cookies.length, [...names].join(' '))
  }
})
