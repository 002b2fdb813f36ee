import { request, type Agent } from 'node:http'

/** A request to a server on this machine. */
export interface Sending {
  readonly port: number
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** undefined: the request uses a new connection. */
  readonly agent: Agent | undefined
  /** Without a complete answer after this time the request counts as hung. */
  readonly limitMs: number
}

export interface Answer {
  readonly kind: 'answer'
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: string
}

/** The result of a request. */
export type Reception =
  | Answer
  /** The connection failed, or ended before the answer was complete. */
  | { readonly kind: 'cut'; readonly reason: string }
  | { readonly kind: 'hung' }

/** Sends the request and waits for the result. Never rejects. */
export function send({ port, method, path, headers = {}, body, agent, limitMs }: Sending): Promise<Reception> {
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, method, path, headers, agent: agent ?? false }
    const sent = request(options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', (cause) => finish({ kind: 'cut', reason: cause.message }))
      response.on('close', () => {
        if (!response.complete) return finish({ kind: 'cut', reason: 'The answer ended early.' })
        const { statusCode: status = 0 } = response
        finish({ kind: 'answer', status, headers: response.headers, body: Buffer.concat(chunks).toString('utf8') })
      })
    })
    const impatience = setTimeout(() => {
      finish({ kind: 'hung' })
      sent.destroy()
    }, limitMs)
    sent.on('error', (cause) => finish({ kind: 'cut', reason: cause.message }))
    sent.end(body)

    function finish(reception: Reception): void {
      clearTimeout(impatience)
      resolve(reception)
    }
  })
}

/** Describes the result for a reader of the report. */
export function describeReception(reception: Reception): string {
  switch (reception.kind) {
    case 'answer':
      return `${reception.status} ${reception.body.slice(0, 200)}`
    case 'cut':
      return `a cut connection: ${reception.reason}`
    case 'hung':
      return 'no answer in time'
  }
}
