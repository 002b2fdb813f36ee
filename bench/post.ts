import { request, type RequestOptions } from 'node:http'
import type { Answer } from './slice.ts'

/** Sends one request with a body and reads the whole answer. For requests that are not measured. */
export function post(port: number, path: string, contentType: string, body: string): Promise<Answer> {
  const headers = { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(body) }
  return send({ port, path, method: 'POST', headers }, body)
}

/** Sends one request without a body. */
export function get(port: number, path: string): Promise<Answer> {
  return send({ port, path, method: 'GET', headers: {} }, '')
}

function send(
  options: RequestOptions & { readonly headers: Readonly<Record<string, string | number>> },
  body: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { ...options.headers, Accept: 'application/json' }
    const outgoing = request({ ...options, host: '127.0.0.1', headers }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => void chunks.push(chunk))
      incoming.on('error', reject)
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        resolve({ status: incoming.statusCode ?? 0, headers: ownHeaders(incoming.rawHeaders), body: text })
      })
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** Headers that every Node.js server sends automatically. */
const AUTOMATIC = new Set(['date', 'connection', 'keep-alive'])

function ownHeaders(rawHeaders: readonly string[]): readonly string[] {
  const own: string[] = []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2)
    if (!AUTOMATIC.has(name.toLowerCase())) own.push(name, value)
  }
  return own
}
