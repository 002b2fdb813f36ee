import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LANGUAGES } from '../../../src/base/language.ts'
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose'
import { JWT_BEARER, TOKEN_EXCHANGE } from '../../../src/protocol/token/grant-types.ts'
import { makeClientKey, type AssertionSigner } from '../../../tools/client-assertion.ts'
import { authorizeUrl, locationOf, PlainBrowser, postForm, registerClient, requestToken } from '../../../tools/flow.ts'
import { authentication, registerKeyClient } from '../../support/key-clients.ts'
import { ask } from '../../support/hosts/raw-socket.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { declareApi } from '../../support/apis.ts'

const WELL_KNOWN = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'] as const
const HTTPS = { GRANTOR_ISSUER: 'https://auth.example', GRANTOR_HOST: '127.0.0.1' }
const METHODS = ['client_secret_post', 'client_secret_basic', 'none', 'private_key_jwt']
const ALGORITHMS = ['ES256', 'EdDSA', 'Ed25519', 'PS256', 'RS256', 'ES384']

interface Metadata {
  readonly issuer: string
  readonly [member: string]: unknown
}

async function read(server: TestServer, url: string = WELL_KNOWN[0]): Promise<Metadata> {
  const answer = await server.inject({ method: 'GET', url })
  assert.equal(answer.statusCode, 200, `${url}: ${answer.body}`)
  return answer.json<Metadata>()
}

function addressesOf(metadata: Metadata): Readonly<Record<string, string>> {
  const names = Object.keys(metadata).filter((name) => name.endsWith('_endpoint') || name.endsWith('_uri'))
  return Object.fromEntries(names.map((name) => [name, String(metadata[name])]))
}

test('MET-01: the issuer is the configured text byte for byte, in both documents', async (t) => {
  for (const issuer of [
    'http://localhost:3000',
    'http://127.0.0.1:3000',
    'https://auth.example',
    'https://auth.example:8443',
  ]) {
    const server = await openTestServer(t, { env: { ...HTTPS, GRANTOR_ISSUER: issuer } })
    const [first, second] = await Promise.all(WELL_KNOWN.map((url) => server.inject({ method: 'GET', url })))
    assert.equal(first?.json<Metadata>().issuer, issuer)
    assert.equal(first?.body, second?.body)
    for (const address of Object.values(addressesOf(await read(server)))) assert.ok(address.startsWith(`${issuer}/v2/`))
  }
})

test('MET-01: an issuer with a path has its documents where clients look: path inserted and path appended', async (t) => {
  const issuer = 'http://localhost:3000/tenant'
  const server = await openTestServer(t, { env: { GRANTOR_ISSUER: issuer } })
  const addresses = WELL_KNOWN.flatMap((path) => [`${path}/tenant`, `/tenant${path}`])
  const bodies = new Set<string>()
  for (const url of addresses) bodies.add(JSON.stringify(await read(server, url)))
  assert.equal(bodies.size, 1)
  const metadata = await read(server, addresses[0])
  assert.equal(metadata.issuer, issuer)
  for (const address of Object.values(addressesOf(metadata)))
    assert.ok(address.startsWith(`${issuer}/v2/oauth/`), address)
  for (const url of [...WELL_KNOWN, '/v2/oauth/token', `${WELL_KNOWN[0]}/other`, `/other${WELL_KNOWN[0]}`])
    assert.equal((await server.inject({ method: 'GET', url })).statusCode, 404, url)
})

test('OpenID Connect Discovery 1.0 §3: the documents have subject_types_supported, without which Spring Boot does not start', async (t) => {
  const metadata = await read(await openTestServer(t), WELL_KNOWN[1])
  assert.deepEqual(metadata['subject_types_supported'], ['public'])
  assert.deepEqual(metadata['id_token_signing_alg_values_supported'], ['RS256', 'ES256'])
})

test('MET-01: a server whose issuer has a path serves requests below it, and its tokens have that issuer', async (t) => {
  const issuer = 'http://localhost:3000/tenant'
  const server = await openTestServer(t, { env: { GRANTOR_ISSUER: issuer } })
  const metadata = await read(server, `/tenant${WELL_KNOWN[0]}`)
  const at = (name: string): string => String(metadata[name]).slice('http://localhost:3000'.length)
  const registered = await server.inject({
    method: 'POST',
    url: at('registration_endpoint'),
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify({ grant_types: ['client_credentials'] }),
  })
  const { client_id = '', client_secret = '' } = registered.json<Record<string, string>>()
  const form = { grant_type: 'client_credentials', client_id, client_secret }
  const answer = await postForm(server, at('token_endpoint'), form)
  const keys = (await server.inject({ method: 'GET', url: at('jwks_uri') })).json<JSONWebKeySet>()
  const { payload } = await jwtVerify(answer.json().access_token, createLocalJWKSet(keys), { issuer, audience: issuer })
  assert.equal(payload['client_id'], client_id)
})

