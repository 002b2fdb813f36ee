import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js'
import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import express from 'express'
import { z } from 'zod'

/** An MCP server whose tools call an API for the user, each with a token for that API. `credentials`: those of the MCP server at Grantor. */
export function openMcpServer({ issuer, resource, credentials, api }) {
  const { origin, pathname } = new URL(resource)
  const documentPath = `/.well-known/oauth-protected-resource${pathname}`

  async function askGrantor(path, parameters) {
    const answer = await fetch(`${issuer}/v2/oauth/${path}`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${credentials.id}:${credentials.secret}`)}` },
      body: new URLSearchParams(parameters),
      signal: AbortSignal.timeout(5000),
    })
    if (!answer.ok) throw new Error(`Grantor answered ${answer.status}: ${await answer.text()}`)
    return answer.json()
  }

  /** RFC 7662: revoked access ends with the next request. */
  async function verifyAccessToken(token) {
    const found = await askGrantor('introspect', { token })
    if (!found.active || found.cnf !== undefined) throw new InvalidTokenError('The token is not active')
    return { token, clientId: found.client_id, scopes: found.scope.split(' '), expiresAt: found.exp }
  }

  /** RFC 8693: a token for the API, in exchange for that of the user's agent, which must not be passed on. */
  async function callApi({ token }, scope, init = {}) {
    const { access_token: own } = await askGrantor('token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      resource: api,
      scope,
    })
    const headers = { authorization: `Bearer ${own}`, 'content-type': 'application/json' }
    const answer = await fetch(api, { ...init, headers, signal: AbortSignal.timeout(5000) })
    if (!answer.ok) throw new Error(`The API answered ${answer.status}`)
    return { content: [{ type: 'text', text: await answer.text() }] }
  }

  function openTools() {
    const mcp = new McpServer({ name: 'notes', version: '1.0.0' })
    mcp.registerTool('list', { description: 'Lists the notes' }, ({ authInfo }) => callApi(authInfo, 'notes:read'))
    mcp.registerTool(
      'add',
      { description: 'Adds a note', inputSchema: { text: z.string() } },
      ({ text }, { authInfo }) => callApi(authInfo, 'notes:write', { method: 'POST', body: JSON.stringify({ text }) }),
    )
    return mcp
  }

  const server = express()
  // RFC 9728. Grantor knows the scopes, because they are declared.
  server.get(documentPath, async (_request, response) => {
    const document = await fetch(`${issuer}/v2/oauth/protected-resource?resource=${encodeURIComponent(resource)}`)
    response
      .status(document.status)
      .set('access-control-allow-origin', '*')
      .json(await document.json())
  })
  server.all(
    pathname,
    requireBearerAuth({
      verifier: { verifyAccessToken },
      requiredScopes: ['agent:notes'],
      resourceMetadataUrl: `${origin}${documentPath}`,
    }),
    express.json(),
    async (request, response) => {
      const transport = new StreamableHTTPServerTransport()
      await openTools().connect(transport)
      await transport.handleRequest(request, response, request.body)
    },
  )
  return server
}
