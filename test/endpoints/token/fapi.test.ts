import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import {
  assertionClaims,
  assertionForm,
  makeClientKey,
  signJws,
  type AssertionSigner,
} from '../../../tools/client-assertion.ts'
import { makeProof } from '../../../tools/dpop-proof.ts'
import {
  authorizeUrl,
  PlainBrowser,
  postForm,
  pushedUrl,
  pushRequest,
  REDIRECT_URI,
  registerClient,
  signInAndAllow,
  VERIFIER,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { assertErrorRedirect, WHOLE_FILE } from '../../support/authorize-answers.ts'
import { openStillClock } from '../../support/clocks.ts'
import { lastLogged } from '../../support/error-answer.ts'
import { openTestServer } from '../../support/server.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { perform } from '../../support/tasks.ts'
import { openConsent } from '../../support/organizations.ts'
import { revoke } from '../../support/token-questions.ts'

const server = await openTestServer(WHOLE_FILE, {
  clock: openStillClock(),
  env: { GRANTOR_CODE_LIFETIME: '300', GRANTOR_REDIRECT_ERRORS: 'true' },
})
await createAda(server)
const keys = { ES256: makeClientKey('ES256'), RS256: makeClientKey('RS256'), PS256: makeClientKey('PS256') }
// Without alg the same key verifies PS256 too.
const RS256_ONLY = { keys: [{ ...keys.RS256.jwk, alg: 'RS256' }, makeClientKey('ES384').jwk] }
const proofKey = makeClientKey('ES256')
const TOKEN = `${server.origin}/v2/oauth/token`
const PROFILE = { consent: 'asked', profile: 'fapi2' } as const

const create = (members: object = {}) =>
  perform<RegisteredClient>(server.context, 'client.create', {
    client_name: 'Bank',
    redirect_uris: [REDIRECT_URI],
    jwks: { keys: Object.values(keys).map(({ jwk }) => jwk) },
    id_token_signed_response_alg: 'ES256',
    ...members,
  })
const setRules = ({ client_id }: RegisteredClient, rules: object) =>
  perform(server.context, 'client.set-rules', { client_id, ...PROFILE, ...rules })

const client = await create({ grant_types: ['authorization_code', 'refresh_token', 'client_credentials'] })
await setRules(client, { pkce: 'nonce' })

const assertion = (
  audience: unknown = server.origin,
  algorithm: AssertionSigner & keyof typeof keys = 'ES256',
  { client_id } = client,
) => {
  const claims = assertionClaims(client_id, server.origin, server.clock.now())
  return assertionForm(signJws(keys[algorithm], { alg: algorithm }, { ...claims, aud: audience }))
}
const proof = () => ({ dpop: makeProof(proofKey, { method: 'POST', address: TOKEN, nowMs: server.clock.now() }) })
const request = (form: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = proof()) =>
  postForm(server, '/v2/oauth/token', { ...assertion(), ...form }, headers)
const refreshed = (token: string) => request({ grant_type: 'refresh_token', refresh_token: token })

async function obtainCode(): Promise<string> {
  const url = await pushedUrl(server, client, { ...assertion(), scope: 'openid', prompt: 'consent' })
  return (await signInAndAllow(new PlainBrowser(server), url)).searchParams.get('code') ?? ''
}
const redeemed = (code: string) =>
  request({ grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER })

test('FP-01: the profile is refused for a client that lacks one of its conditions, which the error names', async () => {
  const cases: readonly (readonly [object, object, RegExp])[] = [
    [{ jwks: undefined }, {}, /private_key_jwt/],
    [{ token_endpoint_auth_signing_alg: 'RS256' }, {}, /token_endpoint_auth_signing_alg/],
    [{ jwks: RS256_ONLY }, {}, /a key for one of ES256/],
    [{ id_token_signed_response_alg: 'RS256' }, {}, /id_token_signed_response_alg/],
    [{ id_token_signed_response_alg: undefined }, {}, /id_token_signed_response_alg/],
    [{}, { pkce: 'optional' }, /pkce/],
  ]
  for (const [members, rules, text] of cases) await assert.rejects(setRules(await create(members), rules), text)
  await assert.rejects(setRules(await registerClient(server), {}), /not created by an operator/)
  const change = { client_id: client.client_id, id_token_signed_response_alg: 'RS256' }
  await assert.rejects(perform(server.context, 'client.update', change), /id_token_signed_response_alg/)
  const weaker = { client_id: client.client_id, jwks: RS256_ONLY }
  await assert.rejects(perform(server.context, 'client.set-keys', weaker), /a key for one of ES256/)
  await setRules(await create({ jwks: { keys: [keys.RS256.jwk] } }), {})
  const machine = { grant_types: ['client_credentials'], redirect_uris: [], id_token_signed_response_alg: undefined }
  await setRules(await create(machine), {})
})

test('FP-02: a client of the profile pushes its request, with redirect_uri and PKCE, and proves a key', async () => {
  assertErrorRedirect(server, await new PlainBrowser(server).get(authorizeUrl(client)), 'invalid_request')
  for (const missing of [
    { redirect_uri: '' },
    { code_challenge: '', code_challenge_method: '', nonce: 'n', scope: 'openid' },
  ]) {
    const response = await pushRequest(server, client, { ...assertion(), ...missing })
    assert.deepEqual([response.statusCode, response.json().error], [400, 'invalid_request'])
  }
  const bare = await request({ grant_type: 'client_credentials', scope: 'x' }, {})
  assert.deepEqual([bare.statusCode, bare.json().error], [400, 'invalid_request'])
  const bound = await request({ grant_type: 'client_credentials', scope: 'x' })
  assert.equal(bound.json().token_type, 'DPoP')
})

test('FP-02: the code lives for a minute, whatever GRANTOR_CODE_LIFETIME is', async () => {
  const [late, timely] = [await obtainCode(), await obtainCode()]
  server.clock.advance(59_999)
  assert.equal((await redeemed(timely)).statusCode, 200)
  server.clock.advance(1)
  assert.equal((await redeemed(late)).json().error, 'invalid_grant')
})

test('FP-03: a refresh keeps the token, writes nothing, and works often, late and until the grant is revoked', async () => {
  const first = (await redeemed(await obtainCode())).json()
  const token: string = first.refresh_token
  assert.ok(token && decodeJwt(first.access_token)['cnf'])
  const { refresh_token_timeout: timeout, authorization_expires_in: end } = first
  assert.ok(timeout === end && end > 0, 'the token of the profile has no timeout of its own')
  const answers = await Promise.all(Array.from({ length: 100 }, () => refreshed(token)))
  server.clock.advance(31_000)
  answers.push(await refreshed(token))
  // The idle time of other clients.
  server.clock.advance(40 * 24 * 60 * 60 * 1000)
  answers.push(await refreshed(token))
  for (const answer of answers) {
    assert.equal(answer.statusCode, 200, answer.body)
    assert.deepEqual([answer.json().refresh_token, answer.json().token_type], [undefined, 'DPoP'])
    assert.ok(answer.json().id_token)
    const { refresh_token_timeout: own, authorization_expires_in: left } = answer.json()
    assert.ok(own === undefined && left > 0 && left <= end)
  }
  assert.equal(
    (await request({ grant_type: 'refresh_token', refresh_token: token }, {})).json().error,
    'invalid_request',
  )
  await revoke(server, client, token, assertion())
  assert.equal((await refreshed(token)).json().error, 'invalid_grant')
})

test('FP-04: the audience of an assertion is the issuer alone, and its algorithm one of the profile', async () => {
  const elsewhere = [TOKEN, `${server.origin}/v2/oauth/par`, [server.origin], [server.origin, TOKEN]]
  const refused = [...elsewhere.map((audience) => assertion(audience)), assertion(server.origin, 'RS256')]
  await assertStoreUnchanged(server, async () => {
    for (const form of refused) {
      const answer = await postForm(server, '/v2/oauth/token', { ...form, grant_type: 'client_credentials' }, proof())
      assert.equal(answer.json().error, 'invalid_client', JSON.stringify(decodeJwt(form['client_assertion'] ?? '').aud))
      assert.equal((await pushRequest(server, client, form)).statusCode, 401)
    }
  })
  assert.equal(lastLogged(server)['reason'], 'assertion_algorithm')
  const good = { ...assertion(server.origin, 'PS256'), grant_type: 'client_credentials', scope: 'x' }
  assert.equal((await postForm(server, '/v2/oauth/token', good, proof())).statusCode, 200)
})

test('FP-03: after the profile is removed, the refresh token of the grant is rotated again', async () => {
  const { refresh_token: token } = (await redeemed(await obtainCode())).json()
  await setRules(client, { profile: 'standard' })
  const { refresh_token: next } = (await refreshed(token)).json()
  assert.ok(next && next !== token)
  await setRules(client, {})
  const { refresh_token: kept } = (await refreshed(next)).json()
  assert.equal((await refreshed(kept)).json().refresh_token, undefined)
})

test('FP-03: a grant from before the profile is rotated once, and then lives without an idle time', async () => {
  const own = await create()
  const ask = (form: Readonly<Record<string, string>>) =>
    postForm(server, '/v2/oauth/token', { ...assertion(server.origin, 'ES256', own), ...form }, proof())
  const renew = (token: string) => ask({ grant_type: 'refresh_token', refresh_token: token })
  const code = (await signInAndAllow(new PlainBrowser(server), authorizeUrl(own))).searchParams.get('code') ?? ''
  const { refresh_token: first } = (
    await ask({ grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER })
  ).json()
  await setRules(own, {})
  const answers = await Promise.all([renew(first), renew(first)])
  const [token, other] = answers.map((answer) => answer.json().refresh_token)
  assert.ok(token && token !== first && token === other)
  for (let period = 0; period < 2; period += 1) {
    server.clock.advance(40 * 24 * 60 * 60 * 1000)
    const answer = await renew(token)
    assert.deepEqual([answer.statusCode, answer.json().refresh_token], [200, undefined], answer.body)
  }
})

test('FP-05: what began before the profile or --require-par ends without a token, and only a named profile removes it', async () => {
  const own = await create()
  const pkceless = { nonce: 'n'.repeat(20), scope: 'openid', code_challenge: '', code_challenge_method: '' }
  const browser = new PlainBrowser(server)
  const approved = await signInAndAllow(browser, authorizeUrl(own, pkceless))
  const [pending, pushed] = [
    await openConsent(browser, authorizeUrl(own, { ...pkceless, prompt: 'consent' })),
    await openConsent(
      browser,
      await pushedUrl(server, own, { ...assertion(server.origin, 'ES256', own), ...pkceless, prompt: 'consent' }),
    ),
  ]
  await setRules(own, {})
  const allow = { decision: 'allow' }
  assert.match(assertErrorRedirect(server, await browser.submit(pending, allow), 'invalid_request'), /must push/)
  assert.match(assertErrorRedirect(server, await browser.submit(pushed, allow), 'invalid_request'), /code_challenge/)
  const code = approved.searchParams.get('code') ?? ''
  const form = { ...assertion(server.origin, 'ES256', own), grant_type: 'authorization_code', code }
  const answer = await postForm(server, '/v2/oauth/token', { ...form, redirect_uri: REDIRECT_URI }, proof())
  assert.equal(answer.json().error, 'invalid_grant')
  const open = await registerClient(server, { token_endpoint_auth_method: 'none', grant_types: ['authorization_code'] })
  const page = await openConsent(browser, authorizeUrl(open))
  await perform(server.context, 'client.adopt', { client_id: open.client_id })
  const change = { client_id: open.client_id, require_pushed_authorization_requests: true }
  await perform(server.context, 'client.update', change)
  assertErrorRedirect(server, await browser.submit(page, allow), 'invalid_request')

  const unsaid = perform(server.context, 'client.set-rules', { client_id: own.client_id, consent: 'asked' })
  await assert.rejects(unsaid, /fapi2 keeps it, and standard removes it/)
  await setRules(own, { profile: 'standard' })
})
