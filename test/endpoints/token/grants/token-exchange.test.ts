import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { requireApi, updateApi } from '../../../../src/admin/api/api.ts'
import type { ApiScope, ExchangeRule } from '../../../../src/ports/records/api.ts'
import type { EpochMs } from '../../../../src/base/brand.ts'
import { thumbprintOf } from '../../../../src/protocol/token/dpop-proof.ts'
import { OFFERED_GRANT_TYPES, TOKEN_EXCHANGE } from '../../../../src/protocol/token/grant-types.ts'
import type { Resource } from '../../../../src/protocol/token/resource.ts'
import type { Scope } from '../../../../src/protocol/token/scope.ts'
import type { PublicJwk } from '../../../../src/protocol/client/keys.ts'
import { makeClientKey } from '../../../../tools/client-assertion.ts'
import { makeProof } from '../../../../tools/dpop-proof.ts'
import {
  authorizeUrl,
  PlainBrowser,
  postForm,
  redeem,
  registerClient,
  requestToken,
  type RegisteredClient,
  type Tokens,
} from '../../../../tools/flow.ts'
import { declareApi, knowApis } from '../../../support/apis.ts'
import { WHOLE_FILE } from '../../../support/authorize-answers.ts'
import { openStillClocks } from '../../../support/clocks.ts'
import { assertError } from '../../../support/error-answer.ts'
import { credentialsOf } from '../../../support/hosts/http-agent.ts'
import {
  addMember,
  clientId,
  codeIn,
  createOrganization,
  createPerson,
  install,
  openConsent,
} from '../../../support/organizations.ts'
import { openTestServer } from '../../../support/server.ts'
import { assertStoreUnchanged, execute } from '../../../support/store/dump.ts'
import { introspect, isActive, revoke } from '../../../support/token-questions.ts'

/** The APIs of the tests, by one letter: a calls b, b calls c and a. */
const A = 'https://a.example/mcp'
const B = 'https://b.example'
const C = 'https://c.example'
const DPOP = 'https://dpop.example'
const BEARER = 'https://bearer.example'
const CLOSED = 'https://closed.example'
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'

function scopesOf(letter: string): readonly ApiScope[] {
  const sentence = 'A sentence'
  return [
    { name: `${letter}:read`, sentence, grantedTo: 'users' },
    { name: `${letter}:status`, sentence, grantedTo: 'users-and-machines' },
    { name: `${letter}:delete`, sentence, grantedTo: 'users-on-request' },
    { name: `${letter}:export`, sentence, grantedTo: 'approved-clients' },
    { name: `${letter}:pay`, sentence, grantedTo: 'users', stepUp: { level: 2, maxAge: 300 } },
    { name: `${letter}:never`, sentence, grantedTo: 'users' },
  ]
}

function from(resource: string, letter: string): ExchangeRule {
  const names = ['read', 'status', 'delete', 'export', 'pay'].map((name) => `${letter}:${name}`)
  return { resource: resource as Resource, scope: names.join(' ') as Scope }
}

const [clock] = openStillClocks([0])
const grantTypes = [...new Set([...OFFERED_GRANT_TYPES, TOKEN_EXCHANGE] as const)]
const server = await openTestServer(WHOLE_FILE, { clock, grantTypes })
const a = await declareApi(server, A, {}, scopesOf('a'))
const b = await declareApi(server, B, { format: 'opaque', lifetime: 300 }, scopesOf('b'), [from(A, 'b')])
const c = await declareApi(server, C, { lifetime: 86_400 }, scopesOf('c'), [from(B, 'c')])
await declareApi(server, DPOP, { binding: 'dpop' }, scopesOf('d'), [from(A, 'd')])
await declareApi(server, BEARER, { binding: 'bearer' }, scopesOf('e'), [from(A, 'e')])
await declareApi(server, CLOSED, {}, scopesOf('f'))
await updateApi(server.context, await requireApi(server.context, A), { exchange: [from(B, 'a')] })
knowApis(server)

