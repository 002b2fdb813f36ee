import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auth, ClientCredentialsProvider, PrivateKeyJwtProvider } from '@modelcontextprotocol/client'
import { addApp } from '../../tools/sign-in/app.ts'
import { knowApis } from '../support/apis.ts'
import { registerKeyClient } from '../support/key-clients.ts'
import { perform } from '../support/tasks.ts'
import { openMemoryProvider } from './memory-provider.ts'
import { callTool } from './mcp-client.ts'
import {
  codeOf,
  linkOf,
  openOneOfThree,
  refreshForAnHour,
  walkIn,
  walkMcpLibrary,
  type McpLibrary,
  type McpMachine,
} from './mcp-walk.ts'

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

test(`AG-19: two processes of ${library.name}, on one store and on two copies, need no authorization for an hour`, (t) =>
  refreshForAnHour(t, library))

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

test(`RFC 9470 §5, RFC 6750 §3.1: a 403 leads ${library.name} to a step-up, and back with a scope that requires two factors`, async (t) => {
  const { server, person, resourceServer } = await openOneOfThree(t, undefined)
  await perform(server.context, 'api.update', {
    resource: resourceServer.resource,
    step_up: [{ scope: 'notes:read', level: '2fa' }],
  })
  knowApis(server)
  const provider = openMemoryProvider()
  resourceServer.demand('notes:status')
  await assert.rejects(callTool(provider, resourceServer.url))
  assert.equal(await library.auth(provider, resourceServer.url, await person.allow(linkOf(provider))), 'AUTHORIZED')
  assert.equal(await callTool(provider, resourceServer.url), '7')

  const app = await addApp(server)
  resourceServer.demand('notes:read')
  await assert.rejects(callTool(provider, resourceServer.url))
  const page = await person.visit(linkOf(provider))
  assert.match(page.body, /asks for more: confirm with your second step/)
  const consent = await person.submit(page, { code: app.code() })
  const { url: callback } = await person.submit(consent, { decision: 'allow' })
  assert.equal(await library.auth(provider, resourceServer.url, callback), 'AUTHORIZED')
  assert.equal(await callTool(provider, resourceServer.url), '7')
  assert.partialDeepStrictEqual(resourceServer.lastClaims(), {
    scope: 'notes:status notes:read',
    acr: 'urn:grantor:acr:2fa',
  })
})

test(`ACS-02: ${library.name} goes on with the scope that an access rule leaves, and asks the user again where nothing is left`, async (t) => {
  const { server, person, resourceServer } = await openOneOfThree(t, undefined)
  const { resource } = resourceServer
  const rule = async (task: 'create' | 'update', change: object): Promise<void> => {
    await perform(server.context, `access-rule.${task}`, { rule_id: 'r', ...change })
    knowApis(server)
  }
  await rule('create', { scopes: [`${resource}=notes:read`], clients: ['source:registration'] })
  const provider = openMemoryProvider()
  await walkIn(library, { server, person, resourceServer }, provider)
  assert.equal(await callTool(provider, resourceServer.url), '7')
  assert.equal(resourceServer.lastClaims()?.['scope'], 'notes:status')
  // A refresh repeats the scope of the registration.
  assert.equal(await library.auth(provider, resourceServer.url, undefined), 'AUTHORIZED')
  assert.deepEqual(provider.thrownAway, [])
  // The API, whose token the client has, is closed for everyone: the client asks the user again, who reads why.
  await rule('update', { scopes: [], apis: [resource], sentence: 'Not through apps' })
  assert.equal(await library.auth(provider, resourceServer.url, undefined), 'REDIRECT')
  const page = await person.visit(linkOf(provider))
  assert.match(page.body, /Not through apps/)
  const { url: callback } = await person.submit(page, { decision: 'deny' })
  assert.equal(callback.searchParams.get('error'), 'access_denied')
  await rule('update', { state: 'report' })
  const again = openMemoryProvider()
  await walkIn(library, { server, person, resourceServer }, again)
  assert.equal(again.savedTokens()?.scope, 'notes:read notes:status')
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
