import { createServer, type IncomingMessage } from 'node:http'
import type { TestContext } from 'node:test'
import type { TestServer } from '../support/server.ts'

/** A request that passes a proxy before an issuer. */
export interface Passing {
  readonly method: string
  /** Without its query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The fields of a form; none for another body. */
  readonly form: URLSearchParams
}

export interface Passed {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: string
}

/** Passes the request on, with changes. */
export type Pass = (change?: Partial<Pick<Passing, 'headers' | 'body'>>) => Promise<Passed>

/** What a proxy does to the answers of a good issuer. It remembers what it needs, and may know of a restart of the issuer. */
export interface Wrong {
  readonly answer: (passing: Passing, pass: Pass) => Promise<Passed>
  readonly restarted?: () => void
}

/** All of these wrongs: the first one gets each request first. */
export function together(wrongs: readonly Wrong[]): Wrong {
  return {
    answer: (passing, pass) =>
      wrongs.reduceRight<(changed: Passing) => Promise<Passed>>(
        (next, wrong) => (now) => wrong.answer(now, (change) => next({ ...now, ...change })),
        ({ headers, body }) => pass({ headers, body }),
      )(passing),
    restarted: () => wrongs.forEach((wrong) => wrong.restarted?.()),
  }
}

/** Listens before a server until the test ends. `find`: the server of the moment. */
export async function openKitProxy(t: TestContext, port: number, find: () => TestServer, wrong: Wrong): Promise<void> {
  const proxy = createServer((incoming, outgoing) => {
    void read(incoming)
      .then((passing) => wrong.answer(passing, (change) => forward(find(), incoming, passing, change)))
      .then(({ status, headers, body }) => outgoing.writeHead(status, { ...headers } as never).end(body))
  })
  await new Promise<void>((resolve) => void proxy.listen(port, resolve))
  t.after(() => proxy.close().closeAllConnections())
}

async function read(incoming: IncomingMessage): Promise<Passing> {
  const parts: Buffer[] = []
  for await (const part of incoming) parts.push(part as Buffer)
  const body = Buffer.concat(parts).toString()
  const url = new URL(incoming.url ?? '', 'http://unused.example')
  const isForm = incoming.headers['content-type'] === 'application/x-www-form-urlencoded'
  return {
    method: incoming.method ?? '',
    path: url.pathname,
    query: url.searchParams,
    headers: incoming.headers as Readonly<Record<string, string>>,
    body,
    form: new URLSearchParams(isForm ? body : ''),
  }
}

async function forward(
  server: TestServer,
  incoming: IncomingMessage,
  { method, headers, body }: Passing,
  change: Parameters<Pass>[0] = {},
): Promise<Passed> {
  const { 'content-length': _, ...sent } = { ...headers, ...change.headers }
  const answer = await server.inject({
    method,
    url: incoming.url ?? '',
    headers: sent,
    remoteAddress: incoming.socket.remoteAddress ?? '',
    ...(method === 'GET' ? {} : { payload: change.body ?? body }),
  })
  const { 'content-length': _length, 'transfer-encoding': _coding, connection: _connection, ...kept } = answer.headers
  return { status: answer.statusCode, headers: kept as Passed['headers'], body: answer.body }
}
