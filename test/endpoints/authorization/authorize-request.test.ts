import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  authorizeUrl,
  CHALLENGE,
  locationOf,
  PlainBrowser,
  redeem,
  registerClient,
  VERIFIER,
  REDIRECT_URI,
} from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { AUTHORIZATION_FAULTS, type AuthorizationFault } from '../../../src/protocol/authorization/request.ts'
import { openTestServer } from '../../support/server.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { tokensOf } from '../../support/token-answers.ts'
import {
  assertErrorRedirect,
  assertLocalPage,
  consentedBrowser,
  isCodeAnswer,
  WHOLE_FILE,
  withParameters,
} from '../../support/authorize-answers.ts'
import { perform } from '../../support/tasks.ts'
import { pageSays } from '../../texts/page-texts.ts'

// One server for all cases, because no case affects another.
const server = await openTestServer(WHOLE_FILE, { env: { GRANTOR_REDIRECT_ERRORS: 'true' } })
await createAda(server)
const client = await registerClient(server)
const anonymous = new PlainBrowser(server)
const signedIn = await consentedBrowser(server, client)
const browsers = [anonymous, signedIn]

type Change = (query: URLSearchParams) => void
const set =
  (name: string, value: string): Change =>
  (query) =>
    query.set(name, value)
const drop =
  (name: string): Change =>
  (query) =>
    query.delete(name)
const repeat =
  (name: string, value: string): Change =>
  (query) =>
    query.append(name, value)

/** Faults of a request with a valid client and redirect URI, and the error for the client. */
const FAULTS: readonly (readonly [id: string, fault: string, change: Change, error: string])[] = [
  ['AUTH-05', 'scope twice', (query) => (repeat('scope', 'a')(query), repeat('scope', 'b')(query)), 'invalid_request'],
  ['AUTH-05', 'response_type twice', repeat('response_type', 'code'), 'invalid_request'],
  ['AUTH-05', 'code_challenge twice', repeat('code_challenge', CHALLENGE), 'invalid_request'],
  [
    'AUTH-05',
    'an unknown parameter twice',
    (query) => (query.append('x', '1'), query.append('x', '2')),
    'invalid_request',
  ],
  [
    'AUTH-06',
    'no PKCE',
    (query) => (drop('code_challenge')(query), drop('code_challenge_method')(query)),
    'invalid_request',
  ],
  ['AUTH-06', 'a method without a challenge', drop('code_challenge'), 'invalid_request'],
  ['AUTH-07', 'no method, which would mean plain', drop('code_challenge_method'), 'invalid_request'],
  ['AUTH-07', 'an empty method', set('code_challenge_method', ''), 'invalid_request'],
  [
    'AUTH-07',
    'plain',
    (query) => (set('code_challenge_method', 'plain')(query), set('code_challenge', VERIFIER)(query)),
    'invalid_request',
  ],
  ['AUTH-07', 's256', set('code_challenge_method', 's256'), 'invalid_request'],
  ['AUTH-07', 'S512', set('code_challenge_method', 'S512'), 'invalid_request'],
  ['AUTH-08', 'a challenge of 42 characters', set('code_challenge', CHALLENGE.slice(1)), 'invalid_request'],
  ['AUTH-08', 'a challenge of 44 characters', set('code_challenge', `${CHALLENGE}A`), 'invalid_request'],
  ['AUTH-08', 'a padded challenge', set('code_challenge', `${CHALLENGE}=`), 'invalid_request'],
  ['AUTH-08', 'a challenge in plain base64', set('code_challenge', `+/${CHALLENGE.slice(2)}`), 'invalid_request'],
  [
    'AUTH-08',
    'a challenge with a letter outside ASCII',
    set('code_challenge', `é${CHALLENGE.slice(1)}`),
    'invalid_request',
  ],
  ['AUTH-09', 'no response_type', drop('response_type'), 'invalid_request'],
  ['AUTH-09', 'an empty response_type', set('response_type', ''), 'invalid_request'],
  ...['token', 'id_token', 'code token', 'code id_token', 'none', 'CODE', 'code code'].map(
    (type) => ['AUTH-09', `response_type=${type}`, set('response_type', type), 'unsupported_response_type'] as const,
  ),
  ['AUTH-13', 'a relative resource', set('resource', '/api'), 'invalid_target'],
  ['AUTH-13', 'a resource with a fragment', set('resource', 'https://api.example/#x'), 'invalid_target'],
  ['AUTH-14', 'request', set('request', 'eyJhbGciOiJub25lIn0.e30.'), 'request_not_supported'],
  ['AUTH-14', 'request_uri', set('request_uri', 'http://127.0.0.1:1/'), 'request_uri_not_supported'],
  ...['fragment', 'web_message', 'jwt', 'query.jwt'].map(
    (mode) => ['AUTH-15', `response_mode=${mode}`, set('response_mode', mode), 'invalid_request'] as const,
  ),
  ['AUTH-16', 'prompt=none login', set('prompt', 'none login'), 'invalid_request'],
  ['REG-11', 'a malformed scope', set('scope', 'a"b'), 'invalid_scope'],
  ['decision 0005', 'a malformed organization id', set('org_id', 'gor_other'), 'invalid_request'],
]

