import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { auth } from '@modelcontextprotocol/client'
import { SERVER_TOKENS } from '../../src/admin/api/api.ts'
import { createApi, createApiCredentials } from '../../src/admin/api/api.ts'
import type { ApiScope, ApiTokens } from '../../src/ports/records/api.ts'
import { makeClientKey } from '../../tools/client-assertion.ts'
import { makeProof } from '../../tools/dpop-proof.ts'
import { postForm, registerClient, type Tokens } from '../../tools/flow.ts'
import { createAda } from '../support/accounts.ts'
import { credentialsOf } from '../support/hosts/http-agent.ts'
import { freePort } from '../../tools/process/free-ports.ts'
import { openTestServer, type TestServer } from '../support/server.ts'
import { openMemoryProvider } from './memory-provider.ts'
import { callNamedTool } from './mcp-client.ts'
import { newestSdk } from './mcp-sdk.ts'
import { codeOf, linkOf } from './mcp-walk.ts'
import { openPerson } from '../../tools/person.ts'
import { anApiDeclaration } from '../support/records.ts'

/** The MCP server of docs/mcp.md and its two ways to check a token. */
const FOLDER = new URL('../../examples/resource-servers/mcp-node/', import.meta.url)
const SERVER = readFileSync(new URL('server.js', FOLDER), 'utf8')
const [BY_INTROSPECTION, LOCALLY] = ['introspection.js', 'local-verification.js'] as const

interface Recipe {
  readonly server: TestServer
  /** The URL for MCP clients. */
  readonly resource: string
}

/** A deliberate deviation from the recipe. */
interface Mistake {
  readonly issuer?: string
  readonly secret?: string
}

/** Runs the program in a process of its own, with one of the two ways. */
async function followRecipe(
  t: TestContext,
  verify: string,
  format: ApiTokens['format'],
  mistake: Mistake = {},
): Promise<Recipe> {
  const server = await openTestServer(t, { listen: true })
  await createAda(server)
  const port = await freePort()
  const resource = `http://127.0.0.1:${port}/mcp`
  const scopes: readonly ApiScope[] = [
    { name: 'notes:read', sentence: 'Read your notes', grantedTo: 'users-and-machines' },
    { name: 'notes:write', sentence: 'Write notes', grantedTo: 'users' },
  ]
  await createApi(
    server.context,
    anApiDeclaration(resource, { name: 'Notes', scopes, tokens: { ...SERVER_TOKENS, format } }),
  )
  const { id, secret } = await createApiCredentials(server.context, resource)
  server.clock.advance(2000)
  const program = SERVER.replace('./introspection.js', String(new URL(verify, FOLDER)))
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    env: {
      ...process.env,
      ISSUER: mistake.issuer ?? server.origin,
      RESOURCE: resource,
      MCP_PORT: String(port),
      API_ID: id,
      API_SECRET: mistake.secret ?? secret,
    },
    // With a mistake the program prints the error of each request, which is expected.
    stdio: ['ignore', 'pipe', Object.keys(mistake).length === 0 ? 'inherit' : 'ignore'],
  })
  const ended = once(child, 'exit')
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  assert.match(String((await Promise.race([once(child.stdout, 'data'), ended]))[0]), /listening/)
  return { server, resource }
}

for (const [way, verify, format] of [
  ['uses local verification', LOCALLY, 'jwt'],
  ['introspects opaque tokens', BY_INTROSPECTION, 'opaque'],
] as const) {
  test(`RFC 9728 §5: ${newestSdk.name} finds its way from the 401 of the MCP server in docs/mcp.md that ${way} to a tool call`, async (t) => {
    const { server, resource } = await followRecipe(t, verify, format)
    const url = new URL(resource)
    const provider = openMemoryProvider()
    await assert.rejects(newestSdk.callTool(provider, url))
    const link = provider.link()
    assert.ok(link, 'The library did not send the user to the authorization endpoint.')
    assert.equal(link.origin, server.origin)
    assert.equal(link.searchParams.get('resource'), resource)
    const callback = await openPerson(server.origin).allow(link)
    assert.equal(await newestSdk.auth(provider, url, callback), 'AUTHORIZED')
    const token = provider.savedTokens()?.access_token ?? ''
    assert.equal(token.startsWith('gat_'), format === 'opaque')
    assert.equal(await newestSdk.callTool(provider, url), '7')
    const stranger = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${token}x` } })
    assert.equal(stranger.status, 401)
    const machine = await registerClient(server, { grant_types: ['client_credentials'], redirect_uris: [] })
    const address = `${server.origin}/v2/oauth/token`
    const dpop = makeProof(makeClientKey('ES256'), { method: 'POST', address, nowMs: server.clock.now() })
    const form = { ...credentialsOf(machine), grant_type: 'client_credentials', resource }
    for (const [headers, status] of [
      [{}, 406],
      [{ dpop }, 401],
    ] as const) {
      const { access_token: own } = (await postForm(server, '/v2/oauth/token', form, headers)).json<Tokens>()
      const answer = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${own}` } })
      assert.equal(answer.status, status, 'RFC 9449 §7.2: a bound token is no bearer token.')
    }
  })
}

