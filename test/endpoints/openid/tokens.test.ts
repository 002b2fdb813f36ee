import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHash } from 'node:crypto'
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from 'jose'
import { addMember, createOrganization } from '../../support/organizations.ts'
import { ID_TOKEN_ALGORITHMS } from '../../../src/protocol/openid/id-token.ts'
import { retireKey, rotateKeys } from '../../../src/admin/key/key.ts'
import { declareApi, JWT_API, knowApis, OPAQUE_API } from '../../support/apis.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { introspect, revoke } from '../../support/token-questions.ts'
import {
  authorizeUrl,
  EMAIL,
  locationOf,
  PlainBrowser,
  postForm,
  refresh,
  registerClient,
  REDIRECT_URI,
  requestToken,
  signInAndAllow,
  VERIFIER,
  type Tokens,
} from '../../../tools/flow.ts'
import { credentialsOf } from '../../support/hosts/http-agent.ts'
import { answerOf, idTokenOf, login, makeClient, openLogin, PROFILE, signIn, tokensOf, userinfo } from './login.ts'
import { perform, performOnUser } from '../../support/tasks.ts'

test('OP-02: an ID token is signed by the algorithm that the client registered, and at_hash fits its access token', async (t) => {
  const server = await openLogin(t)
  // A client that registers by itself may choose EdDSA once the operator did.
  await makeClient(server, {}, { id_token_signed_response_alg: 'EdDSA' })
  for (const algorithm of [...ID_TOKEN_ALGORITHMS, undefined]) {
    const client = await registerClient(server, { id_token_signed_response_alg: algorithm })
    const tokens = await login(server, client)
    const keys = createLocalJWKSet(
      (await server.inject({ method: 'GET', url: '/v2/oauth/jwks' })).json<JSONWebKeySet>(),
    )
    const options = {
      issuer: server.origin,
      audience: client.client_id,
      typ: 'JWT',
      algorithms: [algorithm ?? 'RS256'],
    }
    const { payload } = await jwtVerify(tokens.id_token ?? '', keys, options)
    const digest = createHash(algorithm === 'EdDSA' ? 'sha512' : 'sha256')
      .update(tokens.access_token)
      .digest()
    assert.equal(payload['at_hash'], digest.subarray(0, digest.length / 2).toString('base64url'))
    assert.deepEqual(payload['amr'], ['pwd'])
    const again = tokensOf(await refresh(server, client, tokens.refresh_token ?? ''))
    assert.equal((await jwtVerify(again.id_token ?? '', keys, options)).payload.sub, payload.sub)
  }
})

test('OP-13: an algorithm that is not supported becomes RS256, and every member has the type of its registration', async (t) => {
  const server = await openLogin(t)
  for (const [sent, registered] of [
    ['none', 'RS256'],
    ['HS256', 'RS256'],
    ['ES256', 'ES256'],
  ]) {
    const client = await registerClient(server, {
      id_token_signed_response_alg: sent,
      subject_type: 'pairwise',
      default_max_age: 60,
      default_acr_values: ['gold', 'phr', 'phr'],
      require_auth_time: true,
    })
    assert.equal(client['require_auth_time'], true)
    assert.deepEqual(client['default_acr_values'], ['phr'], 'unknown values are left out')
    assert.equal(client['id_token_signed_response_alg'], registered)
    assert.deepEqual([client['subject_type'], client['default_max_age']], ['public', 60])
  }
  for (const member of [
    { default_max_age: -1 },
    { require_auth_time: 1 },
    { default_max_age: '60' },
    { default_acr_values: 'phr' },
    { id_token_signed_response_alg: 1 },
  ])
    await assert.rejects(registerClient(server, member), /invalid_client_metadata/)
  const usual = await registerClient(server, {
    default_max_age: null,
    default_acr_values: ['gold'],
    id_token_signed_response_alg: '',
  })
  assert.ok(
    !('default_max_age' in usual) && !('default_acr_values' in usual) && !('id_token_signed_response_alg' in usual),
  )
})