test('MET-02: no request header changes the document', async (t) => {
  for (const env of [{}, HTTPS, { ...HTTPS, GRANTOR_TRUST_PROXY: '127.0.0.1' }]) {
    const server = await openTestServer(t, { env })
    const plain = await server.inject({ method: 'GET', url: WELL_KNOWN[0] })
    const spoofed = {
      'x-forwarded-host': 'evil.test',
      'x-forwarded-proto': 'https',
      'x-forwarded-port': '1',
      'x-forwarded-prefix': '/evil',
      forwarded: 'host=evil.test;proto=http',
      'x-original-url': '/evil',
      'x-rewrite-url': '/evil',
      origin: 'https://evil.test',
    }
    for (const headers of [
      { host: 'evil.test' },
      { host: 'evil.test:80@x' },
      { ...spoofed },
      { host: 'evil.test', ...spoofed },
    ])
      for (const url of [...WELL_KNOWN, '/v2/oauth/jwks']) {
        const answer = await server.inject({ method: 'GET', url, headers })
        if (url !== '/v2/oauth/jwks') assert.equal(answer.body, plain.body)
        assert.ok(!JSON.stringify([answer.headers, answer.body]).includes('evil'), url)
      }
  }
})

test('MET-03: the document lists exactly what is implemented', async (t) => {
  const server = await openTestServer(t)
  const metadata = await read(server)
  assert.deepEqual(metadata, {
    issuer: 'http://localhost:3000',
    registration_endpoint: 'http://localhost:3000/v2/oauth/register',
    token_endpoint: 'http://localhost:3000/v2/oauth/token',
    revocation_endpoint: 'http://localhost:3000/v2/oauth/revoke',
    introspection_endpoint: 'http://localhost:3000/v2/oauth/introspect',
    userinfo_endpoint: 'http://localhost:3000/v2/oauth/userinfo',
    authorization_endpoint: 'http://localhost:3000/v2/oauth/authorize',
    pushed_authorization_request_endpoint: 'http://localhost:3000/v2/oauth/par',
    require_pushed_authorization_requests: false,
    refresh_token_expiration_types_supported: ['authorization', 'token_timeout'],
    end_session_endpoint: 'http://localhost:3000/v2/oauth/end-session',
    jwks_uri: 'http://localhost:3000/v2/oauth/jwks',
    scopes_supported: ['email', 'openid', 'profile'],
    response_types_supported: ['code'],
    response_modes_supported: ['query', 'form_post'],
    grant_types_supported: ['authorization_code', 'client_credentials', 'refresh_token', JWT_BEARER, TOKEN_EXCHANGE],
    authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
    token_endpoint_auth_methods_supported: METHODS,
    token_endpoint_auth_signing_alg_values_supported: ALGORITHMS,
    revocation_endpoint_auth_methods_supported: METHODS,
    revocation_endpoint_auth_signing_alg_values_supported: ALGORITHMS,
    introspection_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic', 'private_key_jwt'],
    introspection_endpoint_auth_signing_alg_values_supported: ALGORITHMS,
    client_id_metadata_document_supported: true,
    code_challenge_methods_supported: ['S256'],
    dpop_signing_alg_values_supported: ['ES256', 'EdDSA', 'Ed25519', 'PS256'],
    acr_values_supported: ['urn:grantor:acr:1fa', 'urn:grantor:acr:2fa', 'phr'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'ES256'],
    claim_types_supported: ['normal'],
    claims_supported: [
      'sub',
      'iss',
      'aud',
      'exp',
      'iat',
      'auth_time',
      'nonce',
      'at_hash',
      'acr',
      'amr',
      'sid',
      'name',
      'family_name',
      'given_name',
      'middle_name',
      'nickname',
      'preferred_username',
      'profile',
      'picture',
      'website',
      'gender',
      'birthdate',
      'zoneinfo',
      'locale',
      'updated_at',
      'email',
      'email_verified',
      'phone_number',
      'phone_number_verified',
      'address',
      'groups',
      'roles',
      'entitlements',
    ],
    claims_parameter_supported: true,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    display_values_supported: ['page'],
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
    ui_locales_supported: LANGUAGES,
    authorization_response_iss_parameter_supported: true,
  })
})