for (const [id, fault, change, error] of FAULTS) {
  test(`${id}: ${fault} is ${error}, with every prompt, with and without a session`, async () => {
    for (const browser of browsers) {
      for (const prompt of [undefined, 'none', 'login', 'consent']) {
        const url = withParameters(authorizeUrl(client, prompt === undefined ? {} : { prompt }), change)
        const response = await assertStoreUnchanged(server, () => browser.get(url))
        const description = assertErrorRedirect(server, response, error)
        const line = JSON.parse(server.log().trimEnd().split('\n').at(-1) ?? '')
        assert.deepEqual([line.event, line.description], ['authorization.refused', description])
        assert.equal(description, AUTHORIZATION_FAULTS[line.reason as AuthorizationFault])
      }
    }
  })
}

test('AUTH-16: without a fault, the base request of these cases succeeds without a page', async () => {
  const response = await signedIn.get(authorizeUrl(client, { prompt: 'none' }))
  assert.ok(isCodeAnswer(response), response.body)
})

test('AUTH-05: a repeated state is an error, and the response has no state', async () => {
  const url = withParameters(authorizeUrl(client), repeat('state', 'another'))
  assertErrorRedirect(server, await signedIn.get(url), 'invalid_request', '')
})

test('AUTH-05: a repeated client_id or redirect_uri is an error page and never a redirect', async () => {
  for (const [name, value] of [
    ['client_id', client.client_id],
    ['redirect_uri', REDIRECT_URI],
    ['redirect_uri', 'https://evil.test'],
  ] as const)
    for (const browser of browsers)
      assertLocalPage(await browser.get(withParameters(authorizeUrl(client), repeat(name, value))))
})

test('AUTH-05: brackets, semicolons and a hundred parameters do not bypass the check', async () => {
  const bare = withParameters(authorizeUrl(client), drop('client_id'))
  for (const tail of [`&client_id[$ne]=x`, `&client_id[]=${client.client_id}`, `;client_id=${client.client_id}`])
    assertLocalPage(await signedIn.get(bare + tail))
  const bracket = await anonymous.get(`${authorizeUrl(client)}&redirect_uri[]=https://evil.test`)
  assert.ok(new URL(locationOf(bracket)).href.startsWith(server.origin), 'an unknown parameter counts for something')
  assertLocalPage(await signedIn.get(authorizeUrl(client) + '&x=1'.repeat(100)))
  assertLocalPage(await signedIn.get(`${authorizeUrl(client)}&x=%zz`))
  assertLocalPage(await signedIn.get(`${authorizeUrl(client)}&x=%ff`))
})

test('AUTH-05: a POST ignores parameters in the query', async () => {
  const [path = '', query = ''] = authorizeUrl(client).split('?')
  const form = Object.fromEntries(new URLSearchParams(query))
  for (const tail of [`?redirect_uri=https://evil.test`, `?${query}`, '?x=1'])
    assertLocalPage(await signedIn.post(path + tail, form))
})

test('AUTH-24: unknown parameters are ignored', async () => {
  const url = authorizeUrl(client, { nonce: 'n', display: 'popup', ui_locales: 'de', audience: 'x', max_age: '0' })
  const response = await server.inject({ url })
  assert.ok(locationOf(response).startsWith(`${server.origin}/v2/oauth/sign-in?authorization=`))
})

test('AUTH-09: a client that did not register the code grant gets unauthorized_client', async () => {
  const machine = await registerClient(server, { grant_types: ['client_credentials'], response_types: ['code'] })
  const response = await signedIn.get(authorizeUrl(machine))
  assertErrorRedirect(server, response, 'unauthorized_client')
})

