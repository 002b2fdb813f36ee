import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { decodeJwt } from 'jose'
import { thumbprintOf } from '../../../src/protocol/token/dpop-proof.ts'
import type { PublicJwk } from '../../../src/protocol/client/keys.ts'
import { assertionForm, makeClientKey, type ClientKey } from '../../../tools/client-assertion.ts'
import { makeProof, type DifferingProof } from '../../../tools/dpop-proof.ts'
import {
  authorizeUrl,
  obtainCode,
  PlainBrowser,
  postForm,
  REDIRECT_URI,
  registerClient,
  VERIFIER,
  type RegisteredClient,
  type Tokens,
} from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { declareApi, JWT_API, knowApis, obtainCodeFor, OPAQUE_API } from '../../support/apis.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { openStillClocks } from '../../support/clocks.ts'
import { assertError, lastLogged } from '../../support/error-answer.ts'
import { credentialsOf } from '../../support/hosts/http-agent.ts'
import { assertionOf, registerKeyClient } from '../../support/key-clients.ts'
import { openTestServer, STRICT } from '../../support/server.ts'
import { perform } from '../../support/tasks.ts'
import { assertRefused as assertRefusal } from '../../support/token-answers.ts'
import { introspect } from '../../support/token-questions.ts'

const TOKEN = '/v2/oauth/token'
const MACHINE = { grant_type: 'client_credentials' }
const DPOP_API = 'https://dpop.example'
/** An API that requires proofs only later. */
const LATER_API = 'https://later.example'
const BEARER_API = 'https://bearer.example'
const BEARER_TOO = 'https://bearer-too.example'

const [clock] = openStillClocks([0])
const server = await openTestServer(WHOLE_FILE, { clock, env: STRICT })
await createAda(server)
const api = await declareApi(server, OPAQUE_API, { format: 'opaque' })
const jwtApi = await declareApi(server, JWT_API)
await declareApi(server, DPOP_API, { binding: 'dpop' })
await declareApi(server, LATER_API)
await declareApi(server, BEARER_API, { binding: 'bearer' })
await declareApi(server, BEARER_TOO, { binding: 'bearer' })
knowApis(server)

const KEY = makeClientKey('ES256')
const OTHER_KEY = makeClientKey('EdDSA')
const JKT = thumbprintOf(KEY.jwk as PublicJwk)
const OTHER_JKT = thumbprintOf(OTHER_KEY.jwk as PublicJwk)

interface BoundTokens extends Tokens {
  readonly token_type: string
}

function proofOf(key: ClientKey = KEY, differing: DifferingProof = {}): string {
  return makeProof(key, { method: 'POST', address: `${server.origin}${TOKEN}`, nowMs: clock.now() }, differing)
}

/** Requests tokens for a client, with this proof if there is one. */
function request(
  client: RegisteredClient,
  form: Readonly<Record<string, string>>,
  proof: string | undefined,
): Promise<LightMyRequestResponse> {
  return postForm(server, TOKEN, { ...credentialsOf(client), ...form }, proof === undefined ? {} : { dpop: proof })
}

function redeemed(client: RegisteredClient, code: string, proof: string | undefined) {
  const form = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER }
  return request(client, form, proof)
}

function refreshed(client: RegisteredClient, token: string | undefined, proof: string | undefined, more = {}) {
  return request(client, { grant_type: 'refresh_token', refresh_token: token ?? '', ...more }, proof)
}

function tokensOf(answer: LightMyRequestResponse): BoundTokens {
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<BoundTokens>()
}

/** Checks the type of the tokens, and the key in the claims of a JWT. */
function assertBound(tokens: BoundTokens, jkt: string | undefined): void {
  assert.equal(tokens.token_type, jkt === undefined ? 'Bearer' : 'DPoP')
  assert.deepEqual(decodeJwt(tokens.access_token)['cnf'], jkt === undefined ? undefined : { jkt })
}

const assertRefused = (act: () => Promise<LightMyRequestResponse>, code: string, reason: string) =>
  assertRefusal(server, [code, reason], act)