const ada = await createPerson(server)
const acme = await createOrganization(server, 'Acme')
await addMember(server, ada, acme)
const member = { userId: ada, organizationId: acme }
const browser = new PlainBrowser(server)
const client = await registerClient(server)

/** Tokens of Ada for a client. */
async function tokensFor(
  parameters: Readonly<Record<string, string>> = {},
  { app = client, organization = 'none', more = '', proof = undefined as string | undefined } = {},
): Promise<Tokens> {
  const url = authorizeUrl(app, { scope: 'a:read', resource: A, prompt: 'consent', ...parameters }) + more
  const page = await openConsent(browser, url)
  const code = codeIn(await browser.submit(page, { decision: 'allow', organization }))
  assert.ok(code, page.body)
  const answer = await redeem(server, app, code, {}, proof === undefined ? {} : { dpop: proof })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<Tokens>()
}

/** Requests an exchange for b, as an API. */
function exchange(
  api: RegisteredClient,
  subject: string,
  form: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<LightMyRequestResponse> {
  const subject_token = { subject_token: subject, subject_token_type: ACCESS_TOKEN }
  const target = 'resource' in form || 'audience' in form ? {} : { resource: B }
  const all = { grant_type: TOKEN_EXCHANGE, ...credentialsOf(api), ...subject_token, ...target, ...form }
  const present = Object.entries(all).filter(([, value]) => value !== '')
  return postForm(server, '/v2/oauth/token', Object.fromEntries(present), headers)
}

interface ExchangedToken extends Tokens {
  readonly token_type: string
  readonly issued_token_type: string
}

async function exchanged(...request: Parameters<typeof exchange>): Promise<ExchangedToken> {
  const answer = await exchange(...request)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<ExchangedToken>()
}

async function assertRefused(
  code: string,
  reason: string,
  request: () => Promise<LightMyRequestResponse>,
  what = reason,
): Promise<LightMyRequestResponse> {
  const answer = await assertStoreUnchanged(server, request, what)
  assertError(answer, code === 'invalid_client' ? 401 : 400, code)
  assert.equal(lastLine()['reason'], reason, what)
  return answer
}

function lastLine(): Readonly<Record<string, unknown>> {
  return JSON.parse(server.log().trim().split('\n').at(-1) ?? '{}') as Readonly<Record<string, unknown>>
}

function endOf<Id>(id: Id): { readonly id: Id; readonly now: EpochMs } {
  return { id, now: clock.now() }
}

/** What an API learns about a token. */
async function claimsFor(api: RegisteredClient, token: string): Promise<Readonly<Record<string, unknown>>> {
  const claims = (await introspect(server, api, token)).json<Readonly<Record<string, unknown>>>()
  assert.equal(claims['active'], true)
  if (!token.startsWith('gat_')) {
    const { grant_id: _, ...own } = decodeJwt(token)
    const { active: __, token_type: ___, ...introspected } = claims
    assert.deepEqual(own, introspected)
  }
  return claims
}

test('TX-01, RFC 8693 §2.2.1: an API gets a token for another API in exchange for that of a user, and act names the API', async () => {
  const { access_token: subject } = await tokensFor()
  const { access_token: token, ...answer } = await exchanged(a, subject)
  const issued = { issued_token_type: ACCESS_TOKEN, token_type: 'Bearer', expires_in: 300, scope: 'b:read b:status' }
  assert.deepEqual(answer, issued)
  const { event, api, client: app, user, reason, scope, resources } = lastLine()
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
  await assertRefused('invalid_scope', 'audience_ambiguous', () => exchange(a, subject, several))
  await assertRefused('invalid_request', 'parameter_missing', () => exchange(a, subject, { resource: '' }))
  for (const name of ['subject_token', 'subject_token_type'])
    await assertRefused('invalid_request', 'parameter_missing', () => exchange(a, subject, { [name]: '' }))
})

test('TX-02: a token that is not an active one of a user for the caller alone is refused, as is each other credential', async () => {
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
    await assertRefused('invalid_request', reason, () => exchange(api, token, form), name)
  }
  assert.match(server.log(), new RegExp(`"event":"exchange.refused"[^\\n]*"resource":"${C}","reason":"for-another"`))
  assert.match(server.log(), new RegExp(`"event":"exchange.refused"[^\\n]*"resource":"${A}","reason":"revoked"`))
  const types = ['id_token', 'refresh_token', 'saml2'].map((name) => `urn:ietf:params:oauth:token-type:${name}`)
  for (const type of types) {
    for (const form of [{ subject_token_type: type }, { requested_token_type: type }])
      await assertRefused('invalid_request', 'token_type_unsupported', () => exchange(a, subject, form))
  }
  for (const form of [{ actor_token: subject }, { actor_token_type: ACCESS_TOKEN }])
    await assertRefused('invalid_request', 'actor_unsupported', () => exchange(a, subject, form))
  for (const form of [{ user_id: `gus_${'0'.repeat(34)}` }, { org_id: acme }])
    assertError(await exchange(a, subject, form), 400, 'invalid_request')
  await exchanged(a, subject, { user_id: ada })
})

