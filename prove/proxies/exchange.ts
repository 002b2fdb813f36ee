import type { IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:http2'
import { request, type Agent } from 'node:https'
import type { Socket } from 'node:net'

/** A request that is sent through a proxy, over HTTP/1.1 or HTTP/2. */
export interface ProxiedRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

const LIMIT_MS = 10_000

/** How much later than its headers the body of a request is sent over HTTP/2, as on a slow network. */
const BODY_LATER_MS = 50

/** A kept-alive connection was closed while a request was sent on it. */
export class ResetOfIdle extends Error {}

/** The connections that have had a request. `reusedSocket` of Node.js is false for a request that waited until one was free. */
const used = new WeakSet<Socket>()

/** @throws ResetOfIdle */
export function exchange(agent: Agent, port: number, proxied: ProxiedRequest): Promise<Answer> {
  const { method, path, headers = {}, body } = proxied
  return new Promise((resolve, reject) => {
    const sent = request({ host: 'localhost', port, method, path, headers, agent, timeout: LIMIT_MS }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('error', reject)
      incoming.on('end', () => {
        const { statusCode: status = 0, headers: received } = incoming
        resolve({ status, headers: received, body: Buffer.concat(chunks).toString() })
      })
    })
    let isReused = false
    sent.on('socket', (socket) => {
      isReused = used.has(socket)
      used.add(socket)
    })
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${LIMIT_MS} ms`)))
    sent.on('error', (cause: NodeJS.ErrnoException) =>
      reject(isReused && cause.code === 'ECONNRESET' ? new ResetOfIdle() : cause),
    )
    sent.end(body)
  })
}

/**
 * The same on a connection of its own. The body follows later than the headers: a proxy that answers before it has read the body
 * resets the stream, and the client may lose the answer.
 */
export async function exchangeOverHttp2(ca: string, port: number, proxied: ProxiedRequest): Promise<Answer> {
  const { method, path, headers = {}, body } = proxied
  const session = connect(`https://localhost:${port}`, { ca })
  try {
    return await new Promise((resolve, reject) => {
      session.on('error', reject)
      const stream = session.request(
        { ':method': method, ':path': path, ...headers },
        { endStream: body === undefined },
      )
      stream.setTimeout(LIMIT_MS, () => stream.destroy(new Error(`no answer within ${LIMIT_MS} ms`)))
      let received: Pick<Answer, 'status' | 'headers'> = { status: 0, headers: {} }
      const chunks: Buffer[] = []
      stream.on('response', ({ ':status': status = 0, ...others }) => (received = { status, headers: others }))
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('error', reject)
      stream.on('close', () =>
        stream.rstCode === 0
          ? resolve({ ...received, body: Buffer.concat(chunks).toString() })
          : reject(new Error(`the stream was reset with code ${stream.rstCode}`)),
      )
      if (body !== undefined) setTimeout(() => stream.end(body), BODY_LATER_MS)
    })
  } finally {
    session.destroy()
  }
}
