import { headOf, openConnection } from '../load/connection.ts'
import type { RequestKind } from '../load/slice.ts'
import type { SoakCounts } from './counts.ts'

/** One request of the load and its expected answer. */
export interface SoakRequest extends Omit<RequestKind, 'contentType'> {
  /** The name under which the time is counted. */
  readonly name: string
  /** undefined: the request has no body. */
  readonly contentType?: string
  readonly body?: string
  readonly cookie?: string
}

export interface Received {
  readonly head: string
  readonly body: string
}

/** Sends requests over one keep-alive connection, one after the other. */
export interface SoakClient {
  /** The body or the head of a right answer contains the expected text. @throws WrongAnswer */
  readonly send: (request: SoakRequest) => Promise<Received>
  readonly close: () => void
}

/** An unexpected answer. It is counted, and the load continues. */
export class WrongAnswer extends Error {}

/** `onEnd` is called if the server closes the connection, for which it has no reason. */
export async function openClient(
  port: number,
  counts: SoakCounts,
  onEnd: (reason: string) => void,
): Promise<SoakClient> {
  let answer: ((status: number, received: Received) => void) | undefined
  const connection = await openConnection(port, {
    onAnswer: (status, body, head) => answer?.(status, { head, body }),
    onFailure: onEnd,
  })
  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        const { name, contentType = '', body = '', cookie, contains } = request
        const sentMs = performance.now()
        answer = (status, received) => {
          counts.addAnswer(name, performance.now() - sentMs)
          const isRight = received.body.includes(contains) || received.head.includes(contains)
          if (status === request.status && isRight) return resolve(received)
          reject(new WrongAnswer(`${name}: ${status} ${received.body.slice(0, 200)}`))
        }
        const head = headOf({ ...request, contentType }, port, cookie === undefined ? [] : [`Cookie: ${cookie}`])
        connection.send(request.method === 'GET' ? head : `${head}${body.length}\r\n\r\n${body}`)
      }),
    close: connection.close,
  }
}
