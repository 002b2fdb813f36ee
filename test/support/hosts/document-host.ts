import type { RequestListener } from 'node:http'
import type { TestContext } from 'node:test'
import { REDIRECT_URI, type RegisteredClient } from '../../../tools/flow.ts'
import { openWebHost, sendJson, type WebHost, type WebHostOptions } from './web-host.ts'

/** A web server on this machine that publishes client metadata documents. */
export interface DocumentHost extends WebHost {
  /** A client whose metadata document has this path. */
  readonly client: (path?: string) => RegisteredClient
  /** From now on the document of each path is the usual one with these members; undefined removes one. */
  readonly publish: (members: object, headers?: Readonly<Record<string, string>>) => void
  /** From now on every request gets this answer. */
  readonly answer: (listener: RequestListener) => void
}

/** The members of a document besides `client_id`. */
const USUAL = {
  client_name: 'Example',
  redirect_uris: [REDIRECT_URI],
  grant_types: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_method: 'none',
}

/** Opens the host, whose documents are never fresh for longer than the server keeps any. */
export async function openDocumentHost(
  test: Pick<TestContext, 'after'>,
  options: WebHostOptions = {},
): Promise<DocumentHost> {
  let listener: RequestListener
  const host = await openWebHost(test, options, (request, response) => listener(request, response))
  const origin = `${options.tlsName === undefined ? 'http' : 'https'}://${options.tlsName ?? 'localhost'}:${host.port}`
  function publish(members: object, headers: Readonly<Record<string, string>> = {}): void {
    listener = (request, response) => {
      const client_id = `${origin.split('//', 1)[0]}//${request.headers.host}${request.url}`
      sendJson({ client_id, ...USUAL, ...members }, headers)(request, response)
    }
  }
  publish({})
  return {
    ...host,
    client: (path = '/client.json') => ({ client_id: origin + path }),
    publish,
    answer: (other) => void (listener = other),
  }
}