const machine = await registerClient(server)

test('RFC 9449 §5: a client with a proof gets a token that is bound to its key, and one without a bearer token', async () => {
  for (const key of [KEY, OTHER_KEY, makeClientKey('PS256')]) {
    const bound = tokensOf(await request(machine, MACHINE, proofOf(key)))
    assertBound(bound, thumbprintOf(key.jwk as PublicJwk))
    assert.deepEqual([lastLogged(server)['event'], lastLogged(server)['bound']], ['token.issued', true])
  }
  assertBound(tokensOf(await request(machine, MACHINE, undefined)), undefined)
  assert.equal(lastLogged(server)['bound'], undefined)
})

test('DP-03, DP-04: a proof for another request, and what is not a proof, is refused before anything is read or stored', async () => {
  const good = proofOf()
  const forged = `${proofOf().split('.').slice(0, 2).join('.')}.${good.split('.')[2]}`
  const table = [
    ['proof_malformed', ''.padEnd(5000, 'a')],
    ['proof_malformed', `${good}, ${good}`],
    ['proof_malformed', proofOf(KEY, { header: { alg: 'ES384' } })],
    ['proof_malformed', proofOf(KEY, { header: { jwk: KEY.privateKey.export({ format: 'jwk' }) } })],
    ['proof_for_another_request', proofOf(KEY, { claims: { htu: `https://other.example${TOKEN}` } })],
    ['proof_for_another_request', proofOf(KEY, { claims: { htm: 'GET' } })],
    ['proof_wrong', forged],
  ] as const
  for (const [reason, proof] of table) {
    const answer = await assertRefused(() => request(machine, MACHINE, proof), 'invalid_dpop_proof', reason)
    assert.equal(answer.headers['www-authenticate'], undefined)
    assert.equal(answer.headers['dpop-nonce'], undefined)
  }
  // What the Host header says does not matter.
  const host = { dpop: proofOf(KEY, { claims: { htu: `http://evil.example${TOKEN}` } }), host: 'evil.example' }
  await assertRefused(
    () => postForm(server, TOKEN, { ...credentialsOf(machine), ...MACHINE }, host),
    'invalid_dpop_proof',
    'proof_for_another_request',
  )
})

test('DP-05: a bad proof is refused before the client is looked for, and an expensive algorithm before a verification', async () => {
  const unknown = { ...machine, client_id: 'gci_unknown', client_secret: 'gcs_unknown' }
  const bad = ['x', ...(['ES384', 'RS256'] as const).map((algorithm) => proofOf(makeClientKey(algorithm)))]
  // More than the failures of a client authentication that one network may have in a minute.
  for (let count = 0; count < 25; count += 1)
    for (const proof of bad) assertError(await request(unknown, MACHINE, proof), 400, 'invalid_dpop_proof')
  assert.equal(lastLogged(server)['reason'], 'proof_malformed')
})

test('DP-06: a proof with a wrong clock gets a nonce, with which the next attempt works, with the assertion of the first', async () => {
  const keyed = await registerKeyClient(server)
  const off = { iat: Math.floor(clock.now() / 1000) + 86_400 }
  const form = { ...MACHINE, ...assertionForm(assertionOf(server, keyed)) }
  const send = (claims: object) => postForm(server, TOKEN, form, { dpop: proofOf(KEY, { claims: { ...claims } }) })
  const first = await assertRefused(() => send(off), 'use_dpop_nonce', 'proof_not_fresh')
  const nonce = String(first.headers['dpop-nonce'])
  assert.match(String(first.headers['access-control-expose-headers']), /\bDPoP-Nonce\b/)
  const second = await send({ ...off, nonce })
  assertBound(tokensOf(second), JKT)
  assert.equal(second.headers['dpop-nonce'], undefined)
  assertError(await send({ ...off, nonce }), 401, 'invalid_client')
  clock.advance(11 * 60_000)
  const late = () => request(machine, MACHINE, proofOf(KEY, { claims: { nonce } }))
  const stale = await assertRefused(late, 'use_dpop_nonce', 'nonce_stale')
  assert.notEqual(stale.headers['dpop-nonce'], nonce)
})

