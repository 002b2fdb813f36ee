import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { assertionPayer } from '../../../../src/endpoints/token/grants/jwt-bearer.ts'
import type { ClientId } from '../../../../src/protocol/ids.ts'
import type { ProviderId } from '../../../../src/protocol/sign-in/authentication.ts'
import { makeClientKey, signJws } from '../../../../tools/client-assertion.ts'
import {
  authorizeUrl,
  EMAIL,
  obtainTokens,
  PASSWORD,
  PlainBrowser,
  postForm,
  registerClient,
  requestToken,
  signInAndAllow,
  type RegisteredClient,
} from '../../../../tools/flow.ts'
import {
  ASSERTION_GRANT_TYPES,
  identityAssertionForm,
  makeProviderKey,
  type DifferingAssertion,
} from '../../../../tools/identity-assertion.ts'
import { createAccount } from '../../../support/accounts.ts'
import { JWT_API, OPAQUE_API } from '../../../support/apis.ts'
import { WHOLE_FILE } from '../../../support/authorize-answers.ts'
import { assertError } from '../../../support/error-answer.ts'
import { openSteppingClocks } from '../../../support/server.ts'
import { openAssertingServer, tokensOf } from '../../../support/provider/asserting.ts'
import { selectAll } from '../../../support/store/dump.ts'
import { perform } from '../../../support/tasks.ts'
import { introspect, isActive } from '../../../support/token-questions.ts'

/** Which identity assertions are accepted. */

const TOKEN = '/v2/oauth/token'
const setup = await openAssertingServer(WHOLE_FILE)
const { server, host, client, api, assertion, present, assertRefused, list } = setup
const seconds = (): number => Math.floor(server.clock.now() / 1000)

test('RFC 7523 §2.1: an identity assertion gives an access token of the API, in a grant of its own', async () => {
  const answer = await present()
  const { access_token: token, ...rest } = tokensOf(answer)
  assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 900, scope: 'read write' })
  const { sub, grant_id: grantId, ...claims } = decodeJwt(token)
  assert.partialDeepStrictEqual(claims, { aud: JWT_API, client_id: client.client_id, scope: 'read write' })
  assert.equal('org_id' in claims || 'acr' in claims, false)
  const [grant] = selectAll(server, 'select * from grants where grant_id = ?', String(grantId))
  assert.partialDeepStrictEqual(grant, { user_id: sub, provider_id: 'idp', live_hash: null, openid: null })
  assert.equal(Number(grant?.['expires_at']) - Number(grant?.['created_at']), 900_000)
  assert.equal(await isActive(server, api, token), true)
  const second = decodeJwt(tokensOf(await present()).access_token)
  assert.equal(second.sub, sub)
  assert.notEqual(second['grant_id'], grantId)
  await perform(server.context, 'grant.revoke', { grant_id: grantId })
  assert.equal(await isActive(server, api, token), false)
})

/** Header or claims, and the reason. */
const WRONG: readonly (readonly [reason: string, differing: DifferingAssertion])[] = [
  ...[undefined, null, 'JWT', 'at+jwt', 'oauth-id-jag', 'oauth-id-jag+jwt+x', ['oauth-id-jag+jwt'], 5].map(
    (typ) => ['assertion_malformed', { header: { typ } }] as const,
  ),
  ...[undefined, null, 'none', 'HS256', 'RS1', ['ES256'], 5].map(
    (alg) => ['assertion_malformed', { header: { alg } }] as const,
  ),
  ...[
    { crit: ['exp'] },
    { jwk: setup.key.jwk },
    { jku: 'https://x.example' },
    { x5u: 'https://x.example' },
    { kid: 5 },
  ].map((header) => ['assertion_malformed', { header }] as const),
  ['assertion_wrong', { header: { kid: 'another' } }],
  ['assertion_wrong', { header: { alg: 'RS256' } }],
  ...each('assertion_issuer', 'iss', ['https://other.example', `${host.issuer}/`, undefined, null, [host.issuer], 5]),
  ...each('assertion_audience', 'aud', [
    'https://other.example',
    `${server.origin}/`,
    `${server.origin}${TOKEN}`,
    [server.origin, 'https://other.example'],
    [server.origin, server.origin],
    [],
    undefined,
    null,
    5,
  ]),
  ...each('assertion_client', 'client_id', ['gci_other', undefined, null, [client.client_id], 5, '']),
  ...each('assertion_malformed', 'sub', [undefined, null, ['a'], 5, '', 'a\0b', 's'.repeat(256)]),
  ...each('assertion_malformed', 'jti', [undefined, null, ['a'], 5, '', 'j'.repeat(257)]),
  ...each('assertion_malformed', 'iat', [undefined, null, [seconds()], String(seconds())]),
  ...each('assertion_malformed', 'exp', [undefined, null, [seconds() + 60], String(seconds() + 60)]),
  ...each('assertion_malformed', 'nbf', [null, [seconds()], String(seconds())]),
  ...each('assertion_malformed', 'scope', [null, ['read'], 5, 'a"b']),
  ...each('assertion_malformed', 'cnf', [null, {}, [], 5, 'x', { jkt: 'short' }, { 'x5t#S256': 'a' }]),
  ...each('assertion_expired', 'exp', [seconds() - 60, 0, -1, seconds() + 1861, 1e300]),
  ...each('assertion_expired', 'iat', [seconds() + 61]),
  ...each('assertion_expired', 'nbf', [seconds() + 61]),
  ...each('assertion_tenant', 'tenant', ['acme', null, [], 5, '']),
  ...each('assertion_details', 'authorization_details', [[{ type: 'x' }], [], null, 5]),
  ...each('assertion_resource', 'resource', [
    'https://other.example',
    `${JWT_API}/x`,
    null,
    [],
    [JWT_API, OPAQUE_API],
    5,
    '',
    'x',
  ]),
]

