import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as client from 'openid-client'
import { TOKEN_EXCHANGE } from '../../src/protocol/token/grant-types.ts'
import type { Resource } from '../../src/protocol/token/resource.ts'
import type { Scope } from '../../src/protocol/token/scope.ts'
import { obtainTokens, registerClient, type RegisteredClient } from '../../tools/flow.ts'
import { createAda } from '../support/accounts.ts'
import { declareApi, knowApis } from '../support/apis.ts'
import { openTestServer } from '../support/server.ts'

const MCP = 'https://mcp.example/mcp'
const FILES = 'https://files.example'
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'

test('TX-01: openid-client 6 exchanges the token of a user, and the other API learns who acts', async (t) => {
  const server = await openTestServer(t, { listen: true })
  await createAda(server)
  const scopes = ['files:read', 'files:write'].map((name) => ({ name, sentence: 'Files', grantedTo: 'users' as const }))
  const rule = { resource: MCP as Resource, scope: 'files:read' as Scope }
  const [mcp, files] = [await declareApi(server, MCP), await declareApi(server, FILES, {}, scopes, [rule])]
  knowApis(server)
  const { access_token: subject } = await obtainTokens(server, await registerClient(server), { resource: MCP })
  const options: client.DiscoveryRequestOptions = { algorithm: 'oauth2', execute: [client.allowInsecureRequests] }
  const as = ({ client_id: id, client_secret: secret = '' }: RegisteredClient): Promise<client.Configuration> =>
    client.discovery(new URL(server.origin), id, {}, client.ClientSecretBasic(secret), options)
  const [own, target] = [await as(mcp), await as(files)]
  assert.ok(own.serverMetadata().grant_types_supported?.includes(TOKEN_EXCHANGE))

  const request = { subject_token: subject, subject_token_type: ACCESS_TOKEN }
  const tokens = await client.genericGrantRequest(own, TOKEN_EXCHANGE, { ...request, resource: FILES })
  assert.deepEqual([tokens.scope, tokens['issued_token_type']], ['files:read', ACCESS_TOKEN])
  const { active, aud, act } = await client.tokenIntrospection(target, tokens.access_token)
  assert.deepEqual({ active, aud, act }, { active: true, aud: FILES, act: { sub: MCP } })
  const refused = client.genericGrantRequest(own, TOKEN_EXCHANGE, { ...request, resource: MCP })
  await assert.rejects(refused, { error: 'invalid_target' })
  const wider = client.genericGrantRequest(own, TOKEN_EXCHANGE, { ...request, resource: FILES, scope: 'files:write' })
  await assert.rejects(wider, { error: 'invalid_scope', error_description: /not given in exchange/ })
})
