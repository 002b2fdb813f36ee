import { createServer } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { verify } from './introspection.js'

const { ISSUER, RESOURCE, MCP_PORT } = process.env
const { origin, pathname } = new URL(RESOURCE)
const documentPath = `/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}`
const documentAtIssuer = `${ISSUER}/v2/oauth/protected-resource?resource=${encodeURIComponent(RESOURCE)}`
const BODY_LIMIT = 1_000_000

/** Each tool with the scope that it requires. */
const TOOLS = new Map([
  ['count', { scope: 'notes:read', description: 'Counts the notes', run: () => '7' }],
  ['add', { scope: 'notes:write', description: 'Adds a note', run: () => 'added' }],
])

async function answer(request, response) {
  if (request.url === documentPath) {
    const document = await fetch(documentAtIssuer, { signal: AbortSignal.timeout(5000) })
    response.writeHead(document.status, { 'content-type': 'application/json', 'access-control-allow-origin': '*' })
    return response.end(await document.text())
  }
  const token = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const claims = token === undefined ? undefined : await verify(token)
  if (claims === undefined) return challenge(response, 401, 'scope="notes:read"')
  const message = request.method === 'POST' ? await readMessage(request) : undefined
  const granted = (claims.scope ?? '').split(' ')
  const missing = scopesOf(message).filter((scope) => !granted.includes(scope))
  if (missing.length > 0) {
    const error = 'error="insufficient_scope", error_description="The tool needs more access"'
    return challenge(response, 403, `${error}, scope="${missing.join(' ')}"`)
  }
  const mcp = new McpServer({ name: 'notes', version: '1.0.0' })
  for (const [name, { description, run }] of TOOLS) {
    mcp.registerTool(name, { description }, () => ({ content: [{ type: 'text', text: run() }] }))
  }
  const transport = new StreamableHTTPServerTransport()
  await mcp.connect(transport)
  // The message that was checked is the one that is performed.
  await transport.handleRequest(request, response, message)
}

function challenge(response, status, members) {
  response.writeHead(status, { 'www-authenticate': `Bearer resource_metadata="${origin}${documentPath}", ${members}` })
  response.end()
}

/** Returns null if the body is no JSON, for which the transport answers 400, or too long, which ends the connection. */
async function readMessage(request) {
  let text = ''
  for await (const part of request.setEncoding('utf8')) {
    if ((text += part).length > BODY_LIMIT) return null
  }
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** The scopes that the calls of a message require. The transport also accepts several messages at once, as older clients send them. */
function scopesOf(message) {
  const calls = [message].flat().filter((one) => one?.method === 'tools/call')
  return [...new Set(calls.flatMap((call) => TOOLS.get(call.params?.name)?.scope ?? []))]
}

createServer((request, response) => {
  answer(request, response).catch((error) => {
    // Grantor cannot be reached, or rejects the API credentials. The token may be good, so the answer is not 401.
    console.error(error)
    if (!response.headersSent) response.writeHead(503, { 'retry-after': '5' })
    response.end()
  })
}).listen(MCP_PORT, () => console.log('listening'))
