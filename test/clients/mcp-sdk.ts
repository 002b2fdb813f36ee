import { auth } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { codeOf, textOf, type McpLibrary } from './mcp-walk.ts'

/** The newest release of the TypeScript SDK that most applications use. */
export const newestSdk: McpLibrary = {
  name: '@modelcontextprotocol/sdk 1.32',
  auth: (provider, serverUrl, callback) =>
    auth(provider, { serverUrl, ...(callback === undefined ? {} : { authorizationCode: codeOf(callback) }) }),
  async callTool(provider, serverUrl) {
    const client = new Client({ name: 'walk', version: '1.0.0' })
    try {
      await client.connect(new StreamableHTTPClientTransport(serverUrl, { authProvider: provider }))
      return textOf(await client.callTool({ name: 'count' }))
    } finally {
      await client.close()
    }
  },
}
