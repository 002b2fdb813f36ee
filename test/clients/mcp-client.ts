import { Client, StreamableHTTPClientTransport, type OAuthClientProvider } from '@modelcontextprotocol/client'
import { textOf } from './mcp-walk.ts'

/** Opens an MCP session over the transport of @modelcontextprotocol/client, and calls the tool. Rejects if the user must sign in first. */
export async function callTool(authProvider: OAuthClientProvider, serverUrl: URL): Promise<string> {
  const client = new Client({ name: 'walk', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(serverUrl, { authProvider })
  try {
    await client.connect(transport)
    return textOf(await client.callTool({ name: 'count' }))
  } finally {
    await client.close()
  }
}
