import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { after } from '../../../src/base/brand.ts'
import { USED_PROOFS } from '../../../src/keys/used-proofs.ts'
import type { PublicJwk } from '../../../src/protocol/client/keys.ts'
import { thumbprintOf, type JwkThumbprint } from '../../../src/protocol/token/dpop-proof.ts'
import { makeClientKey, type ClientKey } from '../../../tools/client-assertion.ts'
import { makeProof, type DifferingProof } from '../../../tools/dpop-proof.ts'
import { obtainCode, postForm, REDIRECT_URI, registerClient, VERIFIER, type Tokens } from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { openStillClocks } from '../../support/clocks.ts'
import { assertError, lastLogged } from '../../support/error-answer.ts'
import { credentialsOf } from '../../support/hosts/http-agent.ts'
import { openTestServer } from '../../support/server.ts'

const USERINFO = '/v2/oauth/userinfo'
const [clock] = openStillClocks([0])
const server = await openTestServer(WHOLE_FILE, { clock })
await createAda(server)
const KEY = makeClientKey('ES256')
const client = await registerClient(server)

async function accessToken(key: ClientKey | undefined, scope = 'openid email'): Promise<string> {
  const code = await obtainCode(server, client, { scope, prompt: 'consent' })
  const form = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER }
  const address = `${server.origin}/v2/oauth/token`
  const headers = key === undefined ? {} : { dpop: makeProof(key, { method: 'POST', address, nowMs: clock.now() }) }
  const answer = await postForm(server, '/v2/oauth/token', { ...credentialsOf(client), ...form }, headers)
  return answer.json<Tokens>().access_token
}

const BOUND = await accessToken(KEY)
const BEARER = await accessToken(undefined)

function proofOf(
  differing: DifferingProof = {},
  key: ClientKey = KEY,
  method: 'GET' | 'HEAD' | 'POST' = 'GET',
  token = BOUND,
): string {
  const request = { method, address: `${server.origin}${USERINFO}`, nowMs: clock.now(), accessToken: token }
  return makeProof(key, request, differing)
}

function ask(authorization: string | undefined, dpop?: string): Promise<LightMyRequestResponse> {
  const headers = {
    ...(authorization === undefined ? {} : { authorization }),
    ...(dpop === undefined ? {} : { dpop }),
  }
  return server.inject({ method: 'GET', url: USERINFO, headers })
}

/** Checks the status, the challenge that names the error, and the reason in the log. */
function assertChallenged(answer: LightMyRequestResponse, code: string, reason: string): void {
  assertError(answer, 401, code)
  const challenge = `DPoP realm="grantor", error="${code}", algs="ES256 EdDSA Ed25519 PS256"`
  assert.equal(answer.headers['www-authenticate'], challenge)
  assert.equal(lastLogged(server)['reason'], reason)
  assert.equal(answer.headers['dpop-nonce'] === undefined, code !== 'use_dpop_nonce')
}

test('DP-10: the userinfo endpoint answers a bound token with a proof of its key, by GET and POST', async () => {
  for (const scheme of ['DPoP', 'dpop']) {
    const answer = await ask(`${scheme} ${BOUND}`, proofOf())
    assert.equal(answer.statusCode, 200, answer.body)
    assert.equal(answer.json().email, 'ada@acme.test')
  }
  for (const [method, status] of [
    ['HEAD', 200],
    ['GET', 401],
  ] as const) {
    const own = { authorization: `DPoP ${BOUND}`, dpop: proofOf({}, KEY, method) }
    assert.equal((await server.inject({ method: 'HEAD', url: USERINFO, headers: own })).statusCode, status)
  }
  const headers = { authorization: `DPoP ${BOUND}`, dpop: proofOf({}, KEY, 'POST') }
  assert.equal((await postForm(server, USERINFO, {}, headers)).statusCode, 200)
  assert.equal((await ask(`Bearer ${BEARER}`)).statusCode, 200)
  assert.equal((await ask(`Bearer ${BEARER}`, 'a client may send a proof everywhere')).statusCode, 200)
})

