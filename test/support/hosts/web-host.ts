import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { generate } from 'selfsigned'

/** A web server on this machine, whose requests the server under test sends. */
export interface WebHost {
  readonly port: number
  /** The requests so far, with their headers. */
  readonly requests: readonly IncomingMessage[]
  /** How many connections were opened so far. */
  readonly connections: () => number
}

export interface WebHostOptions {
  readonly address?: string
  readonly port?: number
  /** The name of the certificate, which this process trusts from then on. undefined: plain HTTP. */
  readonly tlsName?: string
}

/** Opens a web server, which is closed after the test. */
export async function openWebHost(
  test: Pick<TestContext, 'after'>,
  { address = '127.0.0.1', port = 0, tlsName }: WebHostOptions,
  handle: RequestListener,
): Promise<WebHost> {
  const requests: IncomingMessage[] = []
  let connections = 0
  const listener: RequestListener = (request, response) => {
    requests.push(request)
    handle(request, response)
  }
  const server: Server =
    tlsName === undefined ? createHttpServer(listener) : createHttpsServer(await certificateFor(tlsName), listener)
  server.on('connection', () => (connections += 1))
  server.listen(port, address)
  await once(server, 'listening')
  test.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, requests, connections: () => connections }
}

/** Sends a JSON document. */
export function sendJson(document: unknown, headers: Readonly<Record<string, string>> = {}): RequestListener {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(document))
  }
}

type Certificate = { readonly key: string; readonly cert: string }
const certificates = new Map<string, Promise<Certificate>>()

/** One certificate for each name: of several with one name, a client would try only one as the issuer. */
function certificateFor(name: string): Promise<Certificate> {
  const known = certificates.get(name) ?? makeCertificate(name)
  certificates.set(name, known)
  return known
}

async function makeCertificate(name: string): Promise<Certificate> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
  })
  setDefaultCACertificates([...getCACertificates('default'), cert])
  return { key, cert }
}
