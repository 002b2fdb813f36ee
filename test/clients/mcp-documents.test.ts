import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { auth, createPrivateKeyJwtAuth, type AddClientAuthentication } from '@modelcontextprotocol/client'
import { makeClientKey } from '../../tools/client-assertion.ts'
import { openDocumentHost, type DocumentHost } from '../support/hosts/document-host.ts'
import { sendJson } from '../support/hosts/web-host.ts'
import { openMemoryProvider, type MemoryProvider } from './memory-provider.ts'
import { codeOf, linkOf, openOneOfThree } from './mcp-walk.ts'

interface ReleasedClient {
  /** The members of its document besides `client_id`, as published in September 2026. */
  readonly document: object
  /** What it sends in its requests. */
  readonly redirectUri: string
}

const BOTH = ['authorization_code', 'refresh_token']

/** Released MCP clients with a metadata document (docs/real-clients.md). */
const CLIENTS: Readonly<Record<string, ReleasedClient>> = {
  Claude: {
    document: {
      client_name: 'Claude',
      client_uri: 'https://claude.ai',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
      grant_types: [...BOTH, 'urn:ietf:params:oauth:grant-type:jwt-bearer'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    redirectUri: 'https://claude.ai/api/mcp/auth_callback',
  },
  'Claude Code': {
    document: {
      client_name: 'Claude Code',
      client_uri: 'https://claude.ai',
      redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
      grant_types: BOTH,
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    redirectUri: 'http://localhost:58135/callback',
  },
  'VS Code': {
    document: {
      client_name: 'Visual Studio Code',
      client_uri: 'https://vscode.dev/product',
      logo_uri: 'https://code.visualstudio.com/assets/branding/code-stable.png',
      redirect_uris: ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect'],
      grant_types: [...BOTH, 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    redirectUri: 'http://127.0.0.1:33418/',
  },
  Zed: {
    document: {
      client_name: 'Zed',
      client_uri: 'https://zed.dev',
      logo_uri: 'https://cdn.zed.dev/images/logo-dark.png',
      redirect_uris: ['http://127.0.0.1/callback'],
      grant_types: BOTH,
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    redirectUri: 'http://127.0.0.1:49152/callback',
  },
  Goose: {
    document: {
      client_name: 'goose',
      logo_uri: 'https://goose-docs.ai/img/logo_light.png',
      redirect_uris: ['http://127.0.0.1/oauth_callback', 'http://[::1]/oauth_callback'],
      grant_types: BOTH,
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      code_challenge_methods_supported: ['S256'],
    },
    redirectUri: 'http://127.0.0.1:41927/oauth_callback',
  },
}

/** ChatGPT authenticates with keys, which are beside its document. */
const CHATGPT: ReleasedClient = {
  document: {
    client_name: 'ChatGPT',
    client_uri: 'https://chatgpt.com/',
    logo_uri: 'https://persistent.oaistatic.com/sonic/misc/openai-logo.png',
    redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
    grant_types: BOTH,
    response_types: ['code'],
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
    token_endpoint_auth_signing_alg: 'RS256',
  },
  redirectUri: 'https://chatgpt.com/connector_platform_oauth_redirect',
}

/** The metadata that the library would register if the server did not support documents. */
const REGISTRATION = { client_name: 'A registration', redirect_uris: ['http://localhost:51004/callback'] }

/** Signs in and refreshes with the library. `authenticate` adds the authentication of the client to its requests. */
async function walk(
  t: TestContext,
  { redirectUri }: ReleasedClient,
  host: DocumentHost,
  authenticate?: AddClientAuthentication,
): Promise<void> {
  const { server, person, resourceServer } = await openOneOfThree(t, ['notes:read', 'notes:status'])
  const { client_id: url } = host.client()
  const provider: MemoryProvider & { readonly clientMetadataUrl: string } = {
    ...openMemoryProvider(REGISTRATION),
    redirectUrl: redirectUri,
    clientMetadataUrl: url,
    ...(authenticate === undefined ? {} : { addClientAuthentication: authenticate }),
  }
  const { url: serverUrl } = resourceServer
  assert.equal(await auth(provider, { serverUrl }), 'REDIRECT')
  const callback = await person.allow(linkOf(provider))
  assert.equal(callback.href.split('?', 1)[0], redirectUri)
  const iss = callback.searchParams.get('iss') ?? ''
  assert.equal(await auth(provider, { serverUrl, authorizationCode: codeOf(callback), iss }), 'AUTHORIZED')
  const first = provider.savedTokens()?.refresh_token
  assert.equal(await auth(provider, { serverUrl }), 'AUTHORIZED')
  assert.notEqual(provider.savedTokens()?.refresh_token, first)
  assert.deepEqual([provider.savedClient()?.client_id, provider.thrownAway], [url, []])
  assert.ok(!server.log().includes('client.regist'), 'the client registered')
}

for (const [name, client] of Object.entries(CLIENTS)) {
  test(`CIMD-07: with the document of ${name}, the MCP client signs in and refreshes without a registration`, async (t) => {
    const host = await openDocumentHost(t, { tlsName: 'localhost' })
    host.publish(client.document)
    await walk(t, client, host)
    assert.equal(host.requests.length, 1)
  })
}

test('CIMD-07: with the document of ChatGPT, the MCP client authenticates with the keys at its jwks_uri', async (t) => {
  const host = await openDocumentHost(t, { tlsName: 'localhost' })
  const key = makeClientKey('RS256')
  const { client_id: url } = host.client()
  const jwks_uri = new URL('/oauth/jwks.json', url).href
  const document = sendJson({ ...host.client(), ...CHATGPT.document, jwks_uri })
  const keys = sendJson({ keys: [{ ...key.jwk, kid: '1', use: 'sig', alg: 'RS256' }] })
  host.answer((request, response) => (request.url === '/client.json' ? document : keys)(request, response))
  const privateKey = key.privateKey.export({ format: 'pem', type: 'pkcs8' })
  await walk(t, CHATGPT, host, createPrivateKeyJwtAuth({ issuer: url, subject: url, privateKey, alg: 'RS256' }))
  assert.deepEqual(
    host.requests.map((request) => request.url),
    ['/client.json', '/oauth/jwks.json'],
  )
})
