import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serveCalls, startWorker } from '../../tools/process/worker.ts'
import type { Answer } from './slice.ts'
import type { LoadedServer } from './turn.ts'

/**
 * The bare server does the minimum of a Node.js server. It reads the body and sends a fixed answer, which is a copy of an answer
 * of the measured server. The difference of their costs is the cost of the measured server's own work.
 */
export interface BareServer extends LoadedServer {
  /** Sets the answer of the bare server. */
  readonly imitate: (answer: Answer) => Promise<void>
}

/** Starts the bare server, the reference of all ratios, on the given core. undefined: on any core. */
export async function startBareServer(core: number | undefined): Promise<BareServer> {
  const worker = await startWorker<typeof functions>(new URL(import.meta.url), core)
  return { pid: worker.pid, port: await worker.call('listen'), imitate: (answer) => worker.call('imitate', answer) }
}

let answer: Answer = { status: 503, headers: [], body: '' }

const functions = {
  async listen(): Promise<number> {
    const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => void chunks.push(chunk))
      request.on('end', () => {
        Buffer.concat(chunks)
        response.writeHead(answer.status, [...answer.headers]).end(answer.body)
      })
    })
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  },
  imitate(given: Answer): void {
    answer = given
  },
}
if (import.meta.main) serveCalls(functions)
