import { test } from 'node:test'
import { auth } from 'mcp-sdk-old/client/auth.js'
import { Client } from 'mcp-sdk-old/client/index.js'
import { StreamableHTTPClientTransport } from 'mcp-sdk-old/client/streamableHttp.js'
import type { Transport } from 'mcp-sdk-old/shared/transport.js'
import { codeOf, refreshForAnHour, textOf, walkMcpLibrary, type McpLibrary } from './mcp-walk.ts'

const library: McpLibrary = {
  name: '@modelcontextprotocol/sdk 1.17',
  auth: (provider, serverUrl, callback) =>
    auth(provider, {
      serverUrl,
      ...(callback === undefined ? {} : { authorizationCode: codeOf(callback) }),
    }),
  async callTool(provider, serverUrl) {
    const client = new Client({ name: 'walk', version: '1.0.0' })
    const transport = new StreamableHTTPClientTransport(serverUrl, { authProvider: provider })
    try {
      // The type declarations of this version do not support exactOptionalPropertyTypes.
      await client.connect(transport as Transport)
      return textOf(await client.callTool({ name: 'count' }))
    } finally {
      await client.close()
    }
  },
}

// This version has no provider for clients without a user.
walkMcpLibrary(library, undefined)

test(`AG-19: two processes of ${library.name}, on one store and on two copies, need no authorization for an hour`, (t) =>
  refreshForAnHour(t, library))