test('REG-11: a scope beyond the registration requires the user’s consent', async () => {
  const reader = await registerClient(server, { scope: 'read' })
  const browser = await consentedBrowser(server, reader, { scope: 'read' })
  for (const scope of ['admin', 'read admin']) {
    const refused = await browser.get(authorizeUrl(reader, { scope, prompt: 'none' }))
    assertErrorRedirect(server, refused, 'consent_required')
  }
  const known = await browser.get(authorizeUrl(reader, { prompt: 'none' }))
  const code = new URL(locationOf(known)).searchParams.get('code') ?? ''
  assert.equal(tokensOf(await redeem(server, reader, code)).scope, 'read')
})

test('AUTH-01: an unknown, deleted, disabled or malformed client is an error page, whatever else is wrong', async () => {
  const deleted = await registerClient(server)
  const disabled = await registerClient(server)
  const browser = await consentedBrowser(server, disabled)
  await server.context.store.deleteClient(deleted.client_id as never)
  await perform(server.context, 'client.disable', { client_id: disabled.client_id })
  const never = client.client_id.replace(/.{6}$/, 'AAAAAA')
  for (const id of [deleted.client_id, disabled.client_id, never, '', 'x', `${client.client_id}\0`, "' or 1=1 --"])
    for (const change of [set('prompt', 'none'), drop('response_type'), repeat('scope', 'x'), set('scope', 'x')]) {
      const url = withParameters(authorizeUrl({ ...client, client_id: id }), change)
      assertLocalPage(await assertStoreUnchanged(server, () => browser.get(url)))
    }
})

test('AUTH-02: an unregistered redirect_uri is an error page, whatever else is wrong', async () => {
  const others = [
    'https://evil.test/callback',
    `${REDIRECT_URI}/`,
    'https://app.example',
    'javascript:alert(1)',
    '//x',
    'x',
  ]
  for (const redirectUri of others)
    for (const change of [
      set('prompt', 'none'),
      drop('response_type'),
      set('request', 'x'),
      set('state', 'x'.repeat(5000)),
    ]) {
      const url = withParameters(authorizeUrl(client, { redirect_uri: redirectUri }), change)
      assertLocalPage(await assertStoreUnchanged(server, () => signedIn.get(url)))
    }
})

test('AUTH-02: redirect_uri may be omitted only if exactly one is registered', async () => {
  const two = await registerClient(server, { redirect_uris: [REDIRECT_URI, 'https://app.example/two'] })
  const none = await registerClient(server, { redirect_uris: [], grant_types: ['client_credentials'] })
  const url = (one: typeof client): string => withParameters(authorizeUrl(one), drop('redirect_uri'))
  assert.ok(locationOf(await server.inject({ url: url(client) })).startsWith(server.origin))
  for (const one of [two, none]) {
    const page = await server.inject({ url: url(one) })
    assertLocalPage(page)
    assert.match(page.body, pageSays('errors.redirect-missing.heading'))
  }
})

test('AUTH-11: a code response and an error response have the issuer once, as in the metadata', async () => {
  const metadata = (await server.inject({ url: '/.well-known/oauth-authorization-server' })).json()
  assert.equal(metadata.authorization_response_iss_parameter_supported, true)
  const answers = [
    await signedIn.get(authorizeUrl(client)),
    await anonymous.get(authorizeUrl(client, { prompt: 'none' })),
    await anonymous.get(authorizeUrl(client, { response_type: 'token' })),
  ]
  for (const answer of answers) {
    const { searchParams } = new URL(locationOf(answer))
    assert.deepEqual(searchParams.getAll('iss'), [metadata.issuer])
  }
})

const STATES = [
  'a&b=c#d',
  '\r\nSet-Cookie: x=1',
  '%0d%0a',
  '+ %20',
  '\u{1f600}ü',
  '"><script>',
  'x'.repeat(2048),
  'y'.repeat(4096),
]
test('AUTH-12: state is returned byte for byte, with a code and with an error', async () => {
  for (const state of STATES)
    for (const [browser, parameters] of [
      [signedIn, { state }],
      [anonymous, { state, response_type: 'token' }],
    ] as const) {
      const location = locationOf(await browser.get(authorizeUrl(client, parameters)))
      assert.match(location, /^[\x21-\x7e]+$/)
      const query = new URL(location).search
      assert.ok(query.includes(`&state=${encodeURIComponent(state)}&iss=`), query)
    }
})

test('AUTH-12: a state of more than 4096 characters is an error, and the response has no state', async () => {
  const url = authorizeUrl(client, { state: 'x'.repeat(4097) })
  assertErrorRedirect(server, await signedIn.get(url), 'invalid_request', '')
})

test('AUTH-12: without a state, the response has none', async () => {
  const url = authorizeUrl(client, { state: '', response_type: '' })
  assertErrorRedirect(server, await anonymous.get(url), 'invalid_request', '')
})