test('TX-02: the caller is an API with its credentials, and no client; other grants are none of an API', async () => {
  const { access_token: subject } = await tokensFor()
  const wrong = { ...b, client_id: a.client_id }
  await assertRefused('invalid_client', 'api_credentials_wrong', () => exchange(wrong, subject))
  await assertRefused('invalid_client', 'api_credentials_wrong', () => exchange({ client_id: a.client_id }, subject))
  const open = await registerClient(server, { token_endpoint_auth_method: 'none' })
  for (const app of [client, open])
    await assertRefused('unauthorized_client', 'exchange_by_client', () => exchange(app, subject))
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
  const act = { sub: B, act: { sub: A, act: { sub: B, act: { sub: A } } } }
  assert.deepEqual((await claimsFor(c, fourth))['act'], act)
  const back = (await exchanged(b, third, { resource: A })).access_token
  await assertRefused('invalid_request', 'actors_too_many', () => exchange(a, back))
  await revoke(server, client, first)
  assert.equal(await isActive(server, b, third), true, 'a single token was revoked')
  await revoke(server, client, refreshToken)
  for (const [api, token] of [
    [b, third],
    [c, fourth],
    [a, back],
  ] as const)
    assert.equal(await isActive(server, api, token), false)
  await assertRefused('invalid_request', 'subject_inactive', () => exchange(b, third, { resource: C }))
})

test('TX-04: the scope is within the request, the rule and what the target gives to the client of the subject token', async () => {
  const { access_token: subject } = await tokensFor()
  const scopeFor = async (scope: string): Promise<string | undefined> => (await exchanged(a, subject, { scope })).scope
  assert.equal(await scopeFor('b:read'), 'b:read')
  assert.equal(await scopeFor('b:delete b:read'), 'b:delete b:read', 'on request')
  assert.equal(await scopeFor('openid a:read b:never b:read'), 'b:read')
  for (const [scope, why] of [
    ['b:never', 'not given in exchange'],
    ['b:export', 'not approved'],
    ['b:pay', 'another sign-in'],
    ['openid', 'not given in exchange'],
    ['a:read', 'not given in exchange'],
  ] as const) {
    const answer = await assertRefused('invalid_scope', 'scope_not_allowed', () => exchange(a, subject, { scope }))
    assert.match(answer.json<{ error_description: string }>().error_description, new RegExp(why))
  }
  await server.context.store.approveClientScope({ id: clientId(client), scope: 'b:export' as Scope })
  assert.equal(await scopeFor('b:export'), 'b:export')
  await server.context.store.approveClientScope({ id: clientId(client), scope: '' as Scope })
})

