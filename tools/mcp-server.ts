import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import * as oauth from 'oauth4webapi'
import { createRemoteJWKSet, jwtVerify, type JWTPayload } from 'jose'

/** An MCP server with one tool, protected by tokens of an issuer. RFC 9728, RFC 6750, RFC 9068. */
export interface ResourceServer {
  /** The URL for MCP clients. */
  readonly url: URL
  /** The server's resource identifier as in its metadata. */
  readonly resource: string
  /** The claims of the last valid token. */
  readonly lastClaims: () => JWTPayload | undefined
  /** From now on requests with the token get 401, as with an expired token. */
  readonly refuse: (token: string) => void
  /** From now on challenges name this scope, and requests with a token without it get 403. RFC 6750 §3.1 */
  readonly demand: (scope: string) => void
}

export interface ResourceServerOptions {
  readonly issuer: string
  /** With `''` the identifier is a bare origin. */
  readonly path: '' | '/mcp'
  /** undefined: the metadata is the minimum of the README: the resource and its authorization server. */
  readonly scopes: readonly string[] | undefined
}

export async function openResourceServer(
  test: Pick<TestContext, 'after'>,
  { issuer, path, scopes }: ResourceServerOptions,
): Promise<ResourceServer> {
  const refused = new Set<string>()
  let claims: JWTPayload | undefined
  let demanded: string | undefined
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  test.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const resource = origin + path
  const metadataPath = `/.well-known/oauth-protected-resource${path}`
  const keys = createRemoteJWKSet(new URL(`${issuer}/v2/oauth/jwks`))

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === metadataPath) {
      const body = { resource, authorization_servers: [issuer], scopes_supported: scopes }
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
      return
    }
    const isAuthentic = await isAuthorized(request)
    if (!isAuthentic || lacksScope()) {
      const error = isAuthentic ? 'insufficient_scope' : 'invalid_token'
      const scope = demanded === undefined ? '' : `, scope="${demanded}"`
      const challenge = `Bearer error="${error}", resource_metadata="${origin}${metadataPath}"${scope}`
      response.writeHead(isAuthentic ? 403 : 401, { 'www-authenticate': challenge }).end()
      return
    }
    const mcp = new McpServer({ name: 'notes', version: '1.0.0' })
    mcp.registerTool('count', { description: 'Counts the notes' }, () => ({ content: [{ type: 'text', text: '7' }] }))
    const transport = new StreamableHTTPServerTransport()
    await mcp.connect(transport)
    await transport.handleRequest(request, response)
  }

  async function isAuthorized(request: IncomingMessage): Promise<boolean> {
    const [, scheme = '', token = ''] = /^(Bearer|DPoP) (.+)$/.exec(request.headers.authorization ?? '') ?? []
    if (scheme === '' || refused.has(token)) return false
    try {
      claims = scheme === 'DPoP' ? await verifyBound(request) : await verifyBearer(token)
      return true
    } catch {
      return false
    }
  }

  async function verifyBearer(token: string): Promise<JWTPayload> {
    const { payload } = await jwtVerify(token, keys, { issuer, audience: resource, typ: 'at+jwt' })
    if (payload['cnf'] !== undefined) throw new Error('The token is bound to a key.')
    return payload
  }

  /** RFC 9449 §7.1. */
  async function verifyBound({ method = '', headers: { authorization = '', dpop = '' } }: IncomingMessage) {
    const asked = new Request(resource, { method, headers: { authorization, dpop: String(dpop) } })
    const authorizationServer = { issuer, jwks_uri: `${issuer}/v2/oauth/jwks` }
    const checks = { requireDPoP: true, [oauth.allowInsecureRequests]: true }
    return (await oauth.validateJwtAccessToken(authorizationServer, asked, resource, checks)) as JWTPayload
  }

  function lacksScope(): boolean {
    return demanded !== undefined && !String(claims?.['scope']).split(' ').includes(demanded)
  }

  return {
    url: new URL(resource),
    resource,
    lastClaims: () => claims,
    refuse: (token) => void refused.add(token),
    demand: (scope) => void (demanded = scope),
  }
}