test('DP-10: a bound token without its proof, or with that of another key, token or request, is refused', async () => {
  const iat = Math.floor(clock.now() / 1000) + 86_400
  const bound = 'access_token_bound'
  const table = [
    [`Bearer ${BOUND}`, undefined, 'invalid_token', bound],
    [`Bearer ${BOUND}`, proofOf(), 'invalid_token', bound],
    [`DPoP ${BOUND}`, undefined, 'invalid_token', bound],
    [`DPoP ${BEARER}`, undefined, 'invalid_token', 'access_token_not_bound'],
    [`DPoP ${BEARER}`, proofOf(), 'invalid_token', 'access_token_not_bound'],
    ['DPoP made-up', proofOf(), 'invalid_token', 'access_token_wrong'],
    [`DPoP ${BOUND}`, 'x', 'invalid_dpop_proof', 'proof_malformed'],
    [`DPoP ${BOUND}`, proofOf({ claims: { htm: 'POST' } }), 'invalid_dpop_proof', 'proof_for_another_request'],
    [`DPoP ${BOUND}`, proofOf({ claims: { ath: undefined } }), 'invalid_dpop_proof', 'proof_of_another_token'],
    [`DPoP ${BOUND}`, proofOf({ claims: { ath: 'A'.repeat(43) } }), 'invalid_dpop_proof', 'proof_of_another_token'],
    [`DPoP ${BOUND}`, proofOf({}, makeClientKey('ES256')), 'invalid_dpop_proof', 'proof_of_another_key'],
    [`DPoP ${BOUND}`, `${proofOf().slice(0, -9)}AAAAAAAAA`, 'invalid_dpop_proof', 'proof_wrong'],
    [`DPoP ${BOUND}`, proofOf({ claims: { iat } }), 'use_dpop_nonce', 'proof_not_fresh'],
    [`DPoP ${BOUND}`, proofOf({ claims: { nonce: 'stale' } }), 'use_dpop_nonce', 'nonce_stale'],
  ] as const
  for (const [authorization, dpop, code, reason] of table)
    assertChallenged(await ask(authorization, dpop), code, reason)
  assertChallenged(await postForm(server, USERINFO, { access_token: BOUND }), 'invalid_token', bound)
})

test('RFC 9449 §7.1: a request without a token learns that both schemes are accepted, and with which algorithms', async () => {
  for (const dpop of [undefined, proofOf()]) {
    const none = await ask(undefined, dpop)
    assertError(none, 401, 'invalid_token')
    const challenges = 'Bearer realm="grantor", DPoP realm="grantor", algs="ES256 EdDSA Ed25519 PS256"'
    assert.equal(none.headers['www-authenticate'], challenges)
  }
})

test('RFC 9449 §7.1: the challenge for a missing scope has the scheme with which the token came', async () => {
  const narrow = await accessToken(KEY, 'profile')
  const answer = await ask(`DPoP ${narrow}`, proofOf({}, KEY, 'GET', narrow))
  assertError(answer, 403, 'insufficient_scope')
  const challenge = 'DPoP realm="grantor", error="insufficient_scope", algs="ES256 EdDSA Ed25519 PS256", scope="openid"'
  assert.equal(answer.headers['www-authenticate'], challenge)
})

test('DP-11: the userinfo endpoint accepts each proof once, also one with a nonce and another time', async () => {
  const refused = await ask(`DPoP ${BOUND}`, proofOf({ claims: { iat: 0 } }))
  const nonce = refused.headers['dpop-nonce']
  for (const proof of [proofOf(), proofOf({ claims: { iat: 0, nonce } })]) {
    assert.equal((await ask(`DPoP ${BOUND}`, proof)).statusCode, 200)
    assertChallenged(await ask(`DPoP ${BOUND}`, proof), 'invalid_dpop_proof', 'proof_replayed')
  }
})

test('DP-11: the key that sent more proofs than are kept gets 429 with the time when the first of them end', async () => {
  const key = thumbprintOf(KEY.jwk as PublicJwk) as JwkThumbprint
  const endsAt = after(clock.now(), 60_000)
  for (let index = 0; index < USED_PROOFS.key; index += 1)
    server.context.proofs.use({ id: `${index}`, endsAt }, { key, network: undefined }, clock.now())
  const refused = await ask(`DPoP ${BOUND}`, proofOf())
  assertError(refused, 429, 'temporarily_unavailable')
  assert.equal(lastLogged(server)['reason'], 'too_many_proofs')
  const seconds = Number(refused.headers['retry-after'])
  assert.ok(seconds > 0 && seconds <= 91, String(seconds))
  clock.advance(seconds * 1000)
  assert.equal((await ask(`DPoP ${BOUND}`, proofOf())).statusCode, 200)
})
