import assert from 'node:assert/strict'
import { test } from 'node:test'
import { REFUSALS } from '../../../src/protocol/refusals.ts'
import { AUTHORIZATION_FAULTS } from '../../../src/protocol/authorization/request.ts'
import { makeProof } from '../../../tools/dpop-proof.ts'
import { assertionForm, assertionClaims, makeClientKey, signJws } from '../../../tools/client-assertion.ts'
import {
  authorizeUrl,
  CHALLENGE,
  hiddenFields,
  locationOf,
  PlainBrowser,
  postForm,
  pushedUrl,
  pushRequest,
  redeem,
  REDIRECT_URI,
  registerClient,
  signInAndAllow,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import {
  assertErrorRedirect,
  assertLocalPage,
  consentedBrowser,
  isCodeAnswer,
  WHOLE_FILE,
} from '../../support/authorize-answers.ts'
import { openStillClock } from '../../support/clocks.ts'
import { registerKeyClient } from '../../support/key-clients.ts'
import { lastLogged } from '../../support/error-answer.ts'
import { openTestServer } from '../../support/server.ts'
import { assertStoreUnchanged, selectAll } from '../../support/store/dump.ts'
import { perform } from '../../support/tasks.ts'

const server = await openTestServer(WHOLE_FILE, {
  clock: openStillClock(),
  env: { GRANTOR_REDIRECT_ERRORS: 'true', GRANTOR_AUTHORIZATION_RATE: '5000' },
})
await createAda(server)
const client = await registerClient(server)
const stranger = await registerClient(server, { client_name: 'Stranger' })
const signedIn = await consentedBrowser(server, client)
const PAR = `${server.origin}/v2/oauth/par`

test('RFC 9126 §2.2: a push answers 201 with a request_uri of one minute, which no cache keeps', async () => {
  const response = await pushRequest(server, client)
  assert.equal(response.statusCode, 201)
  assert.equal(response.headers['cache-control'], 'no-store')
  const { request_uri: uri, ...rest } = response.json<{ request_uri: string }>()
  assert.match(uri, /^urn:ietf:params:oauth:request_uri:gpr_[\w-]{99}$/)
  assert.deepEqual(rest, { expires_in: 60 })
})

/** Each fault, and the error and its text. The text of a fault is that of the authorization endpoint. */
const FAULTS: readonly (readonly [string, Readonly<Record<string, string>>, string, string])[] = [
  ['no response_type', { response_type: '' }, 'invalid_request', AUTHORIZATION_FAULTS.response_type_missing],
  [
    'response_type=token',
    { response_type: 'token' },
    'invalid_request',
    AUTHORIZATION_FAULTS.response_type_unsupported,
  ],
  [
    'no PKCE',
    { code_challenge: '', code_challenge_method: '' },
    'invalid_request',
    AUTHORIZATION_FAULTS.code_challenge_missing,
  ],
  ['plain', { code_challenge_method: 'plain' }, 'invalid_request', AUTHORIZATION_FAULTS.code_challenge_method_not_s256],
  [
    'a short challenge',
    { code_challenge: CHALLENGE.slice(1) },
    'invalid_request',
    AUTHORIZATION_FAULTS.code_challenge_malformed,
  ],
  ['a long state', { state: 's'.repeat(4097) }, 'invalid_request', AUTHORIZATION_FAULTS.state_too_long],
  ['a request object', { request: 'e30.e30.' }, 'invalid_request', AUTHORIZATION_FAULTS.request_object],
  ['registration', { registration: '{}' }, 'invalid_request', AUTHORIZATION_FAULTS.registration_parameter],
  ['fragment', { response_mode: 'fragment' }, 'invalid_request', AUTHORIZATION_FAULTS.response_mode_unsupported],
  ['prompt=none login', { prompt: 'none login' }, 'invalid_request', AUTHORIZATION_FAULTS.prompt_malformed],
  ['org_id', { org_id: '/acme' }, 'invalid_request', AUTHORIZATION_FAULTS.organization_malformed],
  ['max_age', { max_age: '-1' }, 'invalid_request', AUTHORIZATION_FAULTS.max_age_malformed],
  ['a wrong hint', { id_token_hint: 'e30.e30.e30' }, 'invalid_request', AUTHORIZATION_FAULTS.hint_wrong],
  ['claims', { claims: '[' }, 'invalid_request', AUTHORIZATION_FAULTS.claims_malformed],
  [
    'a redirect URI of others',
    { redirect_uri: 'https://evil.example/' },
    'invalid_request',
    'The redirect_uri is not one of the client, byte for byte: register it. Only the port of a loopback address may differ.',
  ],
  [
    'a request_uri',
    { request_uri: 'urn:ietf:params:oauth:request_uri:x' },
    'invalid_request',
    REFUSALS.invalid_request.description,
  ],
  [
    '8 KiB of parameters',
    { state: 's'.repeat(4096), more: 'm'.repeat(4096) },
    'invalid_request',
    'The request has more than 8192 characters, or too many parameters.',
  ],
  ['a short dpop_jkt', { dpop_jkt: 'x' }, 'invalid_request', AUTHORIZATION_FAULTS.dpop_jkt_malformed],
  ['a scope with a quote', { scope: '"' }, 'invalid_scope', AUTHORIZATION_FAULTS.scope_malformed],
  [
    'a resource with a fragment',
    { resource: 'https://a.example/#b' },
    'invalid_target',
    AUTHORIZATION_FAULTS.resource_malformed,
  ],
  ['a wrong secret', { client_secret: 'x' }, 'invalid_client', REFUSALS.invalid_client.description],
]

test('PAR-02: each fault of a pushed request is answered to the client, and stores nothing', async () => {
  const machine = await registerClient(server, { grant_types: ['client_credentials'], redirect_uris: [] })
  const withoutCodes = await registerClient(server, { grant_types: ['client_credentials'] })
  await assertStoreUnchanged(server, async () => {
    for (const [name, parameters, error, description] of FAULTS) {
      const response = await pushRequest(server, client, parameters)
      assert.equal(response.statusCode, error === 'invalid_client' ? 401 : 400, name)
      assert.deepEqual([response.json().error, response.json().error_description], [error, description], name)
      const reason = name === 'a request_uri' ? 'request_uri_pushed' : 'pushed_request_malformed'
      if (error === 'invalid_request') assert.equal(lastLogged(server)['reason'], reason, name)
    }
    assert.equal((await pushRequest(server, machine, {})).json().error, 'invalid_request')
    const unauthorized = await pushRequest(server, withoutCodes)
    assert.deepEqual([unauthorized.statusCode, unauthorized.json().error], [400, 'unauthorized_client'])
    const inQuery = await postForm(server, `/v2/oauth/par?client_id=${client.client_id}`, {})
    assert.equal(inQuery.json().error, 'invalid_request')
    const twice = new URLSearchParams({ client_id: client.client_id, state: 'a' })
    twice.append('state', 'b')
    assert.equal((await postForm(server, '/v2/oauth/par', twice)).json().error, 'invalid_request')
  })
})

test('PAR-03, PAR-04: a request_uri of another client, expired, wrong, repeated or without client_id is a page', async () => {
  const url = await pushedUrl(server, client)
  const uri = new URL(url, server.origin).searchParams.get('request_uri') ?? ''
  const open = (query: string) => signedIn.get(`/v2/oauth/authorize?${query}`)
  const encoded = encodeURIComponent(uri)
  assertLocalPage(await open(`client_id=${stranger.client_id}&request_uri=${encoded}`))
  assertLocalPage(await open(`request_uri=${encoded}`))
  assertLocalPage(await open(`client_id=${client.client_id}&request_uri=${encoded}&request_uri=${encoded}`))
  const changed = `${encoded.slice(0, -1)}${encoded.endsWith('A') ? 'B' : 'A'}`
  assertLocalPage(await open(`client_id=${client.client_id}&request_uri=${changed}`))
  const foreign = await signedIn.get(authorizeUrl(client, { request_uri: 'https://app.example/request.jwt' }))
  assertErrorRedirect(server, foreign, 'request_uri_not_supported')
  server.clock.advance(59_999)
  assert.ok(isCodeAnswer(await signedIn.get(url)))
  server.clock.advance(1)
  assert.match((await signedIn.get(url)).body, /pushed_request_approved/)
  const late = await pushedUrl(server, client)
  server.clock.advance(60_000)
  assertLocalPage(await signedIn.get(late))
})

test('PAR-05: a request that was opened and not approved can be opened again, and after the approval it is used up', async () => {
  const url = await pushedUrl(server, client, { prompt: 'consent' })
  const [first, second] = [await signedIn.get(url), await signedIn.get(url)]
  assert.notEqual(locationOf(first), locationOf(second))
  const page = await signedIn.get(locationOf(second))
  const allowed = await signedIn.submit(page, { decision: 'allow' })
  assert.ok(isCodeAnswer(allowed))
  assert.equal(locationOf(await signedIn.submit(page, { decision: 'allow' })), locationOf(allowed))
  assertLocalPage(await signedIn.submit(await signedIn.get(locationOf(first)), { decision: 'allow' }), 409)
  assertLocalPage(await signedIn.get(url))
  assert.equal(
    (await redeem(server, client, new URL(locationOf(allowed)).searchParams.get('code') ?? '')).statusCode,
    200,
  )
})

test('PAR-05: a denied request can be started again within its minute', async () => {
  const url = await pushedUrl(server, client, { prompt: 'consent' })
  const page = await signedIn.get(locationOf(await signedIn.get(url)))
  assertErrorRedirect(server, await signedIn.submit(page, { decision: 'deny' }), 'access_denied')
  const again = await signedIn.get(locationOf(await signedIn.get(url)))
  assert.ok(isCodeAnswer(await signedIn.submit(again, { decision: 'allow' })))
})

test('PAR-06: of one hundred approvals of one pushed request in two browsers exactly one authorization gets a code', async () => {
  const url = await pushedUrl(server, client, { prompt: 'consent' })
  const browsers = [signedIn, await consentedBrowser(server, client, { prompt: 'consent' })]
  const pages = await Promise.all(
    Array.from({ length: 10 }, async (_, index) => {
      const browser = browsers[index % 2] as PlainBrowser
      return { browser, page: await browser.get(locationOf(await browser.get(url))) }
    }),
  )
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => pages).flatMap((all) =>
      all.map(({ browser, page }) => browser.submit(page, { decision: 'allow' })),
    ),
  )
  const codes = answers.filter(isCodeAnswer)
  assert.equal(codes.length, 10)
  assert.equal(new Set(codes.map(locationOf)).size, 1)
  for (const answer of answers.filter((one) => !codes.includes(one))) assert.equal(answer.statusCode, 409)
})

