import { Agent, request } from 'node:http'
import type { RegisteredClient } from '../../../tools/flow.ts'

/** A response as it came over the wire. */
export interface WireAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** Connections that stay open, one for each concurrent request up to `sockets`. */
export function openAgent(sockets: number): Agent {
  return new Agent({ keepAlive: true, maxSockets: sockets })
}

/** Posts over a real connection. Rejects if the connection ends before the response is complete. */
export function post(
  url: string,
  body: string,
  options: { readonly agent: Agent; readonly headers: Readonly<Record<string, string>> },
): Promise<WireAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent: options.agent, headers: options.headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('close', () => {
        if (!response.complete) return reject(new Error('The answer was cut.'))
        const { statusCode: status = 0, headers } = response
        resolve({ status, headers, body: Buffer.concat(chunks).toString('utf8') })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

export function postForm(
  url: string,
  form: Readonly<Record<string, string>>,
  agent: Agent,
  headers: Readonly<Record<string, string>> = {},
): Promise<WireAnswer> {
  const body = new URLSearchParams(form).toString()
  return post(url, body, { agent, headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers } })
}

export function credentialsOf({
  client_id,
  client_secret,
}: Pick<RegisteredClient, 'client_id' | 'client_secret'>): Record<string, string> {
  return { client_id, ...(client_secret === undefined ? {} : { client_secret }) }
}