test('OP-03: no endpoint takes an ID token for an access token, or an access token for an ID token', async (t) => {
  const server = await openLogin(t)
  const api = await declareApi(server, JWT_API, { jwtType: 'JWT' })
  knowApis(server)
  const client = await makeClient(server, {}, { id_token_signed_response_alg: 'ES256' })
  const tokens = await login(server, client, { scope: 'openid read' })
  const { id_token: idToken = '', access_token: accessToken } = tokens
  await assertStoreUnchanged(server, async () => {
    assert.equal((await userinfo(server, idToken)).statusCode, 401)
    for (const asker of [client, api]) assert.equal((await introspect(server, asker, idToken)).json().active, false)
    assert.equal((await revoke(server, client, idToken)).statusCode, 200)
    const hinted = authorizeUrl(client, { scope: 'openid', prompt: 'none', id_token_hint: accessToken })
    assert.equal(answerOf(await new PlainBrowser(server).get(hinted)).get('error'), 'invalid_request')
  })
  assert.equal((await introspect(server, api, accessToken)).json().active, true)
})

test('OP-04: a token for an API has no identity scope and does not open userinfo; one for the issuer does', async (t) => {
  const server = await openLogin(t)
  await declareApi(server, JWT_API)
  await declareApi(server, OPAQUE_API, { format: 'opaque' })
  knowApis(server)
  for (const resource of [JWT_API, OPAQUE_API]) {
    const client = await registerClient(server)
    const tokens = await login(server, client, { scope: 'openid email read', resource })
    assert.equal(tokens.scope, 'read openid email')
    assert.equal(idTokenOf(tokens).aud, client.client_id)
    const answer = await userinfo(server, tokens.access_token)
    assert.equal(answer.statusCode, 401)
    assert.match(String(answer.headers['www-authenticate']), /error="invalid_token"/)
    const own = tokensOf(await refresh(server, client, tokens.refresh_token ?? '', { resource: server.origin }))
    assert.equal((await userinfo(server, own.access_token)).json<{ email: string }>().email, EMAIL)
    const both = await refresh(server, client, own.refresh_token ?? '', { resource, scope: 'openid email read' })
    assert.equal(tokensOf(both).scope, 'read openid email')
  }
})

test('OP-04: the issuer and an API, named in any order, give a token for the API at both endpoints', async (t) => {
  const server = await openLogin(t)
  await declareApi(server, JWT_API)
  knowApis(server)
  const client = await registerClient(server)
  for (const resources of [
    [server.origin, JWT_API],
    [JWT_API, server.origin],
    [`${server.origin}/`, JWT_API, server.origin],
  ]) {
    const named = resources.map((one) => ['resource', one])
    const url = `${authorizeUrl(client, { scope: 'openid email read', prompt: 'consent' })}&${new URLSearchParams(named).toString()}`
    const code = (await signInAndAllow(new PlainBrowser(server), url)).searchParams.get('code') ?? ''
    const request = async (form: Readonly<Record<string, string>>) =>
      tokensOf(
        await postForm(
          server,
          '/v2/oauth/token',
          new URLSearchParams([...Object.entries({ ...credentialsOf(client), ...form }), ...named]),
        ),
      )
    const about = { redirect_uri: REDIRECT_URI, code_verifier: VERIFIER }
    const first = await request({ grant_type: 'authorization_code', code, ...about })
    const again = await request({ grant_type: 'refresh_token', refresh_token: first.refresh_token ?? '' })
    for (const { access_token: token } of [first, again]) {
      const { aud, scope } = decodeJwt(token)
      assert.deepEqual([aud, scope], [JWT_API, 'read'])
      assert.equal((await userinfo(server, token)).statusCode, 401)
    }
  }
})

