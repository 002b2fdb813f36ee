import { request, type Agent } from 'node:http'

/** A request to a server on this machine. */
export interface OutgoingRequest {
  readonly port: number
  /** `POST` if there is a body, otherwise `GET`. */
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** undefined: the request uses a new connection. */
  readonly agent?: Agent | undefined
  /** Without a complete response after this time the request counts as hung. */
  readonly limitMs?: number
}

export interface Response {
  readonly kind: 'response'
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Names and values in turn, as received. */
  readonly rawHeaders: readonly string[]
  readonly body: string
}

/** The result of a request. */
export type SendResult =
  | Response
  /** The connection failed, or ended before the response was complete. */
  | { readonly kind: 'cut'; readonly reason: string }
  | { readonly kind: 'hung' }

const LIMIT_MS = 20_000
export const FORM_TYPE = 'application/x-www-form-urlencoded'

/** Sends the request and waits for the result. Never rejects. */
export function send(outgoing: OutgoingRequest): Promise<SendResult> {
  const { port, path, headers = {}, body, agent = false, limitMs = LIMIT_MS } = outgoing
  const { method = body === undefined ? 'GET' : 'POST' } = outgoing
  return new Promise((resolve) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('error', (cause) => finish({ kind: 'cut', reason: cause.message }))
      incoming.on('close', () => {
        if (!incoming.complete) return finish({ kind: 'cut', reason: 'The response ended early.' })
        const { statusCode: status = 0, rawHeaders } = incoming
        const text = Buffer.concat(chunks).toString('utf8')
        finish({ kind: 'response', status, headers: incoming.headers, rawHeaders, body: text })
      })
    })
    const timer = setTimeout(() => {
      finish({ kind: 'hung' })
      sent.destroy()
    }, limitMs)
    sent.on('error', (cause) => finish({ kind: 'cut', reason: cause.message }))
    sent.end(body)

    function finish(result: SendResult): void {
      clearTimeout(timer)
      resolve(result)
    }
  })
}

/** Sends the request, and returns its response. @throws Error if there is none */
export async function receive(outgoing: OutgoingRequest): Promise<Response> {
  const result = await send(outgoing)
  if (result.kind === 'response') return result
  throw new Error(`${outgoing.path.split('?')[0]} had ${describeResult(result)}`)
}

/** The headers and the body of a request with a form. */
export function formBody(fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) {
  return { headers: { 'content-type': FORM_TYPE, ...headers }, body: new URLSearchParams(fields).toString() }
}

/** Whether the request got a response with this status. */
export function hasStatus(result: SendResult, status: number): result is Response {
  return result.kind === 'response' && result.status === status
}

/** Describes the result for a reader of the report. */
export function describeResult(result: SendResult): string {
  switch (result.kind) {
    case 'response':
      return `${result.status} ${result.body.slice(0, 200)}`
    case 'cut':
      return `a cut connection: ${result.reason}`
    case 'hung':
      return 'no response in time'
  }
}
