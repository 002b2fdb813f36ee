import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Answer, BareMessage } from './slice.ts'

/**
 * The bare server does the minimum of a Node.js server. It reads the body and sends a fixed answer, which is a copy of an answer
 * of the subject. The difference of their costs is the cost of the subject's own work.
 */
let answer: Answer = { status: 503, headers: [], body: '' }

const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => void chunks.push(chunk))
  request.on('end', () => {
    Buffer.concat(chunks)
    response.writeHead(answer.status, [...answer.headers]).end(answer.body)
  })
})

server.listen(0, '127.0.0.1', () => {
  say({ kind: 'listening', port: (server.address() as AddressInfo).port })
})
process.on('disconnect', () => process.exit())
process.on('message', (given: Answer) => {
  answer = given
  say({ kind: 'answer-set' })
})

function say(message: BareMessage): void {
  process.send?.(message)
}