test('OP-04: without resource the API of the scopes is the audience; without openid the issuer is no resource', async (t) => {
  const server = await openLogin(t)
  await declareApi(server, JWT_API)
  knowApis(server)
  const client = await registerClient(server)
  const tokens = await login(server, client, { scope: 'openid profile read' })
  const claims = decodeJwt(tokens.access_token)
  assert.deepEqual([claims.aud, claims['scope']], [JWT_API, 'read'])
  const plain = await login(server, client, { scope: 'read', prompt: 'consent' })
  assert.equal(plain.id_token, undefined)
  const issuer = await refresh(server, client, plain.refresh_token ?? '', { resource: server.origin })
  assert.equal(issuer.json<{ error: string }>().error, 'invalid_target')
  const both = new URLSearchParams([
    ...Object.entries({
      ...credentialsOf(client),
      grant_type: 'refresh_token',
      refresh_token: plain.refresh_token ?? '',
    }),
    ['resource', JWT_API],
    ['resource', server.origin],
  ])
  assert.equal((await postForm(server, '/v2/oauth/token', both)).json<{ error: string }>().error, 'invalid_target')
})

test('OP-16: userinfo refuses a missing, wrong or insufficient token with the challenge of RFC 6750 §3.1', async (t) => {
  const server = await openLogin(t)
  const url = '/v2/oauth/userinfo'
  const { access_token: token } = await login(server, await registerClient(server))
  const bearer = { authorization: `Bearer ${token}` }
  const none = await server.inject({ method: 'GET', url })
  assert.equal(none.statusCode, 401)
  assert.match(String(none.headers['www-authenticate']), /^Bearer realm="grantor", DPoP /)
  const wrong = await userinfo(server, 'made-up')
  assert.deepEqual(
    [wrong.statusCode, wrong.headers['www-authenticate']],
    [401, 'Bearer realm="grantor", error="invalid_token"'],
  )
  for (const options of [
    { method: 'GET', url: `${url}?access_token=${token}` },
    { method: 'GET', url: `${url}?access_token=${token}`, headers: bearer },
  ] as const)
    assert.equal((await server.inject(options)).statusCode, 400)
  assert.equal((await postForm(server, url, { access_token: token }, bearer)).statusCode, 400)
  const json = { ...bearer, 'content-type': 'application/json' }
  assert.equal((await server.inject({ method: 'POST', url, headers: json, payload: '{}' })).statusCode, 415)
  const preflight = await server.inject({ method: 'OPTIONS', url })
  assert.deepEqual([preflight.statusCode, preflight.headers['access-control-allow-origin']], [204, '*'])
  const machine = await requestToken(server, await registerClient(server), { grant_type: 'client_credentials' })
  const narrow = await userinfo(server, machine.json<Tokens>().access_token)
  assert.equal(narrow.statusCode, 403)
  assert.match(String(narrow.headers['www-authenticate']), /error="insufficient_scope", scope="openid"/)
})

test('OP-09: userinfo rejects the token of a disabled user and of a revoked grant', async (t) => {
  const server = await openLogin(t)
  const client = await registerClient(server)
  const tokens = await login(server, client)
  await revoke(server, client, tokens.refresh_token ?? '')
  assert.equal((await userinfo(server, tokens.access_token)).statusCode, 401)
  const other = await login(server, client, { prompt: 'consent' })
  assert.equal((await userinfo(server, other.access_token)).statusCode, 200)
  await performOnUser(server.context, 'user.disable', EMAIL)
  server.clock.advance(1000)
  assert.equal((await userinfo(server, other.access_token)).statusCode, 401)
})

test('OP-15: a machine gets no identity scope, phone needs an approval, and offline_access a client with refresh tokens', async (t) => {
  const server = await openLogin(t)
  await declareApi(server, JWT_API)
  knowApis(server)
  const client = await registerClient(server, { scope: 'openid profile phone read' })
  assert.equal(client['scope'], 'openid profile phone read')
  const form = { grant_type: 'client_credentials' }
  const refused = await requestToken(server, client, { ...form, scope: 'openid' })
  assert.equal(refused.json<{ error: string }>().error, 'invalid_scope')
  const narrowed = await requestToken(server, client, { ...form, scope: 'openid read' })
  assert.equal(narrowed.json<Tokens>().scope, 'read')
  assert.equal((await login(server, client, { scope: 'openid phone' })).scope, 'openid')
  const short = await registerClient(server, { grant_types: ['authorization_code'] })
  const tokens = await login(server, short, { scope: 'openid offline_access' })
  assert.deepEqual([tokens.scope, tokens.refresh_token], ['openid', undefined])
})

