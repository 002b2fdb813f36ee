import { connect, type Socket } from 'node:net'

/** One keep-alive connection with at most one request under way. */
export interface Connection {
  readonly send: (request: string) => void
  readonly close: () => void
}

export interface Listener {
  /** `body` is read as Latin-1, which is the cheapest and right for JSON in ASCII. */
  readonly onAnswer: (status: number, body: string) => void
  readonly onFailure: (reason: string) => void
}

/**
 * HTTP/1.1 as far as a load generator needs it: status, Content-Length, body. A client that parses everything costs more
 * than the servers that it is to measure.
 */
export function openConnection(port: number, { onAnswer, onFailure }: Listener): Promise<Connection> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let isClosed = false
  let received = ''

  socket.on('data', (chunk) => {
    const text = chunk.toString('latin1')
    received = received === '' ? text : received + text
    const headEnd = received.indexOf('\r\n\r\n')
    if (headEnd === -1) return
    const length = readLength(received, headEnd)
    if (length === undefined) return fail('An answer has no Content-Length.')
    const end = headEnd + 4 + length
    if (received.length < end) return
    if (received.length > end) return fail('A server sent more than it was asked for.')
    const answer = received
    received = ''
    onAnswer(Number(answer.slice(9, 12)), answer.slice(headEnd + 4))
  })
  socket.on('error', (cause) => fail(cause.message))
  socket.on('close', () => fail('A server closed a connection.'))

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
