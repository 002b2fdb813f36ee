import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CrossAppAccessProvider, discoverAndRequestJwtAuthGrant } from '@modelcontextprotocol/client'
import { openResourceServer } from '../../tools/mcp-server.ts'
import { declareApi, knowApis } from '../support/apis.ts'
import { sendJson } from '../support/hosts/web-host.ts'
import { openAssertingServer } from '../support/provider/asserting.ts'
import { callTool } from './mcp-client.ts'

test('JAG-01: @modelcontextprotocol/client 2.4 calls a tool with an assertion, again with a new one, and not when it is not listed', async (t) => {
  const { server, host, client, assertion, list } = await openAssertingServer(t, {}, { listen: true })
  const { url, resource, refuse, lastClaims } = await openResourceServer(t, {
    issuer: server.origin,
    path: '/mcp',
    scopes: ['notes:read'],
  })
  await declareApi(server, resource, {}, [{ name: 'notes:read', sentence: 'Read', grantedTo: 'users' }])
  await list({ assertion_apis: [resource] })
  // RFC 8693 §2.2.1, as the draft has it in §4.3.
  host.answer('/token', (request, response) => {
    const access_token = assertion({ claims: { resource, scope: 'notes:read' } })
    const type = 'urn:ietf:params:oauth:token-type:id-jag'
    sendJson({ access_token, issued_token_type: type, token_type: 'N_A', expires_in: 300 })(request, response)
  })
  const provider = new CrossAppAccessProvider({
    assertion: async ({ authorizationServerUrl: audience, resourceUrl, scope = '' }) => {
      assert.deepEqual([audience, resourceUrl, scope], [server.origin, resource, 'notes:read'])
      const idp = { idpUrl: host.issuer, clientId: 'app-at-idp', clientSecret: 'secret', idToken: 'of Ada' }
      return (await discoverAndRequestJwtAuthGrant({ ...idp, audience, resource: resourceUrl, scope })).jwtAuthGrant
    },
    clientId: client.client_id,
    clientSecret: client.client_secret ?? '',
    expectedIssuer: server.origin,
  })
  assert.equal(await callTool(provider, url), '7')
  const first = provider.tokens()
  assert.partialDeepStrictEqual(lastClaims(), { client_id: client.client_id, scope: 'notes:read' })
  refuse(first?.access_token ?? '')
  assert.equal(await callTool(provider, url), '7')
  assert.notEqual(provider.tokens()?.access_token, first?.access_token)
  await list({ assertion_clients: [], assertion_apis: [] })
  knowApis(server)
  refuse(provider.tokens()?.access_token ?? '')
  await assert.rejects(callTool(provider, url), /unauthorized_client|not registered/)
})
