import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TOKEN_EXCHANGE } from '../../../../src/protocol/token/grant-types.ts'
import { registerClient, requestToken, type RegisteredClient, type Tokens } from '../../../../tools/flow.ts'
import { WHOLE_FILE } from '../../../support/authorize-answers.ts'
import { assertError, lastLogged } from '../../../support/error-answer.ts'
import { A, ACCESS_TOKEN, B, C, CLOSED, openExchanges } from '../../../support/exchanges.ts'
import { perform } from '../../../support/tasks.ts'
import { isActive, revoke } from '../../../support/token-questions.ts'

const { server, a, b, c, ada, acme, client, tokensFor, exchange, exchanged, refuses, claimsFor } =
  await openExchanges(WHOLE_FILE)

test('TX-01, RFC 8693 §2.2.1: an API gets a token for another API in exchange for that of a user, and act names the API', async () => {
  const { access_token: subject } = await tokensFor()
  const { access_token: token, ...answer } = await exchanged(a, subject)
  const issued = { issued_token_type: ACCESS_TOKEN, token_type: 'Bearer', expires_in: 300, scope: 'b:read b:status' }
  assert.deepEqual(answer, issued)
  const { event, api, client: app, user, reason, scope, resources } = lastLogged(server)
  const line = { event: 'token.issued', api: A, app: client.client_id, user: ada, reason: TOKEN_EXCHANGE }
  assert.deepEqual(
    { event, api, app, user, reason, scope, resources },
    { ...line, scope: answer.scope, resources: [B] },
  )
  const claims = await claimsFor(b, token)
  const { sub, client_id, aud, act, iat, exp, jti } = claims
  assert.deepEqual({ sub, client_id, aud, act }, { sub: ada, client_id: client.client_id, aud: B, act: { sub: A } })
  assert.equal(Number(exp) - Number(iat), 300)
  assert.notEqual((await claimsFor(b, (await exchanged(a, subject)).access_token))['jti'], jti, 'each has its own id')
  assert.equal(await isActive(server, a, token), false, 'it is not for the API that requested it')
  assert.equal((await claimsFor(a, subject))['act'], undefined)
})

test('TX-01, RFC 8693 §2.1: the target is a resource, an audience, or the API of the scopes; the subject may be named a JWT', async () => {
  const { access_token: subject } = await tokensFor()
  for (const form of [
    { resource: `${B}/` },
    { audience: B },
    { resource: B, audience: `${B}/` },
    { resource: '', scope: 'b:read' },
    { subject_token_type: 'urn:ietf:params:oauth:token-type:jwt', requested_token_type: ACCESS_TOKEN },
  ])
    assert.equal((await claimsFor(b, (await exchanged(a, subject, form)).access_token))['aud'], B)
  const several = { resource: '', scope: 'b:read c:read' }
  await refuses('invalid_scope', 'audience_ambiguous', () => exchange(a, subject, several))
  await refuses('invalid_request', 'parameter_missing', () => exchange(a, subject, { resource: '' }))
  for (const name of ['subject_token', 'subject_token_type'])
    await refuses('invalid_request', 'parameter_missing', () => exchange(a, subject, { [name]: '' }))
})

test('TX-02, REV-09: a token that is not an active one of a user for the caller alone is refused, as is each other credential', async () => {
  const {
    access_token: subject,
    refresh_token: refreshToken = '',
    id_token: idToken = '',
  } = (await tokensFor({
    scope: 'openid a:read',
  })) as Tokens & { readonly id_token?: string }
  const two = await tokensFor({ scope: 'a:read c:read' }, { more: `&resource=${C}` })
  const { access_token: own } = await tokensFor({ scope: 'openid', resource: server.origin })
  const machine = { grant_type: 'client_credentials', resource: A, scope: 'a:status' }
  const { access_token: alone } = (await requestToken(server, client, machine)).json<Tokens>()
  const revoked = (await tokensFor()).access_token
  await revoke(server, client, revoked)
  const forged = `${subject.split('.').slice(0, 2).join('.')}.${own.split('.')[2]}`
  const cases: readonly (readonly [name: string, api: RegisteredClient, token: string, reason: string])[] = [
    ['of another API', c, subject, 'subject_for_another'],
    ['of two APIs', a, two.access_token, 'subject_for_another'],
    ['for the issuer', a, own, 'subject_for_another'],
    ['of a client alone', a, alone, 'subject_without_user'],
    ['revoked', a, revoked, 'subject_inactive'],
    ['forged', a, forged, 'subject_inactive'],
    ['a refresh token', a, refreshToken, 'subject_inactive'],
    ['an ID token', a, idToken, 'subject_inactive'],
    ['a client secret', a, client.client_secret ?? '', 'subject_inactive'],
    ['the secret of the API', a, a.client_secret ?? '', 'subject_inactive'],
    ['the management token', a, String(client['registration_access_token']), 'subject_inactive'],
  ]
  for (const [name, api, token, reason] of cases) {
    const form = api === c ? { resource: CLOSED } : {}
    await refuses('invalid_request', reason, () => exchange(api, token, form), name)
  }
  assert.match(server.log(), new RegExp(`"event":"exchange.refused"[^\\n]*"resource":"${C}","reason":"for-another"`))
  assert.match(server.log(), new RegExp(`"event":"exchange.refused"[^\\n]*"resource":"${A}","reason":"revoked"`))
  const types = ['id_token', 'refresh_token', 'saml2'].map((name) => `urn:ietf:params:oauth:token-type:${name}`)
  for (const type of types) {
    for (const form of [{ subject_token_type: type }, { requested_token_type: type }])
      await refuses('invalid_request', 'token_type_unsupported', () => exchange(a, subject, form))
  }
  for (const form of [{ actor_token: subject }, { actor_token_type: ACCESS_TOKEN }])
    await refuses('invalid_request', 'actor_unsupported', () => exchange(a, subject, form))
  for (const form of [{ user_id: `gus_${'0'.repeat(34)}` }, { org_id: acme }])
    assertError(await exchange(a, subject, form), 400, 'invalid_request')
  await exchanged(a, subject, { user_id: ada })
})

