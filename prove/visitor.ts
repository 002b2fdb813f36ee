import type { InjectOptions, Response as LightMyRequestResponse } from 'light-my-request'
import type { Asked } from '../test/support/flow.ts'
import { describeReception, send, type Answer } from './send.ts'
import type { Stage } from './stage.ts'

/** Sends the requests of test/support/flow.ts to a port: that of the proxy, or that of one node. */
export interface Visitor extends Asked {
  port: number
}

export function openVisitor(stage: Pick<Stage, 'port' | 'agent' | 'limitMs'>): Visitor {
  const visitor: Visitor = {
    port: stage.port,
    inject: async ({ method = 'GET', url, headers = {}, payload }: InjectOptions) => {
      const path = typeof url === 'string' ? url : (url?.pathname ?? '/')
      const reception = await send({
        port: visitor.port,
        method,
        path,
        // A proxy forwards the Host header of the request.
        headers: { ...(headers as Readonly<Record<string, string>>), host: `127.0.0.1:${stage.port}` },
        agent: stage.agent,
        limitMs: stage.limitMs,
        ...(typeof payload === 'string' ? { body: payload } : {}),
      })
      if (reception.kind === 'answer') return toResponse(reception)
      throw new Error(`${method} ${path.split('?')[0]} had ${describeReception(reception)}`)
    },
  }
  return visitor
}

/** The parts of an answer that test/support/flow.ts reads. */
function toResponse({ status, headers, body }: Answer): LightMyRequestResponse {
  const response = {
    statusCode: status,
    headers,
    body,
    cookies: [headers['set-cookie'] ?? []].flat().map(readCookie),
    json: () => JSON.parse(body) as unknown,
  }
  return response as unknown as LightMyRequestResponse
}

function readCookie(line: string): { name: string; value: string; maxAge: number | undefined } {
  const [pair = '', ...attributes] = line.split('; ')
  const [name = '', value = ''] = pair.split('=')
  const maxAge = attributes.find((attribute) => attribute.toLowerCase().startsWith('max-age='))?.split('=')[1]
  return { name, value, maxAge: maxAge === undefined ? undefined : Number(maxAge) }
}
