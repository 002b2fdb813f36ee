import type { Server } from 'node:http'
import type { Context } from '../ports/context.ts'
import { FORWARDED_ADDRESS_IGNORED, FORWARDED_ADDRESS_MISSING } from '../ports/observers.ts'
import { refuseBytes } from './broken-request.ts'
import { TIMEOUTS } from './connection-limits.ts'
import type { Listener } from './listener.ts'
import { createServer } from './node-http.ts'

/** How long a connection may transfer no data. */
export const SILENCE_TIMEOUT_MS = 60_000

/** Creates the HTTP server of the endpoints. It does not listen yet. */
export function createApp({ answer, connections, scheduler }: Listener, { record }: Pick<Context, 'record'>): Server {
  // optimizeEmptyRequests: Node.js emits no end event for a request without a body, which makes the request cheaper.
  const { Message, Response } = connections
  const options = { ...TIMEOUTS, optimizeEmptyRequests: true, IncomingMessage: Message, ServerResponse: Response }
  const server = createServer(options, (message, response) => void answer(message, response))
  connections.watch(server)
  server.once(FORWARDED_ADDRESS_IGNORED, () => record({ event: 'forwarded-address.ignored' }))
  server.once(FORWARDED_ADDRESS_MISSING, () => record({ event: 'forwarded-address.missing' }))
  return server.on('connection', scheduler.accepted).on('clientError', refuseBytes).setTimeout(SILENCE_TIMEOUT_MS)
}