function each(reason: string, claim: string, values: readonly unknown[]) {
  return values.map((value) => [reason, { claims: { [claim]: value } }] as const)
}

test('JAG-02: an assertion with a header or claim that is wrong, missing, null, an array or a number is refused, and changes nothing', async () => {
  for (const [reason, differing] of WRONG)
    await assertRefused(() => present(differing), reason, JSON.stringify(differing))
  const [head = '', claims = ''] = assertion().split('.')
  const malformed = ['x', 'a.b.c', `${head}.${claims}`, `${head}.${claims}.`, `${assertion()}.x.y.z`, 'a'.repeat(8193)]
  for (const jwt of malformed) {
    const request = () => requestToken(server, client, identityAssertionForm(jwt))
    await assertRefused(request, 'assertion_malformed', jwt)
  }
  const foreign = () =>
    requestToken(server, client, identityAssertionForm(assertion({}, makeProviderKey('assertions'))))
  await assertRefused(foreign, 'assertion_wrong', 'another key with the same name')
  const without = await requestToken(server, client, { grant_type: ASSERTION_GRANT_TYPES[3] })
  assertError(without, 400, 'invalid_request')
})

test('JAG-02: the limits of times, of the audience, the type and the resource include what is right', async () => {
  const right: readonly DifferingAssertion[] = [
    { header: { typ: 'application/OAuth-ID-JAG+jwt', kid: undefined } },
    { claims: { aud: [server.origin] } },
    { claims: { exp: seconds() - 59, iat: seconds() - 3600 } },
    { claims: { exp: seconds() + 1860, iat: seconds() + 60, nbf: seconds() + 60 } },
    { claims: { resource: JWT_API, act: { sub: 'agent' }, auth_time: 1, amr: ['mfa'] } },
    { claims: { resource: [`${JWT_API}/`] } },
  ]
  for (const differing of right) tokensOf(await present(differing))
  tokensOf(await present({}, { resource: JWT_API }))
  await assertRefused(() => present({}, { resource: OPAQUE_API }), 'assertion_resource', 'parameter')
  await assertRefused(
    () => present({ claims: { resource: JWT_API } }, { resource: OPAQUE_API }),
    'assertion_resource',
    'both',
  )
  const { sub } = decodeJwt(tokensOf(await present()).access_token)
  tokensOf(await present({}, { user_id: String(sub) }))
  for (const name of ['org_id', 'user_id']) assertError(await present({}, { [name]: 'other' }), 400, 'invalid_request')
})

test('JAG-04: an assertion is accepted once, also by 20 requests at once, until it has expired everywhere', async () => {
  const form = identityAssertionForm(assertion())
  const answers = await Promise.all(Array.from({ length: 20 }, () => requestToken(server, client, form)))
  assert.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 1)
  await assertRefused(() => requestToken(server, client, form), 'assertion_replayed', 'again')
  server.clock.advance(359_000)
  await assertRefused(() => requestToken(server, client, form), 'assertion_replayed', 'at its end')
  const [{ until } = { until: 0 }] = selectAll(server, 'select max(expires_at) as until from consumed')
  assert.ok(Number(until) >= server.clock.now() + 60_000)
  server.clock.advance(1000)
  await assertRefused(() => requestToken(server, client, form), 'assertion_expired', 'after its end')
})