test('TX-04, ACR-01: a scope that requires a level is given for a subject token that states it, and not once that is too old', async () => {
  const weak = (await tokensFor({ acr_values: 'urn:grantor:acr:1fa' })).access_token
  const pay = { scope: 'b:pay' }
  await assertRefused('invalid_scope', 'scope_not_allowed', () => exchange(a, weak, pay))
  const sessions = `update sessions set methods = ?, authenticated_at = ${clock.now()}`
  execute(server, sessions, 'pwd otp mfa')
  const silent = (await tokensFor()).access_token
  await assertRefused('invalid_scope', 'scope_not_allowed', () => exchange(a, silent, pay))
  const strong = (await tokensFor({ scope: 'a:pay' })).access_token
  const token = (await exchanged(a, strong, pay)).access_token
  const { scope, acr, auth_time } = await claimsFor(b, token)
  assert.deepEqual({ scope, acr }, { scope: 'b:pay', acr: 'urn:grantor:acr:2fa' })
  assert.equal(auth_time, decodeJwt(strong)['auth_time'])
  const chained = (await exchanged(b, token, { resource: C, scope: 'c:pay' })).access_token
  assert.equal(decodeJwt(chained)['acr'], acr)
  clock.advance(301_000)
  await assertRefused('invalid_scope', 'scope_not_allowed', () => exchange(a, strong, pay))
  assert.equal((await exchanged(a, strong)).scope, 'b:read b:status')
  execute(server, sessions, 'pwd')
})

test('TX-04: a rule that is removed permits no further exchange, and neither do new credentials of the API', async () => {
  const { access_token: subject } = await tokensFor()
  const rule = from(A, 'e')
  const change = async (scope: string): Promise<void> => {
    const api = await requireApi(server.context, BEARER)
    await updateApi(server.context, api, { exchange: [{ ...rule, scope: scope as Scope }] })
    knowApis(server)
  }
  const request = () => exchange(a, subject, { resource: BEARER })
  assert.equal((await request()).statusCode, 200)
  await change('')
  await assertRefused('invalid_target', 'exchange_not_allowed', request)
  await change('e:status')
  assert.equal((await request()).json<Tokens>().scope, 'e:status')
  await change(rule.scope)
})

test('TX-05: JWT and opaque on both sides; the token never outlives the subject token', async () => {
  const { access_token: jwt } = await tokensFor()
  const opaque = (await exchanged(a, jwt)).access_token
  const again = (await exchanged(b, opaque, { resource: C })).access_token
  assert.match(opaque, /^gat_/)
  assert.match(again, /^ey/)
  clock.advance(100_000)
  const late = await exchanged(b, opaque, { resource: A })
  assert.equal(late.expires_in, 200)
  assert.equal(decodeJwt(late.access_token).exp, (await claimsFor(b, opaque))['exp'])
  clock.advance(200_000)
  assert.equal(await isActive(server, c, again), false)
  await assertRefused('invalid_request', 'subject_inactive', () => exchange(b, opaque, { resource: C }))
  clock.advance(600_000)
  await assertRefused('invalid_request', 'subject_inactive', () => exchange(a, jwt))
})

test('TX-05, RFC 9449: a bound subject token needs no proof, and the new one is bound to the key of the API if it proves one', async () => {
  const [clients, apis] = [makeClientKey('ES256'), makeClientKey('EdDSA')]
  const proofOf = (key: typeof clients): string =>
    makeProof(key, { method: 'POST', address: `${server.origin}/v2/oauth/token`, nowMs: clock.now() })
  const { access_token: bound } = await tokensFor({}, { proof: proofOf(clients) })
  assert.equal((await exchanged(a, bound)).token_type, 'Bearer')
  const jkt = thumbprintOf(apis.jwk as PublicJwk)
  for (const [resource, proof, expected] of [
    [B, proofOf(apis), jkt],
    [DPOP, proofOf(apis), jkt],
    [BEARER, proofOf(apis), undefined],
  ] as const) {
    const { access_token: token, token_type } = await exchanged(a, bound, { resource }, { dpop: proof })
    assert.equal(token_type, expected === undefined ? 'Bearer' : 'DPoP')
    const { cnf } = token.startsWith('gat_') ? await claimsFor(b, token) : decodeJwt(token)
    assert.deepEqual(cnf, expected && { jkt: expected })
  }
  await assertRefused('invalid_request', 'proof_missing', () => exchange(a, bound, { resource: DPOP }))
  const wrong = { dpop: proofOf(apis).replace(/[^.]+$/, 'AAAA') }
  assertError(await exchange(a, bound, {}, wrong), 400, 'invalid_dpop_proof')
})