test('RFC 6750 §3.1: the MCP server in docs/mcp.md asks @modelcontextprotocol/client for read access, and for more by a tool', async (t) => {
  const { server, resource } = await followRecipe(t, BY_INTROSPECTION, 'opaque')
  const url = new URL(resource)
  const provider = openMemoryProvider()
  const person = openPerson(server.origin)
  const redeem = async (callback: URL) =>
    assert.equal(
      await auth(provider, { serverUrl: url, authorizationCode: codeOf(callback), iss: server.origin }),
      'AUTHORIZED',
    )
  await assert.rejects(callNamedTool(provider, url, 'count'))
  assert.equal(linkOf(provider).searchParams.get('scope'), 'notes:read')
  await redeem(await person.allow(linkOf(provider)))
  assert.equal(await callNamedTool(provider, url, 'count'), '7')
  const { access_token: token } = provider.savedTokens() ?? {}

  await assert.rejects(callNamedTool(provider, url, 'add'))
  assert.equal(linkOf(provider).searchParams.get('scope'), 'notes:read notes:write')
  const consent = await person.visit(linkOf(provider))
  assert.match(consent.body, /Write notes/)
  await redeem((await person.submit(consent, { decision: 'allow' })).url)
  for (const [tool, said] of [
    ['add', 'added'],
    ['count', '7'],
  ] as const)
    assert.equal(await callNamedTool(provider, url, tool), said)

  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'add' } }
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  for (const [body, status] of [
    [JSON.stringify(call), 403],
    [JSON.stringify([{ ...call, params: { name: 'count' } }, call]), 403],
    [JSON.stringify({ ...call, params: { name: 'constructor' } }), 200],
    ['null', 400],
    ['{', 400],
  ] as const) {
    const answer = await fetch(url, { method: 'POST', headers, body })
    assert.equal(answer.status, status, body)
    if (status !== 403) continue
    const document = `${url.origin}/.well-known/oauth-protected-resource/mcp`
    const said = answer.headers.get('www-authenticate') ?? ''
    for (const member of ['error="insufficient_scope"', 'scope="notes:write"', `resource_metadata="${document}"`])
      assert.ok(said.includes(member), said)
  }
})

/** A text with the syntax of a JWT. Its key is looked up before the signature is checked. */
const JWT = ['{"alg":"ES256","typ":"at+jwt","kid":"none"}', '{}', '']
  .map((part) => Buffer.from(part || 'signature').toString('base64url'))
  .join('.')

for (const [fault, verify, format, mistake] of [
  ['introspection with a wrong secret', BY_INTROSPECTION, 'opaque', { secret: 'gas_wrong' }],
  ['introspection while Grantor is down', BY_INTROSPECTION, 'opaque', { issuer: 'http://127.0.0.1:9' }],
  ['local verification while Grantor is down', LOCALLY, 'jwt', { issuer: 'http://127.0.0.1:9' }],
] as const) {
  test(`RFC 9110 §15.6.4: the MCP server in docs/mcp.md answers 503 and continues to serve after ${fault}`, async (t) => {
    const { resource } = await followRecipe(t, verify, format, mistake)
    const { origin, pathname } = new URL(resource)
    const document = await fetch(`${origin}/.well-known/oauth-protected-resource${pathname}`)
    assert.equal(document.status, 'issuer' in mistake ? 503 : 200)
    for (const time of ['first', 'second']) {
      const answer = await fetch(resource, { method: 'POST', headers: { authorization: `Bearer ${JWT}` } })
      assert.equal(answer.status, 503, time)
    }
    assert.equal((await fetch(resource, { method: 'POST' })).status, 401)
  })
}

test('RFC 9068 §4: the code of the README accepts a token for its MCP server, and no token for another one', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const [, code = ''] = /^```js\n([\s\S]*?)^```$/m.exec(readFileSync('README.md', 'utf8')) ?? []
  assert.match(code, /'http:\/\/localhost:3000'/)
  const client = await registerClient(server, { grant_types: ['client_credentials'], redirect_uris: [] })
  const form = { ...credentialsOf(client), grant_type: 'client_credentials' }
  const tokens = ['http://localhost:8787/mcp', 'http://localhost:8787/other'].map(
    async (resource) => (await postForm(server, '/v2/oauth/token', { ...form, resource })).json<Tokens>().access_token,
  )
  const ask = `
    for (const token of ${JSON.stringify(await Promise.all(tokens))})
      console.log(await verify(token).then(({ sub }) => sub, ({ code }) => code))`
  const program = `${code.replace('http://localhost:3000', server.origin)}${ask}`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said = await text(child.stdout)
  assert.equal(said, `${client.client_id}\nERR_JWT_CLAIM_VALIDATION_FAILED\n`)
})