test('JAG-03: no other JWT is accepted as an identity assertion, and an identity assertion as nothing else', async () => {
  const now = seconds()
  const { issuer } = host
  const claims = {
    iss: issuer,
    sub: 'ada-at-idp',
    aud: server.origin,
    client_id: client.client_id,
    iat: now,
    exp: now + 60,
    jti: 'x',
  }
  const types = [
    undefined,
    'JWT',
    'at+jwt',
    'logout+jwt',
    'client-authentication+jwt',
    'dpop+jwt',
    'secevent+jwt',
    'token-introspection+jwt',
  ]
  for (const typ of types) {
    const jwt = signJws(setup.key, { alg: 'ES256', kid: 'assertions', ...(typ === undefined ? {} : { typ }) }, claims)
    await assertRefused(
      () => requestToken(server, client, identityAssertionForm(jwt)),
      'assertion_malformed',
      String(typ),
    )
  }
  const own = tokensOf(await present()).access_token
  await assertRefused(
    () => requestToken(server, client, identityAssertionForm(own)),
    'assertion_malformed',
    'own token',
  )
  const key = makeClientKey('ES256', { kid: 'own' })
  const signer = await registerClient(server, {
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [key.jwk] },
  })
  const asClient = signJws(
    key,
    { alg: 'ES256', kid: 'own', typ: 'oauth-id-jag+jwt' },
    { ...claims, iss: signer.client_id, sub: signer.client_id, jti: 'y' },
  )
  const credentials = {
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: asClient,
  }
  assertError(
    await postForm(server, TOKEN, { grant_type: 'client_credentials', ...credentials }),
    401,
    'invalid_client',
  )
  const jag = assertion()
  assert.deepEqual((await introspect(server, api, jag)).json(), { active: false })
  assertError(
    await requestToken(server, client, { grant_type: 'refresh_token', refresh_token: jag }),
    400,
    'invalid_grant',
  )
  const userinfo = await server.inject({
    method: 'GET',
    url: '/v2/oauth/userinfo',
    headers: { authorization: `Bearer ${jag}` },
  })
  assertError(userinfo, 401, 'invalid_token')
  const hint = await server.inject({ method: 'GET', url: `/v2/oauth/end-session?id_token_hint=${jag}` })
  assert.notEqual(hint.headers.location?.startsWith('https://app.example'), true)
})

test('JAG-02: the log line of a refused assertion says what was compared, and nothing of the person', async () => {
  const client_id = 'gci_01a200f2d7f1OGrZM2nOk7CWgjISwIxFbQ'
  for (const [differing, detail] of [
    [{ claims: { iss: 'https://x.example' } }, /^expected "http:\/\/\S+", received "https:\/\/x\.example"$/],
    [{ claims: { aud: 'https://x.example' } }, /^expected "http\S+", received "https:\/\/x\.example"$/],
    [{ claims: { client_id } }, new RegExp(`^expected "gci_\\S+", received "${client_id}"$`)],
    [{ claims: { resource: 'https://x.example' } }, /^expected "\S+", received {"assertion":"https:\/\/x\.example"}$/],
    [{ header: { typ: 'JWT' } }, /^expected "oauth-id-jag\+jwt", received "JWT"$/],
    [{ claims: { jti: undefined } }, /^claims: jti$/],
    [{ claims: { sub: 'nobody', email: 'nobody@other.test' } }, /^no-account$/],
  ] as const) {
    assert.equal((await present(differing)).statusCode, 400)
    const [line = ''] = server.log().trim().split('\n').slice(-1)
    assert.match((JSON.parse(line) as { readonly detail: string }).detail, detail)
    assert.ok(!line.includes('nobody'), line)
  }
})

test('JAG-06, JAG-07: only a listed client that authenticates as it registered may present an assertion, and only its own', async () => {
  const form = { grant_types: ASSERTION_GRANT_TYPES }
  const other = await registerClient(server, form)
  const open = await registerClient(server, { ...form, token_endpoint_auth_method: 'none' })
  const stolen = assertion()
  const by = (one: RegisteredClient, jwt = stolen) => requestToken(server, one, identityAssertionForm(jwt))
  await assertRefused(() => by(other), 'client_not_listed', 'not listed', 'unauthorized_client')
  const about = `"event":"assertion.refused"[^\\n]*${other.client_id}[^\\n]*"reason":"client_not_listed"`
  assert.match(server.log(), new RegExp(about))
  await assertRefused(() => by(open), 'client_public', 'public', 'unauthorized_client')
  const unlisted = await requestToken(
    server,
    other,
    identityAssertionForm(assertion({ claims: { iss: 'https://x.example' } })),
  )
  assert.deepEqual(
    unlisted.json(),
    (await by(other)).json(),
    'a client that is not listed does not learn whom the server trusts',
  )
  const secret = { client_id: client.client_id, client_secret: `${client.client_secret ?? ''}x` }
  assertError(await postForm(server, TOKEN, { ...secret, ...identityAssertionForm(stolen) }), 401, 'invalid_client')
  assertError(
    await postForm(server, TOKEN, { client_id: client.client_id, ...identityAssertionForm(stolen) }),
    401,
    'invalid_client',
  )
  const machine = await registerClient(server)
  await assertRefused(() => by(machine), 'grant_type_not_registered', 'grant type', 'unauthorized_client')
  await list({ assertion_clients: [client, other, open].map(({ client_id: id }) => id) })
  await assertRefused(() => by(other), 'assertion_client', 'stolen')
  await assertRefused(() => by(open), 'client_public', 'public and listed', 'unauthorized_client')
  tokensOf(await by(client))
  await perform(server.context, 'domain.block', { pattern: 'app.example' })
  server.clock.advance(1001)
  await assertRefused(() => by(client, assertion()), 'client_not_listed', 'blocked', 'unauthorized_client')
  await perform(server.context, 'domain.forget', { pattern: 'app.example' })
  server.clock.advance(1001)
  await perform(server.context, 'client.disable', { client_id: client.client_id })
  assertError(await by(client, assertion()), 401, 'invalid_client')
  await perform(server.context, 'client.enable', { client_id: client.client_id })
  tokensOf(await by(client, assertion()))
})

