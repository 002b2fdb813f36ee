import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auth, ClientCredentialsProvider, PrivateKeyJwtProvider } from '@modelcontextprotocol/client'
import { registerKeyClient } from '../support/key-clients.ts'
import { openMemoryProvider } from './memory-provider.ts'
import { callTool } from './mcp-client.ts'
import { codeOf, linkOf, openOneOfThree, walkMcpLibrary, type McpLibrary, type McpMachine } from './mcp-walk.ts'

const library: McpLibrary = {
  name: '@modelcontextprotocol/client 2.4',
  auth: (provider, serverUrl, callback) =>
    auth(provider, {
      serverUrl,
      // The library refuses a callback without the issuer if the metadata announces one (RFC 9207 §2.4).
      ...(callback === undefined
        ? {}
        : { authorizationCode: codeOf(callback), iss: callback.searchParams.get('iss') ?? '' }),
    }),
  callTool,
}

const machine: McpMachine = {
  callTool: ({ id: clientId, secret: clientSecret }, expectedIssuer, serverUrl) =>
    callTool(new ClientCredentialsProvider({ clientId, clientSecret, expectedIssuer }), serverUrl),
}

walkMcpLibrary(library, machine)

test(`RFC 6750 §3.1: ${library.name} registers the scope of the first challenge, and gets more after a 403`, async (t) => {
  const { person, resourceServer } = await openOneOfThree(t, undefined)
  const provider = openMemoryProvider()
  for (const scope of ['notes:status', 'notes:read']) {
    resourceServer.demand(scope)
    await assert.rejects(callTool(provider, resourceServer.url))
    assert.partialDeepStrictEqual(provider.savedClient(), { scope: 'notes:status' })
    const callback = await person.allow(linkOf(provider))
    assert.equal(await library.auth(provider, resourceServer.url, callback), 'AUTHORIZED')
    assert.equal(await callTool(provider, resourceServer.url), '7')
  }
  assert.equal(resourceServer.lastClaims()?.['scope'], 'notes:status notes:read')
})

test(`CA-01: ${library.name} calls a tool without a user, with a private key`, async (t) => {
  const { server, resourceServer } = await openOneOfThree(t, undefined)
  const { client, key } = await registerKeyClient(server, { grant_types: ['client_credentials'] })
  const privateKey = key.privateKey.export({ format: 'pem', type: 'pkcs8' })
  const options = { clientId: client.client_id, privateKey, algorithm: key.algorithm, expectedIssuer: server.origin }
  for (let call = 0; call < 2; call += 1)
    assert.equal(await callTool(new PrivateKeyJwtProvider(options), resourceServer.url), '7')
  assert.equal(resourceServer.lastClaims()?.['scope'], 'notes:status')
})