test('DP-07: the refresh token of a public client is bound to the key, and each refresh needs a proof of it', async () => {
  const app = await registerClient(server, { token_endpoint_auth_method: 'none' })
  const first = tokensOf(await redeemed(app, await obtainCode(server, app), proofOf()))
  assertBound(first, JKT)
  for (const proof of [undefined, proofOf(OTHER_KEY)]) {
    const attempt = () => refreshed(app, first.refresh_token, proof)
    await assertRefused(attempt, 'invalid_grant', 'key_differs')
  }

  const second = tokensOf(await refreshed(app, first.refresh_token, proofOf()))
  assertBound(second, JKT)
  const retried = tokensOf(await refreshed(app, first.refresh_token, proofOf()))
  assert.equal(retried.refresh_token, second.refresh_token)
  assert.equal(decodeJwt(retried.access_token).jti, decodeJwt(second.access_token).jti)
  // A thief of the former token cannot end the family by using it again, for which it needs the key.
  clock.advance(60_000)
  await assertRefused(() => refreshed(app, first.refresh_token, proofOf(OTHER_KEY)), 'invalid_grant', 'key_differs')
  const third = tokensOf(await refreshed(app, second.refresh_token, proofOf()))
  assertError(await refreshed(app, first.refresh_token, proofOf()), 400, 'invalid_grant')
  assert.equal(lastLogged(server)['reason'], 'refresh_reused')
  assertError(await refreshed(app, third.refresh_token, proofOf()), 400, 'invalid_grant')
})

test('DP-07: a public client proves a key for a grant with an API of bound tokens, also for a token of another API', async () => {
  const app = await registerClient(server, { token_endpoint_auth_method: 'none', scope: 'read write' })
  const code = await obtainCodeFor(server, app, [JWT_API, DPOP_API])
  const form = { grant_type: 'authorization_code', code, code_verifier: VERIFIER, resource: JWT_API }
  await assertRefused(() => request(app, form, undefined), 'invalid_request', 'proof_missing')
  const { refresh_token: token } = tokensOf(await request(app, form, proofOf()))
  const stolen = () => refreshed(app, token, proofOf(OTHER_KEY), { resource: DPOP_API })
  await assertRefused(stolen, 'invalid_grant', 'key_differs')
})

test('DP-07: the first proof of a public client binds its refresh token, and the unbound one before it is no way around the key', async () => {
  const app = await registerClient(server, { token_endpoint_auth_method: 'none', scope: 'read write' })
  const start = async (): Promise<string> => {
    const answer = await redeemed(app, await obtainCodeFor(server, app, [JWT_API, LATER_API]), undefined)
    return tokensOf(answer).refresh_token ?? assert.fail()
  }
  const [first, other] = [await start(), await start()]
  await perform(server.context, 'api.update', { resource: LATER_API, tokens: { binding: 'dpop' } })
  knowApis(server)
  // Also for a token of the other API: an unbound successor would give a thief tokens for a key of its own.
  for (const more of [{}, { resource: JWT_API }])
    await assertRefused(() => refreshed(app, first, undefined, more), 'invalid_request', 'proof_missing')
  const second = tokensOf(await refreshed(app, first, proofOf()))
  assertBound(second, JKT)
  const retried = tokensOf(await refreshed(app, first, proofOf()))
  assert.equal(retried.refresh_token, second.refresh_token)
  assert.equal(decodeJwt(retried.access_token).jti, decodeJwt(second.access_token).jti)
  const stolen = () => refreshed(app, second.refresh_token, proofOf(OTHER_KEY))
  await assertRefused(stolen, 'invalid_grant', 'key_differs')
  assertBound(tokensOf(await refreshed(app, second.refresh_token, proofOf())), JKT)

  // A thief of the unbound token binds it first. Its owner presents it too, without that key, and so ends the grant.
  const taken = tokensOf(await refreshed(app, other, proofOf(OTHER_KEY)))
  assertError(await refreshed(app, other, proofOf()), 400, 'invalid_grant')
  assert.equal(lastLogged(server)['reason'], 'refresh_reused')
  assertError(await refreshed(app, taken.refresh_token, proofOf(OTHER_KEY)), 400, 'invalid_grant')
})