test('PAR-07: parameters beside request_uri are ignored, and ui_locales of the push is used', async () => {
  const url = await pushedUrl(server, client, { ui_locales: 'de', prompt: 'consent', state: 'pushed' })
  const beside =
    '&state=evil&redirect_uri=https%3A%2F%2Fevil.example%2F&scope=admin&prompt=none&ui_locales=en&request=x'
  const address = locationOf(await signedIn.get(`${url}${beside}`))
  const opened = await signedIn.get(url)
  assert.equal(new URL(address).searchParams.get('ui_locales'), 'de')
  const page = await signedIn.get(address)
  assert.match(page.body, /<html lang="de"/)
  const answer = new URL(locationOf(await signedIn.submit(page, { decision: 'allow' })))
  assert.equal(`${answer.origin}${answer.pathname}`, REDIRECT_URI)
  assert.equal(answer.searchParams.get('state'), 'pushed')
  const late = await signedIn.submit(await signedIn.get(locationOf(opened)), { decision: 'allow' })
  for (const [refused, status] of [
    [await signedIn.get(url), 400],
    [late, 409],
  ] as const) {
    assertLocalPage(refused, status)
    assert.match(refused.body, /<html lang="de"/)
  }
})

test('PAR-07: the request of another person’s client shows its consent page', async () => {
  const page = await signedIn.get(locationOf(await signedIn.get(await pushedUrl(server, stranger))))
  assert.match(page.body, /Stranger/)
  assert.equal(hiddenFields(page)['decision'], undefined)
})

