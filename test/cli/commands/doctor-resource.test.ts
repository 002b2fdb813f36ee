import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { createApi, SERVER_TOKENS } from '../../../src/admin/api/api.ts'
import type { Finding } from '../../../src/checks/finding.ts'
import type { ApiTokens } from '../../../src/ports/records/api.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { knowApis } from '../../support/apis.ts'
import { command, openServerForCommands, runHere } from '../../support/command.ts'
import { openDocumentHost } from '../../support/hosts/document-host.ts'
import { openPlace } from '../../support/process.ts'
import { anApiDeclaration } from '../../support/records.ts'

/** Each case is an MCP server of its own, which serves what real ones have served. */

const server = await openServerForCommands(WHOLE_FILE)
const ISSUER = server.origin

interface Members {
  readonly resource?: unknown
  readonly authorization_servers?: unknown
  readonly scopes_supported?: unknown
  readonly dpop_bound_access_tokens_required?: unknown
}

/** How an MCP server differs from a right one. Functions get the address that clients connect to. */
interface Manner {
  readonly members?: (url: string) => Members | undefined
  readonly challenge?: (documentUrl: string) => string | undefined
  readonly status?: number
  /** What a token that no server issued is answered with. */
  readonly falseToken?: number
  readonly location?: string
  /** What the operator declared; undefined: nothing. */
  readonly declared?: (url: string) => string | undefined
  readonly binding?: ApiTokens['binding']
  readonly raw?: (response: ServerResponse) => void
}

const right = (url: string): Members => ({
  resource: url,
  authorization_servers: [ISSUER],
  scopes_supported: ['notes:read', 'notes:write'],
})

async function openMcpServer(t: Pick<TestContext, 'after'>, manner: Manner): Promise<string> {
  const http = createServer((request, response) => answer(request, response))
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    http.closeAllConnections()
    http.close()
  })
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const url = `${origin}/mcp`
  const documentUrl = `${origin}/.well-known/oauth-protected-resource/mcp`
  const { members = right, challenge = (at: string) => `Bearer resource_metadata="${at}"` } = manner

  function answer(request: IncomingMessage, response: ServerResponse): void {
    if (`${origin}${request.url}` === documentUrl) {
      if (manner.raw !== undefined) return manner.raw(response)
      const document = members(url)
      response.writeHead(document === undefined ? 404 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(document))
      return
    }
    const header = challenge(documentUrl)
    const isFalse = request.headers.authorization !== undefined
    response.writeHead((isFalse ? manner.falseToken : undefined) ?? manner.status ?? 401, {
      ...(header === undefined ? {} : { 'www-authenticate': header }),
      ...(manner.location === undefined ? {} : { location: manner.location }),
    })
    response.end()
  }

  const resource = manner.declared === undefined ? url : manner.declared(url)
  if (resource !== undefined) {
    const scopes = [
      { name: 'notes:read', sentence: 'Read your notes', grantedTo: 'users' },
      { name: 'notes:write', sentence: 'Write notes', grantedTo: 'users' },
      { name: 'notes:export', sentence: 'Export your notes', grantedTo: 'approved-clients' },
    ] as const
    await createApi(
      server.context,
      anApiDeclaration(resource, { scopes, tokens: { ...SERVER_TOKENS, binding: manner.binding ?? 'any' } }),
    )
    knowApis(server)
  }
  return url
}

/** What the doctor says of the resource, but what is right. */
async function examine(url: string): Promise<{ readonly code: number | null; readonly said: readonly string[] }> {
  const { code, stdout, stderr } = await command(['doctor', '--json', '--resource', url])
  assert.equal(stderr, '')
  const { findings } = JSON.parse(stdout) as { readonly findings: readonly Finding[] }
  const ours = findings.filter(({ check }) => check === 'resource')
  assert.ok(ours.every(({ verdict, remedy }) => (verdict === 'ok') === (remedy === undefined)))
  const said = ours.filter(({ verdict }) => verdict !== 'ok')
  return { code, said: said.map(({ verdict, message, remedy }) => `${verdict}: ${message} ${remedy}`) }
}

test('RFC 9728 §5: for a correct MCP server there is no finding, and the exit code is 0', async (t) => {
  assert.deepEqual(await examine(await openMcpServer(t, {})), { code: 0, said: [] })
})

test('RFC 9728 §2: for the minimal document, without scopes, there is no finding', async (t) => {
  const members = (url: string): Members => ({ resource: url, authorization_servers: [ISSUER] })
  assert.deepEqual(await examine(await openMcpServer(t, { members })), { code: 0, said: [] })
})

test('RFC 9449 §7.1: for an API whose document and 401 say that tokens are bound to a key there is no finding', async (t) => {
  const url = await openMcpServer(t, {
    binding: 'dpop',
    members: (address) => ({ ...right(address), dpop_bound_access_tokens_required: true }),
    challenge: (at) => `Bearer resource_metadata="${at}", DPoP algs="ES256", resource_metadata="${at}"`,
  })
  assert.deepEqual(await examine(url), { code: 0, said: [] })
})