test('claims: the rule of a client, or its request, brings claims into the ID token, also at a refresh', async (t) => {
  const server = await openLogin(t)
  const scope = 'openid email profile'
  const fat = idTokenOf(await login(server, await makeClient(server, { claims: 'id-token' }), { scope }))
  assert.deepEqual([fat['email'], fat['given_name'], fat['address']], [EMAIL, 'Ada', undefined])
  const client = await registerClient(server)
  const claims = JSON.stringify({ id_token: { email: null, address: null, made_up: null } })
  const tokens = await login(server, client, { claims })
  assert.equal(tokens.scope, 'openid email')
  const again = tokensOf(await refresh(server, client, tokens.refresh_token ?? ''))
  for (const payload of [idTokenOf(tokens), idTokenOf(again)])
    assert.deepEqual([payload['email'], payload['email_verified'], payload['address']], [EMAIL, false, undefined])
  assert.equal(idTokenOf(await login(server, client, { scope, prompt: 'consent' }))['email'], undefined)
})

test('OP-17: scope describes the access token, and a withdrawn approval ends the claims of the ID token too', async (t) => {
  const server = await openLogin(t)
  const client = await makeClient(server, { claims: 'id-token' })
  const first = await login(server, client, { scope: 'openid email phone' })
  assert.equal(idTokenOf(first)['phone_number'], PROFILE.phone_number)
  const narrow = tokensOf(await refresh(server, client, first.refresh_token ?? '', { scope: 'openid' }))
  assert.deepEqual([narrow.scope, decodeJwt(narrow.access_token)['scope']], ['openid', 'openid'])
  await perform(server.context, 'client.approve-scopes', { client_id: client.client_id, scope: '' })
  const after = tokensOf(await refresh(server, client, narrow.refresh_token ?? ''))
  assert.equal(after.scope, 'openid email')
  assert.deepEqual([idTokenOf(after)['email'], idTokenOf(after)['phone_number']], [EMAIL, undefined])
})

test('OP-08: the retry of a refresh whose answer was lost has the same claims, and at_hash fits the access token beside it', async (t) => {
  const server = await openLogin(t)
  const client = await registerClient(server)
  const first = await login(server, client, { nonce: 'n', scope: 'openid email' })
  server.clock.advance(2000)
  const lost = tokensOf(await refresh(server, client, first.refresh_token ?? ''))
  server.clock.advance(5000)
  const again = tokensOf(await refresh(server, client, first.refresh_token ?? ''))
  assert.equal(again.refresh_token, lost.refresh_token)
  const { at_hash: lostHash, ...lostClaims } = idTokenOf(lost)
  const { at_hash: hash, ...claims } = idTokenOf(again)
  assert.deepEqual(claims, lostClaims)
  for (const [tokens, shown] of [
    [lost, lostHash],
    [again, hash],
  ] as const) {
    const digest = createHash('sha256').update(tokens.access_token).digest()
    assert.equal(shown, digest.subarray(0, 16).toString('base64url'))
  }
  for (const name of ['sub', 'aud', 'auth_time', 'sid']) assert.deepEqual(claims[name], idTokenOf(first)[name])
  assert.equal(claims['nonce'], undefined)
})