const CHANGES: readonly (readonly [string, number, (own: RegisteredClient) => Promise<unknown>])[] = [
  ['disabled', 400, ({ client_id }) => perform(server.context, 'client.disable', { client_id })],
  ['deleted', 400, ({ client_id }) => perform(server.context, 'client.delete', { client_id })],
  ['blocked', 403, () => perform(server.context, 'domain.block', { pattern: 'blocked.example' })],
  [
    'without the redirect URI',
    400,
    ({ client_id }) =>
      perform(server.context, 'client.adopt', { client_id }).then(() =>
        perform(server.context, 'client.update', { client_id, redirect_uris: ['https://app.example/other'] }),
      ),
  ],
]

test('PAR-09: a client that changes between the push and its use gets a page', async () => {
  for (const [change, status, make] of CHANGES) {
    const redirect = change === 'blocked' ? 'https://blocked.example/cb' : REDIRECT_URI
    const own = await registerClient(server, { client_name: change, redirect_uris: [redirect] })
    const url = await pushedUrl(server, own, { redirect_uri: redirect, ui_locales: 'de' })
    await make(own)
    server.clock.advance(2000)
    await server.context.clientPolicy()
    const page = await signedIn.get(url)
    assertLocalPage(page, status)
    assert.match(page.body, /<html lang="de"/, change)
  }
})

