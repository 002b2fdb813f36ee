import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { exportJWK, generateKeyPair, UnsecuredJWT } from 'jose'
import type { ProviderId } from '../../src/protocol/sign-in/authentication.ts'
import { PERSON_CLAIMS } from '../../src/protocol/sign-in/provider-identity.ts'
import {
  isSignedIn,
  openServerWithProvider,
  type ServerWithProvider,
} from '../endpoints/sign-in/provider/server-with-provider.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { CLIENT_SECRET, metadataOf, type Deviation } from '../support/provider/provider-host.ts'
import { ADA_CLAIMS } from '../support/provider/providers.ts'
import { openStillClock } from '../support/clocks.ts'
import { sendJson } from '../support/hosts/web-host.ts'
import { pageSays } from '../texts/page-texts.ts'

/** OpenID Connect Core §3.1.3.7: what an ID token must not be. The provider advertises `none` and HS256. */

const NOW = Math.floor(Date.now() / 1000)
const { privateKey: FOREIGN_KEY } = await generateKeyPair('ES256')

const REFUSED: Readonly<Record<string, Deviation>> = {
  'no signature': {
    raw: new UnsecuredJWT({ ...ADA_CLAIMS, aud: 'grantor', iat: NOW, exp: NOW + 60 }).encode(),
  },
  'a signature with the secret as the key': { header: { alg: 'HS256' }, key: new TextEncoder().encode(CLIENT_SECRET) },
  'the signature of another key': { key: FOREIGN_KEY },
  'an unknown key': { header: { alg: 'ES256', kid: 'unknown' } },
  'another audience': { idToken: { aud: 'another-client' } },
  'several audiences, authorized for another': {
    idToken: { aud: ['grantor', 'another-client'], azp: 'another-client' },
  },
  'one audience, authorized for another': { idToken: { azp: 'another-client' } },
  'an authorized party that is no text': { idToken: { azp: ['grantor'] } },
  'a time of issue that has not come yet': { idToken: { iat: NOW + 3600, exp: NOW + 7200 } },
  'a time of authentication that has not come yet': { idToken: { auth_time: NOW + 3600 } },
  'a time of authentication in milliseconds': { idToken: { auth_time: NOW * 1000 } },
  'a time of authentication without end': { idToken: { auth_time: 1e300 } },
  'another issuer': { idToken: { iss: 'https://evil.test' } },
  'an end in the past': { idToken: { iat: NOW - 4000, exp: NOW - 3600 } },
  'no nonce': { idToken: { nonce: undefined } },
  'another nonce': { idToken: { nonce: 'of-another-sign-in' } },
  'no subject': { idToken: { sub: undefined } },
  'no text': { raw: 'not-a-token' },
}

const setup = await openServerWithProvider(WHOLE_FILE, { signUp: 'anybody' })

for (const [name, deviation] of Object.entries(REFUSED)) {
  test(`UP-13: an ID token with ${name} signs no user in`, async () => {
    const answer = await setup.signIn(ADA_CLAIMS, deviation)
    assert.equal(answer.statusCode, 403, answer.body)
    assert.match(answer.body, pageSays('providerFailed'))
    assert.deepEqual([setup.rows('users'), setup.rows('sessions')], [[], []])
  })
}

test('RFC 9864 §2.2: a provider that offers EdDSA may sign with Ed25519, and the reverse', async () => {
  const { privateKey, publicKey } = await generateKeyPair('Ed25519')
  const metadata = '/.well-known/openid-configuration'
  for (const [offered, alg] of [
    ['EdDSA', 'Ed25519'],
    ['Ed25519', 'EdDSA'],
  ] as const) {
    const { host, signIn } = await openServerWithProvider(WHOLE_FILE, { signUp: 'anybody' })
    host.answer(metadata, sendJson({ ...metadataOf(host.issuer), id_token_signing_alg_values_supported: [offered] }))
    host.answer('/jwks', sendJson({ keys: [{ ...(await exportJWK(publicKey)), kid: 'two' }] }))
    const answer = await signIn(ADA_CLAIMS, { header: { alg, kid: 'two' }, key: privateKey })
    assert.ok(isSignedIn(answer), `${offered} ${answer.body}`)
  }
})

test('UP-13: the subject of userinfo must be that of the ID token', async () => {
  const claims = { sub: 'ada-at-idp' }
  assert.equal((await setup.signIn(claims, { userinfo: { sub: 'mallory' } })).statusCode, 403)
  assert.deepEqual(setup.rows('users'), [])
})

const countKeyRequests = ({ host }: ServerWithProvider): number =>
  host.paths().filter((path) => path === '/jwks').length