test('DP-07: a confidential client may change its key, and omit the proof, at each refresh', async () => {
  const app = await registerClient(server)
  const first = tokensOf(await redeemed(app, await obtainCode(server, app), proofOf()))
  assertBound(first, JKT)
  const second = tokensOf(await refreshed(app, first.refresh_token, proofOf(OTHER_KEY)))
  assertBound(second, OTHER_JKT)
  const retried = tokensOf(await refreshed(app, first.refresh_token, proofOf()))
  assertBound(retried, JKT)
  assert.equal(retried.refresh_token, second.refresh_token)
  assert.notEqual(decodeJwt(retried.access_token).jti, decodeJwt(second.access_token).jti)
  assertBound(tokensOf(await refreshed(app, second.refresh_token, undefined)), undefined)
})

test('DP-08: a code of a request with dpop_jkt needs a proof of that key, and stays valid without it', async () => {
  for (const method of ['none', 'client_secret_basic']) {
    const app = await registerClient(server, { token_endpoint_auth_method: method })
    const code = await obtainCode(server, app, { dpop_jkt: JKT, prompt: 'consent' })
    for (const proof of [undefined, proofOf(OTHER_KEY)])
      await assertRefused(() => redeemed(app, code, proof), 'invalid_grant', 'key_differs')
    // A party without the key cannot burn the code by a wrong verifier either.
    const guess = { grant_type: 'authorization_code', code, code_verifier: 'a'.repeat(43) }
    await assertRefused(() => request(app, guess, undefined), 'invalid_grant', 'key_differs')
    assertBound(tokensOf(await redeemed(app, code, proofOf())), JKT)
    await assertRefused(() => redeemed(app, code, proofOf(OTHER_KEY)), 'invalid_grant', 'key_differs')
  }
  const app = await registerClient(server)
  for (const dpop_jkt of ['short', `${JKT}=`, `${JKT.slice(1)}!`]) {
    const answer = await new PlainBrowser(server).get(authorizeUrl(app, { dpop_jkt }))
    assert.match(answer.body, /dpop_jkt is not a thumbprint/)
  }
})

test('DP-09: a client that registered dpop_bound_access_tokens sends a proof with each request', async () => {
  const strict = await registerClient(server, { dpop_bound_access_tokens: true })
  assert.equal(strict['dpop_bound_access_tokens'], true)
  await assertRefused(() => request(strict, MACHINE, undefined), 'invalid_request', 'proof_missing')
  assertBound(tokensOf(await request(strict, MACHINE, proofOf())), JKT)
  const code = await obtainCode(server, strict)
  await assertRefused(() => redeemed(strict, code, undefined), 'invalid_request', 'proof_missing')
  const { refresh_token: token } = tokensOf(await redeemed(strict, code, proofOf()))
  await assertRefused(() => refreshed(strict, token, undefined), 'invalid_request', 'proof_missing')
  const forBearer = () => request(strict, { ...MACHINE, resource: BEARER_API }, proofOf())
  await assertRefused(forBearer, 'invalid_target', 'binding_differs')
})

