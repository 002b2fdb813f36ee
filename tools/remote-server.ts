import type { Agent } from 'node:http'
import type { InjectOptions, Response as LightMyRequestResponse } from 'light-my-request'
import type { RequestTarget } from './flow.ts'
import { receive, type Response } from './send.ts'

/** Passes the requests of flow.ts to a port: that of a proxy, or that of one node. */
export interface RemoteServer extends RequestTarget {
  port: number
}

export interface RemoteOptions {
  /** The port of the issuer. It is also the first port that gets the requests. */
  readonly port: number
  readonly agent: Agent
  readonly limitMs: number
  /** The Host header. undefined: 127.0.0.1 and the port of the issuer. */
  readonly host?: string
}

export function openRemoteServer({
  port: issuerPort,
  agent,
  limitMs,
  host = `127.0.0.1:${issuerPort}`,
}: RemoteOptions): RemoteServer {
  const remote: RemoteServer = {
    port: issuerPort,
    inject: async ({ method = 'GET', url, headers = {}, payload }: InjectOptions) => {
      const path = typeof url === 'string' ? url : (url?.pathname ?? '/')
      const response = await receive({
        port: remote.port,
        method,
        path,
        // A proxy forwards the Host header of the request.
        headers: { ...(headers as Readonly<Record<string, string>>), host },
        agent,
        limitMs,
        ...(typeof payload === 'string' ? { body: payload } : {}),
      })
      return convert(response)
    },
  }
  return remote
}

/** The parts of a response that flow.ts reads. */
function convert({ status, headers, body }: Response): LightMyRequestResponse {
  const response = {
    statusCode: status,
    headers,
    body,
    cookies: [headers['set-cookie'] ?? []].flat().map(parseCookie),
    json: () => JSON.parse(body) as unknown,
  }
  return response as unknown as LightMyRequestResponse
}

function parseCookie(line: string): { name: string; value: string; maxAge: number | undefined } {
  const [pair = '', ...attributes] = line.split('; ')
  const [name = '', value = ''] = pair.split('=')
  const maxAge = attributes.find((attribute) => attribute.toLowerCase().startsWith('max-age='))?.split('=')[1]
  return { name, value, maxAge: maxAge === undefined ? undefined : Number(maxAge) }
}
