import type { IncomingMessage, RequestListener } from 'node:http'
import type { TestContext } from 'node:test'
import { openWebHost, type WebHost } from './web-host.ts'

/** Where clients are notified of a logout. */
export interface NotifiedHost extends WebHost {
  /** The address of a client. */
  readonly uri: (path?: string) => string
  /** The logout tokens so far, with the path and the content type of their requests. */
  readonly notices: readonly { readonly path: string; readonly type: string | undefined; readonly token: string }[]
  /** From now on notices get this answer, after their form was read. The usual one is 200. */
  readonly answer: (listener: RequestListener) => void
}

/** Opens a host on this machine that reads the forms of notices. */
export async function openNotifiedHost(test: Pick<TestContext, 'after'>): Promise<NotifiedHost> {
  const notices: { path: string; type: string | undefined; token: string }[] = []
  let listener: RequestListener = (_request, response) => void response.end()
  const host = await openWebHost(test, {}, (request, response) => {
    void readAll(request).then(
      (form) => {
        const token = new URLSearchParams(form).get('logout_token') ?? ''
        notices.push({ path: request.url ?? '', type: request.headers['content-type'], token })
        listener(request, response)
      },
      // The sender gave up before the whole form was here, as on a busy machine.
      () => response.destroy(),
    )
  })
  return {
    ...host,
    uri: (path = '/logout') => `http://127.0.0.1:${host.port}${path}`,
    notices,
    answer: (other) => void (listener = other),
  }
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
