import { connect, type Socket } from 'node:net'
import type { RequestKind } from './slice.ts'

/** One keep-alive connection with at most one request at a time. */
export interface Connection {
  readonly send: (request: string) => void
  readonly close: () => void
}

export interface Listener {
  /** `body` is decoded as Latin-1, which is the fastest and correct for ASCII JSON. `head` is everything before it. */
  readonly onAnswer: (status: number, body: string, head: string) => void
  readonly onFailure: (reason: string) => void
}

/**
 * The part of HTTP/1.1 that a load generator needs: status, Content-Length or chunks, body. A client that parses everything takes
 * more processor time than the measured servers.
 */
export function openConnection(
  port: number,
  { onAnswer, onFailure }: Listener,
  localAddress = '127.0.0.1',
): Promise<Connection> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, localAddress })
  let isClosed = false
  let received = ''

  socket.on('data', (chunk) => {
    const text = chunk.toString('latin1')
    received = received === '' ? text : received + text
    const headEnd = received.indexOf('\r\n\r\n')
    if (headEnd === -1) return
    const length = readLength(received, headEnd)
    if (length === undefined) return takeChunks(headEnd)
    const end = headEnd + 4 + length
    if (received.length < end) return
    if (received.length > end) return fail('A server sent more than one answer to a request.')
    take(headEnd, received.slice(headEnd + 4))
  })
  socket.on('error', (cause) => fail(cause.message))
  socket.on('close', () => fail('A server closed a connection.'))

  /** RFC 9112 §7.1. */
  function takeChunks(headEnd: number): void {
    let body = ''
    for (let at = headEnd + 4; ;) {
      const lineEnd = received.indexOf('\r\n', at)
      if (lineEnd === -1) return
      const size = Number.parseInt(received.slice(at, lineEnd), 16)
      if (Number.isNaN(size)) return fail('An answer has neither a Content-Length nor chunks.')
      const end = lineEnd + 2 + size
      if (received.length < end + 2) return
      if (size === 0) return take(headEnd, body)
      body += received.slice(lineEnd + 2, end)
      at = end + 2
    }
  }

  function take(headEnd: number, body: string): void {
    const status = Number(received.slice(9, 12))
    const head = received.slice(0, headEnd)
    received = ''
    onAnswer(status, body, head)
  }

  function fail(reason: string): void {
    if (isClosed) return
    close()
    onFailure(reason)
  }

  function close(): void {
    isClosed = true
    socket.destroy()
  }

  return opened(socket, { send: (request) => void socket.write(request, 'latin1'), close })
}

/** The request up to the length of its body. For a request without a body, the whole request. */
export function headOf(
  { method, path, contentType }: Pick<RequestKind, 'method' | 'path' | 'contentType'>,
  port: number,
  headers: readonly string[] = [],
): string {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'User-Agent: grantor-bench',
    'Accept: application/json',
    ...headers,
    ...(method === 'GET' ? ['', ''] : [`Content-Type: ${contentType}`, 'Content-Length: ']),
  ]
  return lines.join('\r\n')
}

const LENGTH = /\r\ncontent-length: *(\d+)/i

function readLength(text: string, headEnd: number): number | undefined {
  const found = LENGTH.exec(text)
  return found === null || found.index > headEnd ? undefined : Number(found[1])
}

function opened(socket: Socket, connection: Connection): Promise<Connection> {
  return new Promise((resolve, reject) => {
    socket.once('connect', () => resolve(connection))
    socket.once('error', reject)
  })
}