test('DP-09: an API says whether its tokens are bound, and two that differ cannot share a token', async () => {
  const app = await registerClient(server, { scope: 'read write' })
  const forApi = (resource: string, proof: string | undefined) => request(app, { ...MACHINE, resource }, proof)
  assertBound(tokensOf(await forApi(JWT_API, proofOf())), JKT)
  assertBound(tokensOf(await forApi(JWT_API, undefined)), undefined)
  assertBound(tokensOf(await forApi(DPOP_API, proofOf())), JKT)
  await assertRefused(() => forApi(DPOP_API, undefined), 'invalid_request', 'proof_missing')
  assertBound(tokensOf(await forApi(BEARER_API, proofOf())), undefined)
  assertBound(tokensOf(await forApi(BEARER_API, undefined)), undefined)
  const table = [
    [[JWT_API, DPOP_API], JKT, 'proof_missing'],
    [[JWT_API, BEARER_API], undefined, undefined],
    [[BEARER_API, BEARER_TOO], undefined, undefined],
  ] as const
  for (const [resources, bound, withoutProof] of table) {
    const proven = await obtainCodeFor(server, app, resources)
    assertBound(tokensOf(await redeemed(app, proven, proofOf())), bound)
    const code = await obtainCodeFor(server, app, resources)
    if (withoutProof !== undefined) {
      await assertRefused(() => redeemed(app, code, undefined), 'invalid_request', withoutProof)
      assertBound(tokensOf(await redeemed(app, code, proofOf())), bound)
    } else assertBound(tokensOf(await redeemed(app, code, undefined)), undefined)
  }
  const both = await obtainCodeFor(server, app, [DPOP_API, BEARER_API])
  await assertRefused(() => redeemed(app, both, proofOf()), 'invalid_target', 'binding_differs')
  const narrowed = { resource: BEARER_API, code: both, grant_type: 'authorization_code', code_verifier: VERIFIER }
  const tokens = tokensOf(await request(app, narrowed, proofOf()))
  assertBound(tokens, undefined)
  const next = tokensOf(await refreshed(app, tokens.refresh_token, proofOf(), { resource: DPOP_API }))
  assertBound(next, JKT)
})

test('DP-12: JWTs and opaque tokens have the key, for introspection and after a narrowing', async () => {
  const app = await registerClient(server, { scope: 'read write' })
  for (const [resource, asker] of [
    [JWT_API, jwtApi],
    [OPAQUE_API, api],
  ] as const) {
    const code = await obtainCode(server, app, { scope: 'read write', resource })
    const first = tokensOf(await redeemed(app, code, proofOf()))
    const next = tokensOf(await refreshed(app, first.refresh_token, proofOf(), { scope: 'read' }))
    const again = tokensOf(await refreshed(app, first.refresh_token, proofOf(), { scope: 'read' }))
    for (const tokens of [first, next, again]) {
      const { token_type: type, cnf, active } = (await introspect(server, asker, tokens.access_token)).json()
      assert.deepEqual({ type, cnf, active }, { type: 'DPoP', cnf: { jkt: JKT }, active: true })
    }
    if (resource === OPAQUE_API) assert.equal(again.access_token, next.access_token)
    const asked = (await introspect(server, app, again.refresh_token ?? '')).json()
    assert.deepEqual([asked.active, asked.cnf, asked.token_type], [true, undefined, undefined])
    const bearer = tokensOf(await request(app, { ...MACHINE, resource }, undefined))
    const plain = (await introspect(server, asker, bearer.access_token)).json()
    assert.deepEqual([plain.token_type, 'cnf' in plain], ['Bearer', false])
  }
})

test('DP-12: a public client that registers without dpop_bound_access_tokens, and with false, is the same client', async () => {
  const metadata = { token_endpoint_auth_method: 'none', redirect_uris: ['http://127.0.0.1/callback'] }
  const ids = []
  for (const more of [{}, { dpop_bound_access_tokens: false }, { dpop_bound_access_tokens: true }])
    ids.push((await registerClient(server, { ...metadata, ...more })).client_id)
  assert.equal(ids[0], ids[1])
  assert.notEqual(ids[1], ids[2])
})

test('DP-13: scripts of any origin may send a proof and read the nonce', async () => {
  for (const url of [TOKEN, '/v2/oauth/userinfo']) {
    const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' }
    const answer = await server.inject({ method: 'OPTIONS', url, headers })
    assert.equal(answer.statusCode, 204)
    assert.match(String(answer.headers['access-control-allow-headers']), /\bDPoP\b/)
    assert.match(String(answer.headers['access-control-expose-headers']), /\bDPoP-Nonce\b/)
  }
})
