import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AdminError } from '../../admin/admin-error.ts'

/** A redirect URI on this machine that waits for one authorization response. RFC 8252 §7.3. */
export interface CallbackListener {
  readonly redirectUri: string
  /** The parameters of the response. @throws AdminError when it does not arrive in time */
  readonly answer: (limitMs: number) => Promise<URLSearchParams>
  readonly close: () => void
}

const PATH = '/callback'

/** Listens on a free port of the loopback interface. */
export async function openCallbackListener(): Promise<CallbackListener> {
  const { promise, resolve, reject } = Promise.withResolvers<URLSearchParams>()
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    // Browsers also request an icon.
    if (request.method !== 'GET' || url.pathname !== PATH) return reply(response, 404, 'Not found')
    reply(response, 200, url.searchParams.has('code') ? 'Allowed' : 'Not allowed')
    resolve(url.searchParams)
  })
  server.listen(0, '127.0.0.1')
  await new Promise<void>((listening, failed) => server.once('listening', listening).once('error', failed))
  const { port } = server.address() as AddressInfo
  let timer: NodeJS.Timeout | undefined
  return {
    redirectUri: `http://127.0.0.1:${port}${PATH}`,
    answer(limitMs) {
      timer = setTimeout(
        () => reject(new AdminError(`There was no response within ${limitMs / 1000} s. Try again, or give --timeout.`)),
        limitMs,
      )
      return promise.finally(() => clearTimeout(timer))
    },
    close() {
      clearTimeout(timer)
      server.close()
      server.closeAllConnections()
    },
  }
}

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  connection: 'close',
}

function reply(response: ServerResponse, status: number, heading: string): void {
  response.writeHead(status, HEADERS).end(`<!doctype html>
<html lang="en">
<meta name="viewport" content="width=device-width">
<title>${heading}</title>
<style>:root { color-scheme: light dark } body { max-width: 24rem; margin: 20vh auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif }</style>
<h1>${heading}</h1>
<p>You can close this window. The terminal shows what came back.</p>
`)
}
