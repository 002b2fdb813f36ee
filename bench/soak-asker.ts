import { openConnection } from './connection.ts'
import type { SoakTimes } from './soak-times.ts'

/** One request of the load and its expected answer. */
export interface Asked {
  /** The name under which the time is counted. */
  readonly name: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** undefined: the request has no body. */
  readonly contentType?: string
  readonly body?: string
  readonly cookie?: string
  readonly status: number
  /** Text that the body or the headers of a right answer contain. */
  readonly contains: string
}

export interface Received {
  readonly head: string
  readonly body: string
}

/** Sends requests over one keep-alive connection, one after the other. */
export interface Asker {
  /** @throws WrongAnswer */
  readonly ask: (asked: Asked) => Promise<Received>
  readonly close: () => void
}

/** An unexpected answer. It is counted, and the load continues. */
export class WrongAnswer extends Error {}

/** `onEnd` is called if the server closes the connection, for which it has no reason. */
export async function openAsker(port: number, times: SoakTimes, onEnd: (reason: string) => void): Promise<Asker> {
  let answer: ((status: number, received: Received) => void) | undefined
  const connection = await openConnection(port, {
    onAnswer: (status, body, head) => answer?.(status, { head, body }),
    onFailure: onEnd,
  })
  return {
    ask: (asked) =>
      new Promise((resolve, reject) => {
        const sentMs = performance.now()
        answer = (status, received) => {
          times.answered(asked.name, performance.now() - sentMs)
          if (
            status === asked.status &&
            (received.body.includes(asked.contains) || received.head.includes(asked.contains))
          )
            return resolve(received)
          reject(new WrongAnswer(`${asked.name}: ${status} ${received.body.slice(0, 200)}`))
        }
        connection.send(render(asked, port))
      }),
    close: connection.close,
  }
}

function render({ method, path, contentType, body = '', cookie }: Asked, port: number): string {
  const lines = [`${method} ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, 'Accept: application/json']
  if (cookie !== undefined) lines.push(`Cookie: ${cookie}`)
  if (contentType !== undefined) lines.push(`Content-Type: ${contentType}`, `Content-Length: ${body.length}`)
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}
