import { CollectedResponse, ForeignMessage } from './exchange.ts'
import type { Serve } from './mount.ts'

/** Where a request of Fetch comes from. */
export interface Caller {
  /**
   * The address of the TCP peer, an IPv4 or IPv6 address. If it is that of a proxy of `trustProxy`, the address and the scheme that the
   * proxy forwarded count.
   */
  readonly address: string
}

/** Serves a request of Fetch, and returns the response. */
export async function answerRequest(serve: Serve, request: Request, { address }: Caller): Promise<Response> {
  const url = new URL(request.url)
  const { body, bodyUsed: isRead, method } = request
  const message = new ForeignMessage({
    method,
    target: url.pathname + url.search,
    headers: request.headers.has('host') ? request.headers : [['host', url.host], ...request.headers],
    body: isRead ? undefined : (body ?? undefined),
    isRead,
    address,
    isEncrypted: url.protocol === 'https:',
  })
  // Not every host ends the body of a caller who is gone.
  const { signal } = request
  const leave = (): void => void message.destroy(new Error('The caller is gone.'))
  if (signal.aborted) leave()
  else signal.addEventListener('abort', leave, { once: true })
  const response = new CollectedResponse(message)
  await serve(message, response, request)
  const answer = await response.answer
  // The rest of a body that was refused is not read: there is no connection to end.
  message.destroy()
  const headers = answer.headers.map(([name, value]): [string, string] => [name, value])
  return new Response(answer.body === '' ? null : answer.body, { status: answer.status, headers })
}
