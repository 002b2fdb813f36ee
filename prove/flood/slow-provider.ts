import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

/** An OpenID provider that answers each token request late, as a busy one does. */
export interface SlowProvider {
  readonly issuer: string
  /** The callback of a person whom the provider signs in at the address to which the browser was sent. */
  readonly callbackOf: (location: string, person: string) => string
  readonly requests: () => number
  readonly close: () => Promise<unknown>
}

export const CLIENT_ID = 'grantor'

export async function openSlowProvider(latencyMs: number): Promise<SlowProvider> {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }
  let requests = 0
  const server = createServer((request, response) => void answer(request, response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/.well-known/openid-configuration') return send(response, 200, metadata())
    if (request.url === '/jwks') return send(response, 200, { keys: [jwk] })
    requests += 1
    const code = new URLSearchParams(await text(request)).get('code') ?? ''
    await delay(latencyMs)
    const [nonce, sub] = code.split(' ')
    if (sub === undefined) return send(response, 400, { error: 'invalid_grant' })
    const id_token = await new SignJWT({ sub, nonce: nonce ?? '', name: sub, email: `${sub}@acme.example` })
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .setIssuer(issuer)
      .setAudience(CLIENT_ID)
      .setIssuedAt()
      .setExpirationTime('1m')
      .sign(privateKey)
    send(response, 200, { access_token: 'a', token_type: 'Bearer', id_token })
  }

  const metadata = (): object => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    id_token_signing_alg_values_supported: ['ES256'],
  })

  return {
    issuer,
    callbackOf(location, person) {
      const asked = new URL(location).searchParams
      const callback = new URL(asked.get('redirect_uri') ?? '')
      callback.searchParams.set('state', asked.get('state') ?? '')
      callback.searchParams.set('code', `${asked.get('nonce') ?? ''} ${person}`)
      return callback.href
    },
    requests: () => requests,
    close() {
      server.closeAllConnections()
      return once(server.close(), 'close')
    },
  }
}

function send(response: ServerResponse, status: number, document: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(document))
}