test('OP-06: an id_token_hint of another client, a changed one and one of a withdrawn key are refused', async (t) => {
  const server = await openLogin(t)
  const [client, other] = [await makeClient(server), await makeClient(server)]
  const { id_token: own = '' } = await login(server, client)
  const { id_token: foreign = '' } = await login(server, other)
  const [header, payload, signature = ''] = own.split('.')
  const none = Buffer.from('{"alg":"none"}').toString('base64url')
  const hints = [foreign, 'x', `${none}.${payload}.`, `${header}.${payload}.${signature.slice(2)}AA`, 'a'.repeat(8193)]
  for (const hint of hints) {
    const url = authorizeUrl(client, { scope: 'openid', id_token_hint: hint })
    assert.equal(answerOf(await new PlainBrowser(server).get(url)).get('error'), 'invalid_request')
  }
  server.clock.advance(2 * 3600 * 1000)
  const expired = authorizeUrl(client, { scope: 'openid', prompt: 'none', id_token_hint: own })
  assert.equal(answerOf(await new PlainBrowser(server).get(expired)).get('error'), 'login_required')
  await rotateKeys(server.context, { when: 'now', purpose: 'id', algorithm: 'RS256' })
  server.clock.advance(31_000)
  await retireKey(server.context, decodeProtectedHeader(own).kid ?? '')
  server.clock.advance(2000)
  assert.equal(answerOf(await new PlainBrowser(server).get(expired)).get('error'), 'invalid_request')
})

test('OP-06, OP-07: only the user of the hint, or of the sub in claims, can answer the request', async (t) => {
  const server = await openLogin(t)
  const client = await makeClient(server)
  const browser = new PlainBrowser(server)
  const { id_token: hint = '' } = await login(server, client, {}, browser)
  const absent = JSON.stringify({ id_token: { sub: { value: 'gus_nobody' } } })
  for (const parameters of [{ claims: absent }, { claims: absent.replace('id_token', 'userinfo') }]) {
    const silent = authorizeUrl(client, { scope: 'openid', prompt: 'none', ...parameters })
    assert.equal(answerOf(await browser.get(silent)).get('error'), 'login_required')
    const start = await browser.get(authorizeUrl(client, { scope: 'openid', ...parameters }))
    const answer = answerOf(await signIn(browser, await browser.get(locationOf(start))))
    assert.deepEqual([answer.get('error'), answer.get('code')], ['login_required', null])
  }
  const both = authorizeUrl(client, { scope: 'openid', claims: absent, id_token_hint: hint })
  assert.equal(answerOf(await browser.get(both)).get('error'), 'invalid_request')
  const fitting = authorizeUrl(client, { scope: 'openid', prompt: 'none', id_token_hint: hint })
  assert.notEqual(answerOf(await browser.get(fitting)).get('code'), null)
})

test('OP-05: max_age, and default_max_age of the client, with prompt=none', async (t) => {
  const server = await openLogin(t)
  const client = await makeClient(server, {}, { default_max_age: 60 })
  const browser = new PlainBrowser(server)
  await login(server, client, {}, browser)
  const ask = async (parameters: Readonly<Record<string, string>>): Promise<string | null> => {
    const url = authorizeUrl(client, { scope: 'openid', prompt: 'none', ...parameters })
    return answerOf(await browser.get(url)).get('error')
  }
  assert.equal(await ask({}), null)
  server.clock.advance(61_000)
  assert.equal(await ask({}), 'login_required')
  assert.equal(await ask({ max_age: '3600' }), null)
  for (const wrong of ['-1', '1.5', '10000000000', 'x']) assert.equal(await ask({ max_age: wrong }), 'invalid_request')
  assert.equal(await ask({ max_age: '1000000000' }), null)
})

test('decision 0005: an ID token and userinfo name the organization that the user chose', async (t) => {
  const server = await openLogin(t)
  const id = await createOrganization(server, 'Acme')
  const ada = await server.context.store.findUserByEmail(EMAIL)
  assert.ok(ada)
  await addMember(server, ada.id, id)
  const tokens = await login(server, await registerClient(server), { org_id: id })
  assert.equal(idTokenOf(tokens)['org_id'], id)
  const shown = (await userinfo(server, tokens.access_token)).json<Record<string, unknown>>()
  assert.deepEqual([shown['org_id'], shown['org_name']], [id, 'Acme'])
})
