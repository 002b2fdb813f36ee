import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { decodeJwt } from 'jose'
import { declareApi, knowApis } from '../support/apis.ts'
import { createAda } from '../support/accounts.ts'
import { registerClient } from '../../tools/flow.ts'
import { freePort } from '../../tools/process/free-ports.ts'
import { openTestServer, type TestServer } from '../support/server.ts'
import { openMemoryProvider, type MemoryProvider } from './memory-provider.ts'
import { openPerson, type Person } from '../../tools/person.ts'
import { openResourceServer, type ResourceServer } from '../../tools/mcp-server.ts'

/** How a released MCP client library works without a user. undefined if it cannot. */
export interface McpMachine {
  /** Discovers the server, gets a token with the client's own credentials, and calls the tool. */
  readonly callTool: (client: { id: string; secret: string }, issuer: string, serverUrl: URL) => Promise<string>
}

/** The part of a released MCP client library that an application uses to sign in. */
export interface McpLibrary {
  readonly name: string
  /** The library's flow. It discovers, registers and sends the user to the server; with `callback` it redeems the code; with tokens it refreshes. */
  readonly auth: (
    provider: MemoryProvider,
    serverUrl: URL,
    callback: URL | undefined,
  ) => Promise<'AUTHORIZED' | 'REDIRECT'>
  /** Opens an MCP session over the library's transport and calls the tool. Rejects if the user must sign in first. */
  readonly callTool: (provider: MemoryProvider, serverUrl: URL) => Promise<string>
}

/** The authorization server, its user, and an MCP server that trusts it. */
export interface Surroundings {
  readonly server: TestServer
  readonly person: Person
  readonly resourceServer: ResourceServer
}

async function openSurroundings(
  t: TestContext,
  path: '' | '/mcp',
  env: Readonly<Record<string, string>>,
  scopes: readonly string[] | undefined,
): Promise<Surroundings> {
  const server = await openTestServer(t, { listen: true, env })
  await createAda(server)
  const resourceServer = await openResourceServer(t, { issuer: server.origin, path, scopes })
  return { server, person: openPerson(server.origin), resourceServer }
}

/** The scopes in the MCP server's metadata: none, as in the README, or those of the document that Grantor generates. */
const DOCUMENTS: readonly (readonly [name: string, scopes: readonly string[] | undefined])[] = [
  ['the document of the README', undefined],
  ['the document that Grantor generates', ['notes:read', 'notes:status']],
]

/** An MCP server that is one of three declared APIs. */
export async function openOneOfThree(t: TestContext, scopes: readonly string[] | undefined): Promise<Surroundings> {
  const surroundings = await openSurroundings(t, '/mcp', {}, scopes)
  const { server, resourceServer } = surroundings
  for (const [name, resource] of [
    ['notes', resourceServer.resource],
    ['files', 'https://files.example'],
    ['mail', 'https://mail.example'],
  ] as const) {
    await declareApi(server, resource, {}, [
      { name: `${name}:read`, sentence: `Read your ${name}`, grantedTo: 'users' },
      { name: `${name}:status`, sentence: `See the state of ${name}`, grantedTo: 'users-and-machines' },
      { name: `${name}:export`, sentence: `Export your ${name}`, grantedTo: 'approved-clients' },
    ])
  }
  knowApis(server)
  return surroundings
}

/** Registers, takes the user through the pages, and redeems the code. */
export async function walkIn(
  library: McpLibrary,
  { person, resourceServer }: Surroundings,
  provider: MemoryProvider,
): Promise<void> {
  assert.equal(await library.auth(provider, resourceServer.url, undefined), 'REDIRECT')
  const callback = await person.allow(linkOf(provider))
  assert.equal(callback.searchParams.get('state'), 'state-of-the-client')
  assert.equal(await library.auth(provider, resourceServer.url, callback), 'AUTHORIZED')
}

