import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Recipe } from './recipes.ts'

/** How a resource server handles a request. */
export type Answer = 'served' | 'unauthorized' | 'forbidden' | `status ${number}`

const LIMIT_MS = 20_000

/** Requests the resource with a token, as a client does. */
export async function requestResource(
  { path }: Pick<Recipe, 'path'>,
  resource: string,
  token: string | undefined,
): Promise<Answer> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return path === '/mcp' ? callTool(resource, headers) : readResource(resource, headers)
}

async function readResource(resource: string, headers: Record<string, string>): Promise<Answer> {
  const response = await fetch(resource, { headers, signal: AbortSignal.timeout(LIMIT_MS) })
  await response.text()
  return answerOf(response.status)
}

/** Derives the result from the status. A tool that a token may not use is not listed, or returns an error. */
async function callTool(resource: string, headers: Record<string, string>): Promise<Answer> {
  const statuses: number[] = []
  const client = new Client({ name: 'proof', version: '1.0.0' })
  try {
    const transport = new StreamableHTTPClientTransport(new URL(resource), {
      requestInit: { headers },
      async fetch(url, init) {
        const response = await fetch(url, { ...init, signal: init?.signal ?? AbortSignal.timeout(LIMIT_MS) })
        statuses.push(response.status)
        return response
      },
    })
    await client.connect(transport)
    const result = await client.callTool({ name: 'count' })
    return result.isError === true ? 'forbidden' : 'served'
  } catch {
    const status = statuses.find((one) => one >= 400)
    return status === undefined ? 'forbidden' : answerOf(status)
  } finally {
    await client.close()
  }
}

function answerOf(status: number): Answer {
  switch (status) {
    case 200:
      return 'served'
    case 401:
      return 'unauthorized'
    case 403:
      return 'forbidden'
    default:
      return `status ${status}`
  }
}