test('BND-04: signed assertions of a client and a provider are limited, and failures count for the network', async (t) => {
  const limited = await openAssertingServer(t, {}, { env: { GRANTOR_CLIENT_FAILURE_RATE: '3' } })
  const codes: number[] = []
  for (let count = 0; count < 5; count += 1) codes.push((await limited.present({ claims: { tenant: 'x' } })).statusCode)
  assert.deepEqual(codes, [400, 400, 400, 429, 429])
  tokensOf(await limited.present())
  const { budgets, clock } = limited.server.context
  const other = await registerClient(limited.server, { grant_types: ASSERTION_GRANT_TYPES })
  const { client: first } = limited
  await limited.list({ assertion_clients: [first.client_id, other.client_id] })
  const payer = assertionPayer('idp' as ProviderId, first.client_id as ClientId)
  while (budgets.take('assertion', payer, clock()).isWithin);
  const spent = await limited.present()
  assert.equal(spent.statusCode, 429)
  assert.match(String(spent.headers['ratelimit-policy']), /^"assertion";q=6000;w=60$/)
  const form = identityAssertionForm(limited.assertion({ claims: { client_id: other.client_id } }))
  tokensOf(await requestToken(limited.server, other, form))
})

test('the first assertion of an unused client keeps it, and Ada gets the account in which she signed in before', async (t) => {
  const fresh = await openAssertingServer(t, { link: 'verified-email' })
  await createAccount(fresh.server, { email: EMAIL, password: PASSWORD, name: undefined, isVerified: true })
  const first = { resource: JWT_API, scope: 'read' }
  const own = decodeJwt((await obtainTokens(fresh.server, await registerClient(fresh.server), first)).access_token)
  assert.equal(decodeJwt(tokensOf(await fresh.present()).access_token).sub, own.sub)
  const [used] = selectAll(fresh.server, 'select used_at from clients where client_id = ?', fresh.client.client_id)
  assert.notEqual(used?.['used_at'] ?? null, null)
})

test('STO-13: a node whose clock differs refuses an assertion before it is used up', async (t) => {
  const [clock] = openSteppingClocks([0])
  const opened = await openAssertingServer(t, {}, { clock })
  const { clockCheck } = opened.server.context
  const form = identityAssertionForm(opened.assertion())
  const presentIt = () => requestToken(opened.server, opened.client, form)
  clock.step(60_000)
  await clockCheck.compare()
  assertError(await presentIt(), 503, 'temporarily_unavailable')
  assert.deepEqual(selectAll(opened.server, 'select * from consumed'), [])
  clock.step(-60_000)
  await clockCheck.compare()
  tokensOf(await presentIt())
})

test('the account page and the administration say which provider gave an app access, until the token ends', async (t) => {
  const opened = await openAssertingServer(t, { link: 'verified-email' })
  await createAccount(opened.server, { email: EMAIL, password: PASSWORD, name: undefined, isVerified: true })
  const browser = new PlainBrowser(opened.server)
  await signInAndAllow(browser, authorizeUrl(await registerClient(opened.server)))
  const token = decodeJwt(tokensOf(await opened.present()).access_token)
  const apps = await browser.get('/account/apps')
  assert.match(apps.body, /Access by your organization, through <bdi>Acme ID<\/bdi>/)
  const remove = `/account/apps/remove?client=${opened.client.client_id}`
  const question = await browser.get(remove)
  assert.match(question.body, /<bdi>Acme ID<\/bdi> can give it access again without asking you\./)
  assert.match((await browser.get(`${remove}&ui_locales=de`)).body, /Zugriff durch Ihre Organisation, über/)
  const shown = await perform(opened.server.context, 'grant.show', { grant_id: token['grant_id'] })
  assert.partialDeepStrictEqual(shown, { provider_id: 'idp', user_id: token.sub })
  opened.server.clock.advance(900_000)
  assert.doesNotMatch((await browser.get('/account/apps')).body, /through/)
})
