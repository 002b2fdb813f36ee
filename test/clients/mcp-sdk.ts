import { auth, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import { ClientCredentialsProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { codeOf, textOf, type McpLibrary, type McpMachine } from './mcp-walk.ts'

/** The newest version of the TypeScript SDK that most applications use. */
export const newestSdk: McpLibrary = {
  name: '@modelcontextprotocol/sdk 1.32',
  auth: (provider, serverUrl, callback) =>
    auth(provider, { serverUrl, ...(callback === undefined ? {} : { authorizationCode: codeOf(callback) }) }),
  callTool,
}

export const newestSdkAsMachine: McpMachine = {
  callTool: ({ id: clientId, secret: clientSecret }, expectedIssuer, serverUrl) =>
    callTool(new ClientCredentialsProvider({ clientId, clientSecret, expectedIssuer }), serverUrl),
}

async function callTool(authProvider: OAuthClientProvider, serverUrl: URL): Promise<string> {
  const client = new Client({ name: 'walk', version: '1.0.0' })
  try {
    await client.connect(new StreamableHTTPClientTransport(serverUrl, { authProvider }))
    return textOf(await client.callTool({ name: 'count' }))
  } finally {
    await client.close()
  }
}