test('MET-03: every advertised endpoint responds to the method of its RFC', async (t) => {
  const server = await openTestServer(t)
  const addresses = addressesOf(await read(server))
  assert.deepEqual(Object.keys(addresses).toSorted(), [
    'authorization_endpoint',
    'end_session_endpoint',
    'introspection_endpoint',
    'jwks_uri',
    'pushed_authorization_request_endpoint',
    'registration_endpoint',
    'revocation_endpoint',
    'token_endpoint',
    'userinfo_endpoint',
  ])
  for (const [name, address] of Object.entries(addresses)) {
    const method = name === 'jwks_uri' || name === 'authorization_endpoint' ? 'GET' : 'POST'
    const { statusCode } = await server.inject({ method, url: new URL(address).pathname })
    assert.ok(![404, 405, 500, 501].includes(statusCode), `${name}: ${statusCode}`)
  }
})

test('MET-03: every advertised client authentication method can be registered and used', async (t) => {
  const server = await openTestServer(t)
  const metadata = await read(server)
  for (const method of metadata['token_endpoint_auth_methods_supported'] as string[]) {
    if (method === 'private_key_jwt') continue
    const client = await registerClient(server, { token_endpoint_auth_method: method })
    assert.equal(client['token_endpoint_auth_method'], method)
    const answer = await requestToken(server, client, { grant_type: 'refresh_token', refresh_token: 'x' })
    assert.equal(answer.json().error, 'invalid_grant', method)
  }
})

test('MET-03: private_key_jwt can be registered and used with every advertised algorithm', async (t) => {
  const server = await openTestServer(t)
  const metadata = await read(server)
  for (const endpoint of ['token', 'revocation', 'introspection'])
    for (const algorithm of metadata[`${endpoint}_endpoint_auth_signing_alg_values_supported`] as AssertionSigner[]) {
      const bound = { token_endpoint_auth_signing_alg: algorithm }
      const app = await registerKeyClient(server, bound, makeClientKey(algorithm))
      const address = new URL(String(metadata[`${endpoint}_endpoint`])).pathname
      const form = { grant_type: 'client_credentials', token: 'x', ...authentication(server, app) }
      assert.equal((await postForm(server, address, form)).statusCode, 200, `${endpoint} ${algorithm}`)
    }
})

test('MET-03: every advertised grant, response type, prompt, response mode and challenge method is accepted', async (t) => {
  const server = await openTestServer(t)
  const metadata = await read(server)
  const values = (name: string) => metadata[`${name}_supported`] as string[]
  const [grant_types, response_types] = [values('grant_types'), values('response_types')]
  const client = await registerClient(server, { grant_types, response_types })
  // APIs exchange tokens, and no client (TX-02).
  assert.deepEqual(client['grant_types'], grant_types.toSpliced(-1))
  assert.deepEqual(client['response_types'], response_types)
  const taken = async (parameters: Record<string, string>) => {
    const answer = await new PlainBrowser(server).get(authorizeUrl(client, parameters))
    return answer.statusCode === 303 || /error=login_required|value="login_required"/.test(answer.body)
  }
  for (const [name, all] of [
    ['prompt', 'prompt_values'],
    ['response_mode', 'response_modes'],
    ['response_type', 'response_types'],
    ['code_challenge_method', 'code_challenge_methods'],
    ['ui_locales', 'ui_locales'],
  ] as const)
    for (const value of values(all)) assert.ok(await taken({ [name]: value }), `${name}=${value}`)
  const others = { response_mode: 'fragment', response_type: 'token', code_challenge_method: 'plain' }
  for (const [name, value] of Object.entries(others)) assert.ok(!(await taken({ [name]: value })), `${name}=${value}`)
})

test('MET-03: every advertised language has pages', async (t) => {
  const server = await openTestServer(t)
  const client = await registerClient(server)
  for (const language of (await read(server))['ui_locales_supported'] as string[]) {
    const browser = new PlainBrowser(server)
    const page = await browser.get(locationOf(await browser.get(authorizeUrl(client, { ui_locales: language }))))
    assert.match(page.body, new RegExp(`<html[^>]* lang="${language}"`))
  }
})

test('MET-03: scopes that any client may request are advertised once an API declares them, beside those of the issuer', async (t) => {
  const server = await openTestServer(t)
  assert.deepEqual((await read(server))['scopes_supported'], ['email', 'openid', 'profile'])
  await declareApi(server, 'https://api.example', {}, [
    ...['write', 'read'].map((name) => ({ name, sentence: name, grantedTo: 'users' }) as const),
    { name: 'export', sentence: 'Export', grantedTo: 'approved-clients' },
  ])
  server.clock.advance(2000)
  assert.deepEqual((await read(server))['scopes_supported'], ['email', 'openid', 'profile', 'read', 'write'])
})