test('TX-06: user, client and organization stay; userinfo refuses the token, and it ends with each of them', async () => {
  const { access_token: subject } = await tokensFor({}, { organization: acme })
  const { access_token: token } = await exchanged(a, subject, { org_id: acme })
  const { org_id, sub, client_id } = await claimsFor(b, token)
  assert.deepEqual({ org_id, sub, client_id }, { org_id: acme, sub: ada, client_id: client.client_id })
  const headers = { authorization: `Bearer ${token}` }
  assert.equal((await server.inject({ method: 'GET', url: '/v2/oauth/userinfo', headers })).statusCode, 401)
  const { store } = server.context
  for (const [name, disable, enable] of [
    ['user', () => store.disableUser(endOf(ada)), () => store.enableUser(endOf(ada))],
    ['client', () => store.disableClient(endOf(clientId(client))), () => store.enableClient(clientId(client))],
    [
      'membership',
      () => store.disableMember({ ...member, now: clock.now() }),
      () => store.enableMember({ ...member, now: clock.now() }),
    ],
    ['organization', () => store.disableOrganization(endOf(acme)), () => store.enableOrganization(endOf(acme))],
  ] as const) {
    clock.advance(1000)
    const { access_token: before } = await tokensFor({}, { organization: acme })
    const { access_token: after } = await exchanged(a, before)
    assert.equal(await isActive(server, b, after), true, name)
    await disable()
    assert.equal(await isActive(server, b, after), false, name)
    await assertRefused('invalid_request', 'subject_inactive', () => exchange(a, before), name)
    await enable()
  }
})

test('TX-06, decision 0019: for a user who did not sign in, the client acts first, and gets what machines and its installation get', async () => {
  const app = await registerClient(server)
  await install(server, app, acme, { scope: 'a:status b:status' as Scope, actsForMembers: true })
  const form = { grant_type: 'client_credentials', org_id: acme, user_id: ada, resource: A, scope: 'a:status' }
  const { access_token: subject } = (await requestToken(server, app, form)).json<Tokens>()
  assert.deepEqual((await claimsFor(a, subject))['act'], { sub: app.client_id })
  const answer = await exchanged(a, subject)
  assert.equal(answer.scope, 'b:status')
  const act = { sub: A, act: { sub: app.client_id } }
  assert.deepEqual((await claimsFor(b, answer.access_token))['act'], act)
  await assertRefused('invalid_scope', 'scope_not_allowed', () => exchange(a, subject, { scope: 'b:read' }))
  await assertRefused('invalid_scope', 'scope_not_allowed', () => exchange(b, answer.access_token, { resource: C }))
  const jwt = (await exchanged(b, answer.access_token, { resource: A })).access_token
  assert.deepEqual((await claimsFor(a, jwt))['act'], { sub: B, act })
  await server.context.store.uninstall({ clientId: clientId(app), organizationId: acme })
  for (const [api, token] of [
    [b, answer.access_token],
    [a, jwt],
  ] as const)
    assert.equal(await isActive(server, api, token), false)
})

test('TX-07: without a rule of the target there is no exchange, and an API that does not exist is refused in the same way', async () => {
  const { access_token: subject } = await tokensFor()
  const answers = []
  for (const [name, form] of [
    ['no rule', { resource: CLOSED }],
    ['not declared', { resource: 'https://nothing.example' }],
    ['no identifier', { audience: 'nothing' }],
    ['the caller', { resource: A }],
    ['the issuer', { resource: server.origin }],
    ['a rule for another API', { resource: C }],
    ['two APIs', { resource: B, audience: C }],
  ] as const)
    answers.push(await assertRefused('invalid_target', 'exchange_not_allowed', () => exchange(a, subject, form), name))
  const texts = new Set(answers.map((one) => one.json<{ error_description: string }>().error_description))
  assert.equal(texts.size, 1)
})