test('RFC 9126 §2: clients authenticate as at the token endpoint, and the address of the endpoint may be the audience', async () => {
  const basic = { authorization: `Basic ${btoa(`${client.client_id}:${client.client_secret}`)}` }
  assert.equal((await pushRequest(server, client, { client_secret: '' }, basic)).statusCode, 201)
  const open = await registerClient(server, { token_endpoint_auth_method: 'none', grant_types: ['authorization_code'] })
  assert.equal((await pushRequest(server, open)).statusCode, 201)
  const { client: keyed, key } = await registerKeyClient(server)
  for (const [audience, status] of [
    [server.origin, 201],
    [`${server.origin}/v2/oauth/token`, 201],
    [PAR, 201],
    [`${server.origin}/v2/oauth/revoke`, 401],
  ] as const) {
    const claims = assertionClaims(keyed.client_id, audience, server.clock.now())
    const form = assertionForm(signJws(key, { alg: key.algorithm }, claims))
    assert.equal((await pushRequest(server, keyed, form)).statusCode, status, audience)
    assert.equal((await pushRequest(server, keyed, form)).statusCode, 401, 'the assertion is used up')
  }
  const claims = assertionClaims(keyed.client_id, PAR, server.clock.now())
  const elsewhere = { grant_type: 'client_credentials', ...assertionForm(signJws(key, { alg: key.algorithm }, claims)) }
  assert.equal((await postForm(server, '/v2/oauth/token', elsewhere)).statusCode, 401)
  assert.equal((await pushRequest(server, keyed)).statusCode, 401)
})

test('RFC 9126 §2.1: nothing that authenticates the client is stored', async () => {
  const { client: keyed, key } = await registerKeyClient(server)
  const claims = assertionClaims(keyed.client_id, PAR, server.clock.now())
  await pushRequest(server, keyed, assertionForm(signJws(key, { alg: key.algorithm }, claims)))
  await pushRequest(server, client)
  for (const { parameters } of selectAll(server, 'select parameters from pushed_requests')) {
    assert.doesNotMatch(String(parameters), /client_secret|client_assertion|client_id/)
  }
})