test('MET-04: the published keys are public, unique, and verify issued tokens', async (t) => {
  const server = await openTestServer(t)
  const answer = await server.inject({ method: 'GET', url: '/v2/oauth/jwks' })
  const keys = answer.json<JSONWebKeySet>()
  assert.ok(keys.keys.length > 0)
  const members: Readonly<Record<string, readonly string[]>> = {
    EC: ['crv', 'x', 'y'],
    OKP: ['crv', 'x'],
    RSA: ['e', 'n'],
  }
  for (const key of keys.keys) {
    const { alg, kid, kty, use, ...rest } = key
    assert.deepEqual(Object.keys(rest).toSorted(), members[kty ?? ''], String(alg))
    assert.deepEqual([typeof kid, use], ['string', 'sig'])
  }
  assert.equal(new Set(keys.keys.map(({ kid }) => kid)).size, keys.keys.length)
  const client = await registerClient(server)
  const token = (await requestToken(server, client, { grant_type: 'client_credentials' })).json().access_token
  const options = { issuer: server.origin, audience: server.origin, typ: 'at+jwt', algorithms: ['ES256'] }
  assert.equal((await jwtVerify(token, createLocalJWKSet(keys), options)).payload.sub, client.client_id)
})

test('MET-06: no address in the metadata contains characters that a shell interprets', async (t) => {
  const server = await openTestServer(t, { env: { ...HTTPS, GRANTOR_ISSUER: 'https://auth.acme.test:8443/tenant_1' } })
  const metadata = await read(server, `/tenant_1${WELL_KNOWN[0]}`)
  const addresses = Object.values(metadata).filter((value) => String(value).includes('://'))
  assert.ok(addresses.length > 6)
  for (const address of addresses) assert.match(String(address), /^https:\/\/[A-Za-z0-9.:/_-]+$/)
})

test('MET-07: a query does not change the response', async (t) => {
  const server = await openTestServer(t)
  for (const path of [...WELL_KNOWN, '/v2/oauth/jwks']) {
    const plain = await server.inject({ method: 'GET', url: path })
    for (const query of [
      '?',
      '?issuer=https://evil.test',
      '?a&a',
      '?%zz',
      `?${'x&'.repeat(200)}`,
      '?__proto__=1',
      '?callback=alert',
    ]) {
      const answer = await server.inject({ method: 'GET', url: path + query })
      assert.equal(answer.statusCode, 200, query)
      assert.equal(answer.body, plain.body)
      assert.equal(answer.headers['content-type'], plain.headers['content-type'])
    }
  }
})

test('MET-07: HEAD has the headers of GET, and caches may keep both for minutes', async (t) => {
  const server = await openTestServer(t)
  for (const url of [...WELL_KNOWN, '/v2/oauth/jwks']) {
    const [get, head] = await Promise.all((['GET', 'HEAD'] as const).map((method) => server.inject({ method, url })))
    assert.equal(head?.statusCode, 200)
    assert.equal(head.body, '')
    for (const name of ['content-type', 'content-length', 'cache-control', 'access-control-allow-origin'])
      assert.equal(head.headers[name], get?.headers[name], name)
    assert.match(String(head.headers['cache-control']), /^public, max-age=\d{2,3}$/)
    assert.equal(head.headers['set-cookie'], undefined)
    assert.equal(head.headers['access-control-allow-credentials'], undefined)
  }
})

test('MET-07: variations of the path give the same document or none', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const { body } = await ask(server, { method: 'GET', target: WELL_KNOWN[0] })
  const targets = [
    '/%2ewell-known/oauth-authorization-server',
    `/${WELL_KNOWN[0]}`,
    `${WELL_KNOWN[0]}/`,
    `${WELL_KNOWN[0]};x`,
    `/x/..${WELL_KNOWN[0]}`,
    `http://evil.test${WELL_KNOWN[0]}`,
    WELL_KNOWN[0].toUpperCase(),
    `${WELL_KNOWN[0]}%00`,
    `${WELL_KNOWN[0]}%2f`,
    `${WELL_KNOWN[0]}#x`,
  ]
  for (const target of targets) {
    const answer = await ask(server, { method: 'GET', target })
    if (answer.status === 200) assert.equal(answer.body, body, target)
    else {
      assert.ok([400, 404].includes(answer.status), `${target}: ${answer.status}`)
      assert.doesNotMatch(answer.headers['cache-control'] ?? 'no-store', /public/)
      assert.ok(!answer.body.includes('evil'))
    }
  }
})

test('MET-07: a body on a GET and odd headers give the same document', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const plain = await ask(server, { method: 'GET', target: WELL_KNOWN[0] })
  const headers = [
    'Content-Type: garbage',
    'Accept: text/html',
    'Accept-Language: de',
    'Range: bytes=0-1',
    'Cookie: grantor-session-3000=x',
    'Authorization: Bearer x',
    'If-None-Match: *',
  ]
  for (const header of headers) {
    const answer = await ask(server, { method: 'GET', target: WELL_KNOWN[0], headers: [header], body: '{}' })
    assert.equal(answer.status, 200, header)
    assert.equal(answer.body, plain.body, header)
  }
})
