import { connect, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import type { TestServer } from '../server.ts'

/** HTTP/1.1 over a plain socket, for requests that no client library sends. Loopback only, and with a limited size. */

export interface RawAnswer {
  readonly status: number
  /** Names are in lower case. Of a repeated header the last one. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const TIMEOUT_MS = 5000

export function portOf({ origin }: Pick<TestServer, 'origin'>): number {
  return Number(new URL(origin).port)
}

/** Connects to the server from an address of this machine (Linux has all of 127.0.0.0/8). The socket is closed after the test. */
export function openSocket(
  test: Pick<TestContext, 'after'>,
  server: Pick<TestServer, 'origin'>,
  localAddress = '127.0.0.1',
): Socket {
  const socket = connect({ port: portOf(server), host: '127.0.0.1', localAddress })
  socket.on('error', () => socket.destroy())
  test.after(() => socket.destroy())
  return socket
}

/** Sends the bytes. Returns everything that the server sends until it closes the connection, which the request must ask for. */
export async function exchange(server: Pick<TestServer, 'origin'>, request: string): Promise<string> {
  const socket = connect(portOf(server), '127.0.0.1')
  const received: Buffer[] = []
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('The server did not answer in time.')))
  socket.on('data', (chunk: Buffer) => received.push(chunk))
  return new Promise((resolve, reject) => {
    // A server that refuses early may reset the connection while it is still being written to.
    socket.on('error', (cause) => (received.length === 0 ? reject(cause) : undefined))
    socket.on('close', () => resolve(Buffer.concat(received).toString('latin1')))
    socket.write(request, 'latin1')
  })
}

/** Sends one request and returns its answer. */
export async function ask(server: Pick<TestServer, 'origin'>, request: RawRequest): Promise<RawAnswer> {
  const [answer] = parseAnswers(await exchange(server, format(request)))
  if (answer === undefined) throw new Error('There is no answer.')
  return answer
}

export interface RawRequest {
  readonly method?: string
  readonly target: string
  /** Whole lines, without Host, Content-Length and Connection. */
  readonly headers?: readonly string[]
  readonly body?: string
  readonly keepAlive?: boolean
}

export function format({ method = 'POST', target, headers = [], body = '', keepAlive = false }: RawRequest): string {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    'Host: localhost',
    ...headers,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(keepAlive ? [] : ['Connection: close']),
  ]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

/** Parses the answers in a stream, each with a Content-Length. Interim answers are left out. */
export function parseAnswers(text: string): readonly RawAnswer[] {
  const answers: RawAnswer[] = []
  let rest = text
  for (;;) {
    const end = rest.indexOf('\r\n\r\n')
    if (end === -1) return answers
    const [start = '', ...lines] = rest.slice(0, end).split('\r\n')
    const status = Number(start.split(' ')[1])
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const length = Number(headers['content-length'] ?? 0)
    const bodyStart = end + 4
    if (status >= 200) answers.push({ status, headers, body: rest.slice(bodyStart, bodyStart + length) })
    rest = rest.slice(bodyStart + length)
  }
}
