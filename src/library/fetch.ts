import { CollectedResponse, ForeignMessage } from './exchange.ts'
import type { Mount } from './mount.ts'

/** Where a request of Fetch comes from. */
export interface Caller {
  /**
   * The address of the TCP peer, an IPv4 or IPv6 address. If it is that of a proxy of `trustProxy`, the address and the scheme that the
   * proxy forwarded count.
   */
  readonly address: string
}

/**
 * Serves a request of Fetch, and returns the response. Above the limit of unanswered requests it gets 503 at once: the host may have read
 * some hundred requests of one connection together, and each that waits holds memory (threats.md NET-14).
 */
export async function answerRequest(mount: Mounted, request: Request, caller: Caller): Promise<Response> {
  const forwarded = request.headers.get('x-forwarded-for') ?? undefined
  const leave = mount.enter({ socket: { remoteAddress: caller.address }, headers: { 'x-forwarded-for': forwarded } })
  if (leave === undefined) return new Response(null, OVERLOADED)
  try {
    return await answer(mount.serve, request, caller)
  } finally {
    leave()
  }
}

type Mounted = Pick<Mount, 'enter' | 'serve'>
const OVERLOADED = { status: 503, headers: { 'Retry-After': '1' } } as const

async function answer(serve: Mounted['serve'], request: Request, { address }: Caller): Promise<Response> {
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
  const collected = await response.answer
  // The rest of a body that was refused is not read: there is no connection to end.
  message.destroy()
  const headers = collected.headers.map(([name, value]): [string, string] => [name, value])
  return new Response(collected.body === '' ? null : collected.body, { status: collected.status, headers })
}