test('TX-02: the caller is an API with its credentials, and no client; other grants are none of an API', async () => {
  const { access_token: subject } = await tokensFor()
  const wrong = { ...b, client_id: a.client_id }
  await refuses('invalid_client', 'api_credentials_wrong', () => exchange(wrong, subject))
  await refuses('invalid_client', 'api_credentials_wrong', () => exchange({ client_id: a.client_id }, subject))
  const open = await registerClient(server, { token_endpoint_auth_method: 'none' })
  for (const app of [client, open])
    await refuses('unauthorized_client', 'exchange_by_client', () => exchange(app, subject))
  for (const grant_type of ['client_credentials', 'refresh_token', 'authorization_code'])
    assertError(await requestToken(server, a, { grant_type }), 401, 'invalid_client')
  const asked = await registerClient(server, { grant_types: ['authorization_code', TOKEN_EXCHANGE] })
  assert.deepEqual(asked['grant_types'], ['authorization_code'])
})

test('TX-03: act nests, at most four APIs act, and the end of the grant ends the whole chain at once', async () => {
  const { access_token: subject, refresh_token: refreshToken = '' } = await tokensFor()
  const tokens = [subject]
  for (const [api, resource] of [
    [a, B],
    [b, A],
    [a, B],
    [b, C],
  ] as const)
    tokens.push((await exchanged(api, tokens.at(-1) ?? '', { resource })).access_token)
  const [, first = '', , third = '', fourth = ''] = tokens
  assert.deepEqual((await claimsFor(b, first))['act'], { sub: A })
  // docs/tokens.md: with rules in both directions it comes back with the scope of the rule.
  assert.equal((await claimsFor(a, subject))['scope'], 'a:read')
  assert.match(String((await claimsFor(a, tokens[2] ?? ''))['scope']), /a:read a:status/)
  const inspected = await perform(server.context, 'token.inspect', { token: fourth })
  assert.deepEqual((inspected as { readonly actors: unknown }).actors, [B, A, B, A])
  const act = { sub: B, act: { sub: A, act: { sub: B, act: { sub: A } } } }
  assert.deepEqual((await claimsFor(c, fourth))['act'], act)
  const back = (await exchanged(b, third, { resource: A })).access_token
  await refuses('invalid_request', 'actors_too_many', () => exchange(a, back))
  await revoke(server, client, first)
  assert.equal(await isActive(server, b, third), true, 'a single token was revoked')
  await revoke(server, client, refreshToken)
  for (const [api, token] of [
    [b, third],
    [c, fourth],
    [a, back],
  ] as const)
    assert.equal(await isActive(server, api, token), false)
  await refuses('invalid_request', 'subject_inactive', () => exchange(b, third, { resource: C }))
})

test('TX-07: without a rule of the target there is no exchange, and an API that does not exist is refused in the same way', async () => {
  const { access_token: subject } = await tokensFor()
  const answers = []
  const details: unknown[] = []
  for (const [name, form] of [
    ['no rule', { resource: CLOSED }],
    ['not declared', { resource: 'https://nothing.example' }],
    ['no identifier', { audience: 'nothing' }],
    ['the caller', { resource: A }],
    ['the issuer', { resource: server.origin }],
    ['a rule for another API', { resource: C }],
    ['two APIs', { resource: B, audience: C }],
  ] as const) {
    answers.push(await refuses('invalid_target', 'exchange_not_allowed', () => exchange(a, subject, form), name))
    details.push(lastLogged(server)['detail'])
  }
  assert.deepEqual(details.slice(0, 3), [
    `"https://closed.example" has no rule for "${A}"`,
    'no such API: "https://nothing.example"',
    'no such API: "nothing"',
  ])
  const texts = new Set(answers.map((one) => one.json<{ error_description: string }>().error_description))
  assert.equal(texts.size, 1)
})