test('RFC 9449 §10.1: a proof binds the request to its key, and another dpop_jkt is refused', async () => {
  const key = makeClientKey('ES256')
  const proof = () => ({ dpop: makeProof(key, { method: 'POST', address: PAR, nowMs: server.clock.now() }) })
  assert.equal((await pushRequest(server, client, {}, proof())).statusCode, 201)
  const kept = selectAll(server, 'select parameters from pushed_requests order by request_id').map((row) =>
    new URLSearchParams(String(row['parameters'])).get('dpop_jkt'),
  )
  const thumbprint = kept.find((one) => one !== null)
  assert.match(thumbprint ?? '', /^[\w-]{43}$/)
  assert.equal((await pushRequest(server, client, { dpop_jkt: thumbprint ?? '' }, proof())).statusCode, 201)
  const other = await pushRequest(server, client, { dpop_jkt: CHALLENGE }, proof())
  assert.deepEqual([other.statusCode, other.json().error], [400, 'invalid_dpop_proof'])
  assert.equal(lastLogged(server)['reason'], 'proof_of_another_key')
  const elsewhere = makeProof(key, {
    method: 'POST',
    address: `${server.origin}/v2/oauth/token`,
    nowMs: server.clock.now(),
  })
  assert.equal((await pushRequest(server, client, {}, { dpop: elsewhere })).json().error, 'invalid_dpop_proof')
})

test('RFC 9126 §6: a client that requires pushed requests is refused without one, and what it registered is shown', async () => {
  const own = await registerClient(server, { require_pushed_authorization_requests: true, client_name: 'Own' })
  assert.equal(own['require_pushed_authorization_requests'], true)
  assert.match(assertErrorRedirect(server, await signedIn.get(authorizeUrl(own)), 'invalid_request'), /must push/)
  const browser = new PlainBrowser(server)
  const answer = await signInAndAllow(browser, await pushedUrl(server, own))
  assert.ok(answer.searchParams.get('code'))
  for (const [value, status] of [
    [false, 201],
    [null, 201],
    ['yes', 422],
  ] as const) {
    const body = { redirect_uris: [REDIRECT_URI], require_pushed_authorization_requests: value }
    const response = await server.inject({ method: 'POST', url: '/v2/oauth/register', payload: body })
    assert.equal(response.statusCode, status)
    assert.equal(response.json()['require_pushed_authorization_requests'], undefined)
  }
})

test('PAR-10: pushes are counted by the client that authenticates, and by the network of a public one; not of a verified one', async (t) => {
  const strict = await openTestServer(t, { clock: openStillClock(), env: { GRANTOR_AUTHORIZATION_RATE: '2' } })
  const [one, two, verified] = [
    await registerClient(strict),
    await registerClient(strict),
    await registerClient(strict),
  ]
  await perform(strict.context, 'client.verify', { client_id: verified.client_id })
  const method = { token_endpoint_auth_method: 'none', grant_types: ['authorization_code'] }
  const open = [
    await registerClient(strict, { ...method, client_name: 'A' }),
    await registerClient(strict, { ...method, client_name: 'B' }),
  ]
  const statuses = async (clients: readonly RegisteredClient[]) => {
    const found = []
    for (const pusher of clients) found.push((await pushRequest(strict, pusher)).statusCode)
    return found
  }
  assert.deepEqual(await statuses([one, one, one, two]), [201, 201, 429, 201])
  assert.deepEqual(await statuses([verified, verified, verified]), [201, 201, 201])
  assert.deepEqual(await statuses([...open, ...open]), [201, 201, 429, 429])
  assert.equal(selectAll(strict, 'select request_id from pushed_requests').length, 8)
})

test('PAR-10: one address with many clients does not take the pushes of another network', async (t) => {
  const strict = await openTestServer(t, { clock: openStillClock(), env: { GRANTOR_AUTHORIZATION_RATE: '2' } })
  const clients = []
  for (let count = 0; count < 16; count += 1) clients.push(await registerClient(strict))
  const push = async ({ client_id, client_secret = '' }: RegisteredClient, remoteAddress: string) => {
    const { searchParams } = new URL(authorizeUrl({ client_id }, { client_secret }), strict.origin)
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const payload = searchParams.toString()
    const sent = { method: 'POST', url: '/v2/oauth/par', remoteAddress, headers, payload } as const
    return (await strict.inject(sent)).statusCode
  }
  const own = clients.pop()
  assert.ok(own)
  const attack = []
  for (const one of clients) attack.push(await push(one, '192.0.2.1'))
  assert.equal(attack.filter((status) => status === 201).length, 5)
  assert.equal(await push(own, '198.51.100.7'), 201)
})
