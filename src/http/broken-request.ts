import type { Socket } from 'node:net'
import { invalidRequest } from '../protocol/errors.ts'

const STATUS_LINES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** A connection that is closed while its caller still sends is reset, and the answer may be lost (RFC 9112 §9.6): what comes is read for so long. */
const LINGER_MS = 500

/**
 * Rejects what Node.js could not parse as a request: bytes that are not HTTP, headers that are too long, a request that does
 * not end. The answer is written to the socket, which is then closed, because it is unknown where the next request begins.
 */
export function refuseBytes(cause: Error & { readonly code?: string }, socket: Socket): void {
  // The parser reports each later piece as well.
  if (cause.code === 'ECONNRESET' || socket.destroyed || socket.writableEnded) return
  const { code, description } = invalidRequest('parameter_malformed')
  const body = JSON.stringify({ error: code, error_description: description })
  const lines = [
    `HTTP/1.1 ${STATUS_LINES[cause.code ?? ''] ?? '400 Bad Request'}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'Access-Control-Allow-Origin: *',
    'Connection: close',
  ]
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`)
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}
