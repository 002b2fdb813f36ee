import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { test, type TestContext } from 'node:test'
import { SERVER_TOKENS } from '../../src/admin/api/api.ts'
import { createApi, createApiCredentials } from '../../src/admin/api/api.ts'
import type { ApiTokens } from '../../src/ports/records/api.ts'
import { makeClientKey } from '../../tools/client-assertion.ts'
import { makeProof } from '../../tools/dpop-proof.ts'
import { postForm, registerClient, type Tokens } from '../../tools/flow.ts'
import { createAda } from '../support/accounts.ts'
import { credentialsOf } from '../support/hosts/http-agent.ts'
import { freePort } from '../../tools/process/free-ports.ts'
import { openTestServer, type TestServer } from '../support/server.ts'
import { openMemoryProvider } from './memory-provider.ts'
import { newestSdk } from './mcp-sdk.ts'
import { openPerson } from '../../tools/person.ts'
import { anApiDeclaration } from '../support/records.ts'

/** The server of docs/mcp.md and its two ways to check a token. */
const [SERVER = '', BY_INTROSPECTION = '', LOCALLY = ''] = [
  ...readFileSync('docs/mcp.md', 'utf8').matchAll(/^```js\n([\s\S]*?)^```$/gm),
].map(([, code]) => code ?? '')

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

/** Runs the unchanged code of the page in a process of its own. */
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
  const scopes = [{ name: 'notes:read', sentence: 'Read your notes', grantedTo: 'users-and-machines' } as const]
  await createApi(
    server.context,
    anApiDeclaration(resource, { name: 'Notes', scopes, tokens: { ...SERVER_TOKENS, format } }),
  )
  const { id, secret } = await createApiCredentials(server.context, resource)
  server.clock.advance(2000)
  const child = spawn(process.execPath, ['--input-type=module', '--eval', `${SERVER}\n${verify}`], {
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