/** A fault of an MCP server, and what the doctor says: its verdict, what is wrong, and what to do. */
const FAULTS: readonly (readonly [fault: string, manner: Manner, says: RegExp])[] = [
  [
    'RFC 8414 §3.3: the issuer has a slash that a library added',
    { members: (url) => ({ ...right(url), authorization_servers: [`${ISSUER}/`] }) },
    /^failed: .*"issuer mismatch".* AnyHttpUrl adds one.*plain str/,
  ],
  [
    'it names another issuer',
    { members: (url) => ({ ...right(url), authorization_servers: ['https://other.example'] }) },
    /^failed: The document names https:\/\/other\.example .*authorization_servers": \["http/,
  ],
  [
    'it names no issuer',
    { members: (url) => ({ ...right(url), authorization_servers: undefined }) },
    /^failed: The document names no authorization server\. Add "authorization_servers"/,
  ],
  [
    'it names another issuer first',
    { members: (url) => ({ ...right(url), authorization_servers: ['https://other.example', ISSUER] }) },
    /^warning: .*most clients use the first/,
  ],
  [
    'RFC 8707 §2: nothing is declared',
    { declared: () => undefined },
    /^failed: http.*\/mcp is not declared.*Run: grantor api create --resource http.*\/mcp /,
  ],
  [
    'RFC 9728 §3.3: the document and the declaration differ by a slash',
    { declared: (url) => `${url}/` },
    /^failed: The resource in the document is .*\/mcp, but the API is declared as .*\/mcp\/, which is the audience.*byte for byte/,
  ],
  [
    'RFC 9728 §3.3: the document is of another address',
    { members: (url) => ({ ...right(url), resource: 'http://localhost:9/mcp' }) },
    /^failed: .*is http:\/\/localhost:9\/mcp, which is not .*clients reject it/,
  ],
  [
    'the document has no resource',
    { members: (url) => ({ ...right(url), resource: 7 }) },
    /^failed: The document has no resource\. Add "resource": "http.*\/mcp"/,
  ],
  [
    'scopes_supported is empty',
    { members: (url) => ({ ...right(url), scopes_supported: [] }) },
    /^warning: scopes_supported is empty.*notes:read.*RemoteAuthProvider\(scopes_supported/,
  ],
  [
    'a scope is listed that only approved clients may have',
    { members: (url) => ({ ...right(url), scopes_supported: ['notes:read', 'notes:export'] }) },
    /^warning: scopes_supported lists notes:export, .*It grants: notes:read/,
  ],
  [
    'only some of the declared scopes are listed',
    { members: (url) => ({ ...right(url), scopes_supported: ['notes:read'] }) },
    /^warning: scopes_supported lists notes:read and not notes:write, so clients do not request notes:write.*403/,
  ],
  [
    'no scope that is listed is declared',
    { members: (url) => ({ ...right(url), scopes_supported: ['read'] }) },
    /^failed: scopes_supported lists read, .*declare the rest: grantor api update/,
  ],
  [
    'RFC 9728 §5.1: the 401 names no document',
    { challenge: () => 'Bearer' },
    /^warning: The 401 has no resource_metadata .*RemoteAuthProvider/,
  ],
  [
    'RFC 9449 §7.1: neither the document nor the 401 says that tokens are bound to a key',
    { binding: 'dpop' },
    /^warning: .*--binding dpop, but its document has no "dpop_bound.*, and its 401 has no challenge .* DPoP\. Add it/,
  ],
  [
    'RFC 9449 §7.1: the 401 does not say that tokens are bound to a key',
    { binding: 'dpop', members: (url) => ({ ...right(url), dpop_bound_access_tokens_required: true }) },
    /^warning: .*--binding dpop, but its 401 has no challenge/,
  ],
  ['RFC 6750 §3: the 401 has no challenge', { challenge: () => undefined }, /^warning: The 401 has no WWW-Auth/],
  [
    'the document is at another host, which is not asked',
    { challenge: () => 'Bearer resource_metadata="http://169.254.169.254/x"' },
    /^failed: There is no protected resource metadata at http:\/\/169.*another host, and was not requested/,
  ],
  [
    'the challenge names no address',
    { challenge: () => 'Bearer resource_metadata="/x"' },
    /^failed: .* at \/x: this is not a URL/,
  ],
  [
    'there is no document',
    { members: () => undefined },
    /^failed: There is no protected .* status 404 .*docs\/mcp\.md/,
  ],
  [
    'the document is no JSON',
    { raw: (response) => response.end('<html>') },
    /^failed: .*status 200 and no JSON object/,
  ],
  [
    'the document has no end',
    { raw: (response) => response.end(`{"resource":"${'x'.repeat(300_000)}"}`) },
    /^failed: .*status 200 and no JSON object/,
  ],
  [
    'the document is elsewhere, and redirects are not followed',
    { raw: (response) => response.writeHead(302, { location: ISSUER }).end() },
    /^failed: .*status 302 and no JSON object/,
  ],
  ['it answers everything with 404', { status: 404 }, /^failed: .* responds with 404 .*start only after 401/],
  [
    'it redirects to another path',
    { status: 307, falseToken: 401, location: '/mcp/' },
    /^failed: .* responds with 307 .*the address that it redirects to/,
  ],
  [
    'it checks no token',
    { falseToken: 200 },
    /^failed: .* responds with 200 instead of 401 to a token that no server issued.*Check the token/,
  ],
  [
    'it cannot check a token',
    { falseToken: 500 },
    /^failed: .* responds with 500 instead of 401 to a token .*grantor api create-credentials/,
  ],
]

for (const [fault, manner, says] of FAULTS) {
  test(`doctor --resource: ${fault}`, async (t) => {
    const { code, said } = await examine(await openMcpServer(t, manner))
    assert.match(said[0] ?? 'nothing', says)
    assert.equal(code, said.some((line) => line.startsWith('failed')) ? 1 : 0)
  })
}

test('doctor --resource: text of the document is quoted for the shell in commands', async (t) => {
  const members = (url: string): Members => ({ ...right(url), resource: `${url}?;touch\${IFS}x'$(id)` })
  const { said } = await examine(await openMcpServer(t, { members, declared: () => undefined }))
  assert.match(said.join('\n'), /--resource 'http[^' ]*\/mcp\?;touch\$\{IFS\}x'\\''\$\(id\)' --scope /)
})

