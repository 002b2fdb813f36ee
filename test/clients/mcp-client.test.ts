import { auth, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { codeOf, textOf, walkMcpLibrary } from './mcp-walk.ts'

walkMcpLibrary({
  name: '@modelcontextprotocol/client 2.4',
  auth: (provider, serverUrl, callback) =>
    auth(provider, {
      serverUrl,
      // It refuses a callback without the issuer when the metadata promises one (RFC 9207 §2.4).
      ...(callback === undefined
        ? {}
        : { authorizationCode: codeOf(callback), iss: callback.searchParams.get('iss') ?? '' }),
    }),
  async callTool(provider, serverUrl) {
    const client = new Client({ name: 'walk', version: '1.0.0' })
    const transport = new StreamableHTTPClientTransport(serverUrl, { authProvider: provider })
    try {
      await client.connect(transport)
      return textOf(await client.callTool({ name: 'count' }))
    } finally {
      await client.close()
    }
  },
})
