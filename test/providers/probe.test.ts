import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { test } from 'node:test'
import { updateProvider } from '../../src/admin/provider/provider.ts'
import type { ProviderId } from '../../src/protocol/sign-in/authentication.ts'
import { providerRedirectUri } from '../../src/protocol/sign-in/provider.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { CLIENT_ID, CLIENT_SECRET, metadataOf, openProviderHost } from '../support/provider/provider-host.ts'
import { addProvider } from '../support/provider/providers.ts'
import { openRealProvider } from '../support/provider/real-provider.ts'
import { openTestServer } from '../support/server.ts'
import { sendJson } from '../support/hosts/web-host.ts'

const server = await openTestServer(WHOLE_FILE)
const host = await openProviderHost(WHOLE_FILE)
await addProvider(server, host)
await addProvider(server, host, {}, { id: 'github', template: 'github', name: 'GitHub' })
const REDIRECT_URI = providerRedirectUri(server.context.issuer, 'idp' as ProviderId)
const USUAL = ['ok discovery', 'ok keys', 'ok secret']

async function probe(id: string, redirectUri = REDIRECT_URI): Promise<readonly string[]> {
  const provider = await server.context.store.findProvider(id as ProviderId)
  assert.ok(provider)
  const findings = await server.context.providerSignIn.probe(provider, redirectUri)
  return findings.map(({ check, isOk, detail }) => (isOk ? `ok ${check}` : `failed ${check}: ${detail}`))
}

/** The error of a token endpoint or of an endpoint for pushed requests. */
function refusal(error: string, status = 400): RequestListener {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error, error_description: `a description with ${CLIENT_SECRET}` }))
  }
}

/** RFC 9126 §2.2. */
const PUSHED: RequestListener = (_request, response) => {
  response.writeHead(201, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ request_uri: 'urn:example:1', expires_in: 60 }))
}

const TOKEN_ANSWERS: readonly (readonly [answer: RequestListener, finding: string | undefined])[] = [
  [refusal('invalid_grant'), 'ok secret'],
  [refusal('invalid_client', 401), 'failed secret: The provider refuses the client_id or the secret (invalid_client).'],
  [
    refusal('unauthorized_client', 401),
    'failed secret: The provider refuses the client_id or the secret (unauthorized_client).',
  ],
  [refusal('redirect_uri_mismatch'), 'failed request: The provider refuses the redirect URI (redirect_uri_mismatch).'],
  [refusal('server_error', 500), 'failed secret: The token endpoint of the provider cannot be used: status 500'],
  [refusal('invalid_request'), undefined],
  [sendJson({ access_token: 'of a code that was made up', token_type: 'Bearer' }), undefined],
]

test('RFC 6749 §5.2: a code that is made up shows whether the provider accepts the secret', async () => {
  assert.deepEqual(await probe('idp'), USUAL)
  for (const [answer, finding] of TOKEN_ANSWERS) {
    host.answer('/token', answer)
    assert.deepEqual(await probe('idp'), ['ok discovery', 'ok keys', ...(finding === undefined ? [] : [finding])])
  }
  host.answer('/token', undefined)
})

test('GitHub refuses a secret with the status 200', async () => {
  const path = '/login/oauth/access_token'
  for (const [error, finding] of [
    ['bad_verification_code', 'ok secret'],
    [
      'incorrect_client_credentials',
      'failed secret: The provider refuses the client_id or the secret (incorrect_client_credentials).',
    ],
    ['redirect_uri_mismatch', 'failed request: The provider refuses the redirect URI (redirect_uri_mismatch).'],
  ] as const) {
    host.answer(path, refusal(error, 200))
    assert.deepEqual(await probe('github'), ['ok discovery', finding])
  }
  host.answer(path, undefined)
})

test('RFC 9126 §2.3: a pushed request shows whether the provider accepts the redirect URI and the scope', async () => {
  const pushed = { ...metadataOf(host.issuer), pushed_authorization_request_endpoint: `${host.issuer}/par` }
  host.answer('/.well-known/openid-configuration', sendJson(pushed))
  for (const [answer, findings] of [
    [PUSHED, ['ok request']],
    [refusal('invalid_scope'), ['failed request: The provider refuses the redirect URI or the scope (invalid_scope).']],
    // Sign-ins need no pushed request.
    [refusal('invalid_client', 401), []],
    [refusal('unauthorized_client'), []],
    [refusal('server_error', 503), []],
  ] as const) {
    host.answer('/par', answer)
    assert.deepEqual(await probe('idp'), [...USUAL, ...findings])
  }
  host.answer('/par', refusal('invalid_request'))
  host.answer('/token', refusal('invalid_client', 401))
  assert.deepEqual((await probe('idp')).slice(2), [
    'failed secret: The provider refuses the client_id or the secret (invalid_client).',
  ])
  host.answer('/token', undefined)
  host.answer('/.well-known/openid-configuration', undefined)
})

test('oidc-provider: the redirect URI and the secret that it has are accepted, and others are not', async (t) => {
  const { issuer } = await openRealProvider(t, REDIRECT_URI)
  await addProvider(server, { issuer }, {}, { id: 'real' })
  assert.deepEqual(await probe('real'), [...USUAL, 'ok request'])
  const other = await probe('real', 'http://localhost:3000/v2/oauth/callback/other')
  assert.match(
    other.join('\n'),
    /failed request: The provider refuses the redirect URI or the scope \(invalid_\w+\)\.$/,
  )
  await updateProvider(server.context, 'real' as ProviderId, { settings: {}, clientSecret: 'another' })
  assert.deepEqual((await probe('real')).slice(2), [
    'failed secret: The provider refuses the client_id or the secret (invalid_client).',
  ])
  await updateProvider(server.context, 'real' as ProviderId, {
    settings: { clientId: `${CLIENT_ID}-other` },
    clientSecret: CLIENT_SECRET,
  })
  assert.match((await probe('real')).join('\n'), /failed secret: .*client_id/)
})
