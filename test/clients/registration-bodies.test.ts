import assert from 'node:assert/strict'
import { test } from 'node:test'
import { discoverAuthorizationServerMetadata, registerClient } from '@modelcontextprotocol/sdk/client/auth.js'
import { OAuthClientInformationFullSchema } from '@modelcontextprotocol/sdk/shared/auth.js'
import { OAuthClientInformationFullSchema as OldSchema } from 'mcp-sdk-old/shared/auth.js'
import { authorizeUrl, type RegisteredClient } from '../../tools/flow.ts'
import { openTestServer, type TestServer } from '../support/server.ts'
import { openPerson } from '../../tools/person.ts'

/** The registration request of a released application, as recorded on the wire. */
interface Application {
  readonly name: string
  readonly sends: Readonly<Record<string, unknown>>
  /** The members of the response that differ from the request. undefined: the member is absent. */
  readonly answered: Readonly<Record<string, unknown>>
  /** The redirect URIs that the application uses: all that it registered, and those with a port that it picks at run time. */
  readonly uses: readonly string[]
}

const CODE_AND_REFRESH = ['authorization_code', 'refresh_token']

const APPLICATIONS: readonly Application[] = [
  {
    name: 'VS Code',
    sends: {
      client_name: 'Visual Studio Code',
      client_uri: 'https://code.visualstudio.com',
      grant_types: [...CODE_AND_REFRESH, 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: ['code'],
      redirect_uris: [
        'https://insiders.vscode.dev/redirect',
        'https://vscode.dev/redirect',
        'http://127.0.0.1/',
        'http://127.0.0.1:33418/',
      ],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    answered: { grant_types: CODE_AND_REFRESH, application_type: undefined },
    uses: ['https://vscode.dev/redirect', 'http://127.0.0.1/', 'http://127.0.0.1:33418/', 'http://127.0.0.1:49152/'],
  },
  {
    name: 'Cursor',
    sends: {
      client_name: 'Cursor',
      redirect_uris: [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
        'http://localhost:8787/callback',
      ],
      grant_types: CODE_AND_REFRESH,
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    answered: { application_type: undefined },
    uses: [
      'cursor://anysphere.cursor-mcp/oauth/callback',
      'https://www.cursor.com/agents/mcp/oauth/callback',
      'http://localhost:8787/callback',
      'http://localhost:8788/callback',
    ],
  },
  {
    name: 'Cursor with Grok Bot',
    sends: {
      client_name: 'Cursor',
      redirect_uris: [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'grokbot://mcp/oauth/callback',
        'http://localhost:8787/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
      ],
      grant_types: CODE_AND_REFRESH,
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    answered: {},
    uses: ['cursor://anysphere.cursor-mcp/oauth/callback', 'grokbot://mcp/oauth/callback'],
  },
  {
    name: 'Warp',
    sends: {
      client_name: 'Warp',
      redirect_uris: ['warp://mcp/oauth2callback'],
      grant_types: CODE_AND_REFRESH,
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    answered: {},
    uses: ['warp://mcp/oauth2callback'],
  },
  {
    name: 'Claude.ai',
    sends: {
      client_name: 'Claude',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
      grant_types: CODE_AND_REFRESH,
      response_types: ['code'],
      scope: 'claudeai',
      token_endpoint_auth_method: 'client_secret_post',
    },
    answered: {},
    uses: ['https://claude.ai/api/mcp/auth_callback'],
  },
  {
    name: 'Claude Code',
    sends: {
      client_name: 'Claude Code (notes)',
      redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
      grant_types: CODE_AND_REFRESH,
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    answered: {},
    uses: ['http://localhost:54545/callback', 'http://127.0.0.1:54545/callback'],
  },
  {
    name: 'ChatGPT',
    sends: {
      client_name: 'ChatGPT',
      redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
      grant_types: CODE_AND_REFRESH,
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_basic',
    },
    answered: {},
    uses: ['https://chatgpt.com/connector_platform_oauth_redirect'],
  },
  {
    name: 'MCP Inspector',
    sends: {
      client_name: 'MCP Inspector',
      client_uri: 'https://github.com/modelcontextprotocol/inspector',
      redirect_uris: ['http://localhost:6274/oauth/callback', 'http://localhost:6274/oauth/callback/debug'],
      grant_types: CODE_AND_REFRESH,
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      scope: '',
    },
    answered: { scope: undefined },
    uses: ['http://localhost:6274/oauth/callback', 'http://localhost:6274/oauth/callback/debug'],
  },
  {
    name: 'an empty body',
    sends: {},
    answered: {
      redirect_uris: [],
      grant_types: ['authorization_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_post',
    },
    uses: [],
  },
]

for (const { name, sends, answered, uses } of APPLICATIONS) {
  test(`RFC 7591 §3.2.1: ${name} gets the metadata that it registered, as its SDK parses it`, async (t) => {
    const server = await openTestServer(t, { listen: true })
    const client = await register(server, sends)
    const { client_id: id, client_secret: secret, client_id_issued_at: issuedAt, ...rest } = client
    const { client_secret_expires_at: expiresAt, registration_client_uri: uri, ...others } = rest
    const { registration_access_token: managementToken, ...metadata } = others
    assert.deepEqual(metadata, withoutAbsent({ ...sends, ...answered }))
    assert.equal(typeof id, 'string')
    assert.equal(typeof issuedAt, 'number')
    const isPublic = sends['token_endpoint_auth_method'] === 'none'
    assert.equal(typeof secret, isPublic ? 'undefined' : 'string')
    assert.equal(expiresAt, isPublic ? undefined : 0)
    for (const one of [uri, managementToken]) assert.equal(typeof one, isPublic ? 'undefined' : 'string')
    assert.equal(OAuthClientInformationFullSchema.parse(client).client_id, id)
    assert.equal(OldSchema.parse(client).client_id, id)
  })

  if (uses.length === 0) continue
  test(`RFC 8252 §7.3: every redirect URI that ${name} uses leads to the sign-in page`, async (t) => {
    const server = await openTestServer(t, { listen: true })
    const client = await register(server, sends)
    const person = openPerson(server.origin)
    for (const redirectUri of uses) {
      const shown = await person.visit(server.origin + authorizeUrl(client, { redirect_uri: redirectUri }))
      assert.equal(shown.url.pathname, '/v2/oauth/sign-in', redirectUri)
      assert.equal(shown.status, 200)
    }
  })
}

test('RFC 7591 §2: a client that sends null for some fields gets null for these fields only', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const nullable = {
    client_name: null,
    client_uri: null,
    logo_uri: null,
    scope: null,
    contacts: null,
    tos_uri: null,
    policy_uri: null,
    software_id: null,
    software_version: null,
  }
  const sends = {
    ...nullable,
    redirect_uris: ['http://127.0.0.1/callback'],
    token_endpoint_auth_method: null,
    grant_types: null,
    response_types: null,
    jwks: null,
    jwks_uri: null,
    software_statement: null,
  }
  const client = await register(server, sends)
  const nulls = Object.entries(client).flatMap(([field, value]) => (value === null ? [field] : []))
  assert.deepEqual(nulls.toSorted(), Object.keys(nullable).toSorted())
  assert.deepEqual(client['grant_types'], ['authorization_code'])
  assert.equal(client['token_endpoint_auth_method'], 'client_secret_post')
})

test('RFC 7591 §3.2.2: the SDK reports a description of why a registration was refused', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const metadata = await discoverAuthorizationServerMetadata(server.origin)
  const clientMetadata = { redirect_uris: ['http://app.example/callback'] }
  await assert.rejects(registerClient(server.origin, { ...(metadata && { metadata }), clientMetadata }), {
    name: 'ServerError',
    message: 'A redirect URI is not allowed.',
  })
})

/** The headers of the SDKs: a content type and nothing else. */
async function register(server: TestServer, body: object): Promise<RegisteredClient> {
  const response = await fetch(`${server.origin}/v2/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  assert.equal(response.status, 201, await response.clone().text())
  return (await response.json()) as RegisteredClient
}

function withoutAbsent(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}