test('doctor --resource: a server that accepts every request fails twice, and an unreachable server once', async (t) => {
  const { code, said } = await examine(await openMcpServer(t, { status: 200 }))
  assert.equal(code, 1)
  assert.match(
    said.join('\n'),
    /responds with 200 to a request without a token[^]*responds with 200 instead of 401 to a token/,
  )
  const away = await examine('http://127.0.0.1:9/mcp')
  assert.equal(away.code, 1)
  assert.match(away.said.join('\n'), /^failed: http:\/\/127\.0\.0\.1:9\/mcp cannot be reached: [^\n]*$/)
})

test('doctor --resource: an address that is not http or https is rejected before a request is sent', async () => {
  for (const text of ['mcp.example.com/mcp', 'file:///etc/passwd', 'http://']) {
    const { code, stderr } = await command(['doctor', '--resource', text])
    assert.equal(code, 2, text)
    assert.match(stderr, /http or https address/)
  }
})

test('doctor --resource: without a server at the issuer of the settings, a correct MCP server is not blamed', async (t) => {
  const url = await openMcpServer(t, {})
  const settings = { PORT: process.env['PORT'], GRANTOR_ISSUER: process.env['GRANTOR_ISSUER'] }
  for (const wrong of [{ GRANTOR_ISSUER: 'http://127.0.0.1:9' }, { GRANTOR_ISSUER: new URL(url).origin }]) {
    Object.assign(process.env, wrong)
    const { code, said } = await examine(url)
    for (const [name, value] of Object.entries(settings)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
    assert.equal(code, 1)
    assert.equal(said.length, 1, said.join('\n'))
    assert.match(said[0] ?? '', /^failed: No server responds as the issuer http.* check GRANTOR_ISSUER and PORT/)
  }
})

test('doctor --client-document fetches a document as the server does, and says what is wrong', async (t) => {
  const place = await openPlace(t)
  const host = await openDocumentHost(t)
  const { client_id: url } = host.client()

  async function examineDocument(address: string, environment: Record<string, string> = {}): Promise<string> {
    const { stdout } = await runHere(place, ['doctor', '--json', '--client-document', address], { environment })
    const { findings } = JSON.parse(stdout) as { readonly findings: readonly Finding[] }
    return findings
      .filter(({ check }) => check === 'document')
      .map(({ verdict, message, remedy }) => [verdict, message, remedy].join(' '))
      .join('\n')
  }

  assert.match(await examineDocument(url), /^ok .* is the client Example: none, authorization_code, refresh_token\. $/)
  host.publish({ client_id: 'https://other.example/' })
  assert.match(await examineDocument(url), /^failed .* client_id is not the URL of the document\. Correct it\.$/)
  host.publish({ redirect_uris: ['javascript:alert(1)'] })
  assert.match(
    await examineDocument(url),
    /^failed .* redirect_uris\.0: The redirect URI has a scheme that browsers execute/,
  )
  host.answer((_request, response) => void response.writeHead(403).end())
  assert.match(await examineDocument(url), /^failed .* cannot be used: status 403\. The host refuses/)
  host.answer((_request, response) => void response.writeHead(301, { location: '/' }).end())
  assert.match(
    await examineDocument(url),
    /^failed .* cannot be used: redirect\. The document must be at the URL itself\.$/,
  )
  assert.match(await examineDocument(new URL('/', url).href), /^failed .* is no client_id: The URL has no path\./)
  assert.match(
    await examineDocument(url, { GRANTOR_OUTBOUND: 'off' }),
    /^failed .* cannot be used: off\. .* GRANTOR_OUTBOUND=on/,
  )
  host.publish({})
  const closed = await examineDocument(url, { GRANTOR_CLIENT_DOCUMENTS: 'off' })
  assert.match(closed, /^warning The server accepts no new client with a document\..*\nok /)
})
