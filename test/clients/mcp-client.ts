import { Client, StreamableHTTPClientTransport, type OAuthClientProvider } from '@modelcontextprotocol/client'
import { textOf } from './mcp-walk.ts'

/** Opens an MCP session over the transport of @modelcontextprotocol/client, and counts. Rejects if the user must sign in first. */
export function callTool(authProvider: OAuthClientProvider, serverUrl: URL): Promise<string> {
  return callNamedTool(authProvider, serverUrl, 'count')
}

/** The same with any tool that needs no arguments. */
export async function callNamedTool(authProvider: OAuthClientProvider, serverUrl: URL, name: string): Promise<string> {
  const client = new Client({ name: 'walk', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(serverUrl, { authProvider })
  try {
    await client.connect(transport)
    return textOf(await client.callTool({ name }))
  } finally {
    await client.close()
  }
}