test('UP-13: unknown keys cause no more than one request for the keys in 15 seconds, beside that of a minute', async () => {
  const already = countKeyRequests(setup)
  for (let attempt = 0; attempt < 20; attempt += 1) {
    await setup.signIn(ADA_CLAIMS, { header: { alg: 'ES256', kid: randomBytes(4).toString('hex') } })
  }
  assert.ok(countKeyRequests(setup) - already <= 2)
})

test('OpenID Connect Core §10.1.1, UP-37: a provider may replace its keys at any time, also a moment after they were fetched', async (t) => {
  const own = await openServerWithProvider(t, { signUp: 'anybody' }, { clock: openStillClock() })
  assert.ok(isSignedIn(await own.signIn({ sub: 'before' })))
  assert.equal(countKeyRequests(own), 1)
  const next = await generateKeyPair('ES256')
  const jwk = { ...(await exportJWK(next.publicKey)), kid: 'next', alg: 'ES256' }
  own.host.answer('/jwks', sendJson({ keys: [jwk] }))
  const byNext = { header: { alg: 'ES256', kid: 'next' }, key: next.privateKey }
  const together = await Promise.all([1, 2, 3, 4, 5].map((sub) => own.signIn({ sub: `together-${sub}` }, byNext)))
  assert.deepEqual(together.map(isSignedIn), [true, true, true, true, true])
  assert.ok(isSignedIn(await own.signIn({ sub: 'after' }, byNext)))
  assert.equal(countKeyRequests(own), 2, 'one request for all sign-ins')
  assert.equal(own.host.paths().filter((path) => path === '/token').length, 7, 'each code is redeemed once')
  // The former key is no longer one of the provider, and asks for no more requests.
  assert.equal((await own.signIn({ sub: 'former' })).statusCode, 403)
  assert.equal(countKeyRequests(own), 2)
})

test('the address and the name come from userinfo if the ID token has none', async () => {
  const answer = await setup.signIn(
    { sub: 'bob' },
    { userinfo: { email: 'bob@acme.test', email_verified: true, name: 'Bob' } },
  )
  assert.ok(isSignedIn(answer))
  assert.deepEqual(
    setup.rows('users').map(({ email, name }) => ({ email, name })),
    [{ email: 'bob@acme.test', name: 'Bob' }],
  )
})

test('UP-01: whether an address is verified is said by the same document as the address', async () => {
  const mixed = [
    [
      { email: 'eve@acme.test', email_verified: true, name: undefined },
      { email: 'eve@acme.test', email_verified: false },
    ],
    [
      { email: 'eve@acme.test', email_verified: undefined, name: undefined },
      { email: 'mallory@acme.test', email_verified: true },
    ],
    [
      { email: undefined, email_verified: true },
      { email: 'eve@acme.test', email_verified: false },
    ],
  ] as const
  for (const [index, [idToken, userinfo]] of mixed.entries()) {
    assert.ok(isSignedIn(await setup.signIn({ sub: `mixed-${index}` }, { idToken, userinfo })))
  }
  assert.ok(setup.rows('users').every(({ email }) => email !== 'eve@acme.test'))
})

test('UP-16: an answer of more than 256 KiB is not read', async () => {
  const groups = Array.from({ length: 20_000 }, (_, index) => `group-${index}`)
  assert.equal((await setup.signIn({ ...ADA_CLAIMS, groups })).statusCode, 403)
})

test('metadata of another issuer are not used', async (t) => {
  const { server, host } = await openServerWithProvider(t)
  host.answer('/.well-known/openid-configuration', sendJson({ issuer: 'https://evil.test' }))
  const provider = await server.context.store.findProvider('idp' as ProviderId)
  assert.ok(provider)
  const [finding] = await server.context.providerSignIn.probe(provider, 'http://localhost:3000/v2/oauth/callback/idp')
  assert.equal(finding?.isOk, false)
})

test('OpenID Connect Core §5.3: userinfo is requested if the ID token lacks a claim that sign-in uses, and only then', async () => {
  const person = Object.fromEntries(PERSON_CLAIMS.map((claim) => [claim, ADA_CLAIMS[claim] ?? 'a text']))
  const requests = (): number => setup.host.paths().filter((path) => path === '/userinfo').length
  for (const claim of PERSON_CLAIMS) {
    const before = requests()
    await setup.signIn({ ...person, sub: 'carol' }, { idToken: { [claim]: undefined }, userinfo: { sub: 'mallory' } })
    assert.equal(requests(), before + 1, claim)
  }
  const before = requests()
  await setup.signIn({ ...person, sub: 'carol' }, { userinfo: { sub: 'mallory' } })
  assert.equal(requests(), before)
})