/** The tests that every MCP client library must pass. */
export function walkMcpLibrary(library: McpLibrary, machine: McpMachine | undefined): void {
  for (const [document, scopes] of DOCUMENTS) {
    test(`RFC 9728 §2: with ${document} and three APIs, ${library.name} gets the scopes of its own API`, async (t) => {
      const surroundings = await openOneOfThree(t, scopes)
      const { resourceServer } = surroundings
      const provider = openMemoryProvider()
      await walkIn(library, surroundings, provider)
      assert.equal(await library.callTool(provider, resourceServer.url), '7')
      assert.equal(resourceServer.lastClaims()?.['scope'], 'notes:read notes:status')
      assert.equal(await library.auth(provider, resourceServer.url, undefined), 'AUTHORIZED')
      assert.deepEqual(provider.thrownAway, [])
    })

    if (machine === undefined) continue
    test(`RFC 6749 §4.4: with ${document} and three APIs, ${library.name} gets the scopes that any client may have without a user`, async (t) => {
      const { server, resourceServer } = await openOneOfThree(t, scopes)
      const registered = { token_endpoint_auth_method: 'client_secret_basic', grant_types: ['client_credentials'] }
      const { client_id: id, client_secret: secret = '' } = await registerClient(server, registered)
      assert.equal(await machine.callTool({ id, secret }, server.origin, resourceServer.url), '7')
      assert.equal(resourceServer.lastClaims()?.['scope'], 'notes:status')
    })
  }

  test(`RT-08: ${library.name} can refresh although it is configured with more scopes than it got`, async (t) => {
    const surroundings = await openOneOfThree(t, undefined)
    const provider = openMemoryProvider({ scope: 'notes:read notes:export' })
    await walkIn(library, surroundings, provider)
    assert.equal(provider.savedTokens()?.scope, 'notes:read')
    assert.equal(await library.auth(provider, surroundings.resourceServer.url, undefined), 'AUTHORIZED')
    assert.equal(provider.savedTokens()?.scope, 'notes:read')
    assert.deepEqual(provider.thrownAway, [])
  })

  test(`${library.name}: from a 401 through sign-in and consent to a tool call`, async (t) => {
    const surroundings = await openSurroundings(t, '/mcp', {}, ['notes:read'])
    const { person, resourceServer } = surroundings
    const provider = openMemoryProvider()
    await assert.rejects(library.callTool(provider, resourceServer.url))
    const callback = await person.allow(linkOf(provider))
    assert.equal(await library.auth(provider, resourceServer.url, callback), 'AUTHORIZED')
    assert.equal(await library.callTool(provider, resourceServer.url), '7')
    assert.equal(resourceServer.lastClaims()?.['client_id'], provider.savedClient()?.client_id)
  })

  test(`${library.name}: a refused token is refreshed without the user`, async (t) => {
    const surroundings = await openSurroundings(t, '/mcp', {}, ['notes:read'])
    const { resourceServer } = surroundings
    const provider = openMemoryProvider()
    await walkIn(library, surroundings, provider)
    const first = provider.savedTokens()
    resourceServer.refuse(first?.access_token ?? '')
    assert.equal(await library.callTool(provider, resourceServer.url), '7')
    assert.notEqual(provider.savedTokens()?.refresh_token, first?.refresh_token)
    assert.deepEqual(provider.thrownAway, [])
  })

  for (const method of ['client_secret_post', 'client_secret_basic'] as const) {
    test(`${library.name}: ${method} redeems and refreshes with the secret of its registration`, async (t) => {
      const surroundings = await openSurroundings(t, '/mcp', {}, ['notes:read'])
      const provider = openMemoryProvider({ token_endpoint_auth_method: method })
      await walkIn(library, surroundings, provider)
      assert.ok(provider.savedClient()?.client_secret)
      const first = provider.savedTokens()?.refresh_token
      assert.equal(await library.auth(provider, surroundings.resourceServer.url, undefined), 'AUTHORIZED')
      assert.notEqual(provider.savedTokens()?.refresh_token, first)
      assert.deepEqual(provider.thrownAway, [])
    })
  }

  test(`${library.name}: an API whose identifier is a bare origin is found with and without a slash`, async (t) => {
    const surroundings = await openSurroundings(t, '', {}, ['notes:read'])
    const { server, resourceServer } = surroundings
    await declareApi(server, resourceServer.resource, {}, [
      { name: 'notes:read', sentence: 'Read your notes', grantedTo: 'users' },
    ])
    const provider = openMemoryProvider()
    await walkIn(library, surroundings, provider)
    assert.equal(decodeJwt(provider.savedTokens()?.access_token ?? '').aud, resourceServer.resource)
    assert.equal(await library.auth(provider, resourceServer.url, undefined), 'AUTHORIZED')
    assert.equal(await library.callTool(provider, resourceServer.url), '7')
  })

  test(`RFC 8414 §3.1: ${library.name} finds an issuer with a path, signs in and refreshes`, async (t) => {
    const port = await freePort()
    const env = { PORT: String(port), GRANTOR_ISSUER: `http://localhost:${port}/tenants/one` }
    const surroundings = await openSurroundings(t, '/mcp', env, ['notes:read'])
    const provider = openMemoryProvider()
    await walkIn(library, surroundings, provider)
    assert.equal(decodeJwt(provider.savedTokens()?.access_token ?? '').iss, env.GRANTOR_ISSUER)
    assert.equal(await library.auth(provider, surroundings.resourceServer.url, undefined), 'AUTHORIZED')
    assert.deepEqual(provider.thrownAway, [])
  })
}

/** Two processes refresh for an hour, on one store of tokens and on two copies of it. Neither asks the user again. */
export async function refreshForAnHour(t: TestContext, library: McpLibrary): Promise<void> {
  const surroundings = await openSurroundings(t, '/mcp', {}, ['notes:read'])
  const { server, resourceServer } = surroundings
  const first = openMemoryProvider()
  await walkIn(library, surroundings, first)
  const link = first.link()
  const copy = copyOf(first)
  for (const other of [first, copy]) {
    for (let minutes = 0; minutes < 60; minutes += 15) {
      const refreshOne = (one: MemoryProvider) => library.auth(one, resourceServer.url, undefined)
      // At once, and then one after the other: then the other copy has an earlier token.
      const refreshed = await Promise.all([first, other].map(refreshOne))
      for (const one of [first, other]) {
        server.clock.advance(7.5 * 60_000)
        refreshed.push(await refreshOne(one))
      }
      assert.deepEqual(refreshed, Array(4).fill('AUTHORIZED'))
    }
  }
  for (const one of [first, copy]) assert.deepEqual(one.thrownAway, [])
  assert.deepEqual([first.link(), copy.link()], [link, undefined])
}

/** What another process read from the store of the first one, and keeps. */
function copyOf(provider: MemoryProvider): MemoryProvider {
  const copy = openMemoryProvider()
  const [client, tokens] = [provider.savedClient(), provider.savedTokens()]
  assert.ok(client && tokens)
  void copy.saveClientInformation?.(client)
  copy.saveTokens(tokens)
  return copy
}

export function linkOf(provider: MemoryProvider): URL {
  const link = provider.link()
  assert.ok(link, 'The library did not send the user to the authorization endpoint.')
  return link
}

export function codeOf(callback: URL): string {
  const code = callback.searchParams.get('code')
  assert.ok(code, `There is no code in ${callback.href}`)
  return code
}

/** The text of a tool's result. The libraries have different types for it. */
export function textOf(result: object): string {
  const { content } = result as { readonly content: readonly { readonly text: string }[] }
  return content[0]?.text ?? ''
}
