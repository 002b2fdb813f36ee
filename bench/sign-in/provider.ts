import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseJson } from '../../src/base/json.ts'

/** An OpenID provider in this process, so that the processor time of the server does not include it. It knows every person. */
export interface BenchProvider {
  readonly issuer: string
  /** Signs a person in at the address to which the browser was sent. Returns the address of the callback. */
  readonly approve: (location: string, subject: string) => string
  readonly close: () => void
}

/** The client_id and the secret of the server. The provider checks neither. */
export const CLIENT = { clientId: 'grantor', clientSecret: randomBytes(16).toString('hex') }
const SECONDS = 300

export async function startProvider(): Promise<BenchProvider> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = { ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(answer(request.url ?? '', body)))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  function answer(path: string, body: string): object {
    if (path === '/jwks') return { keys: [key] }
    if (path !== '/token') return metadataOf(issuer)
    const code = new URLSearchParams(body).get('code') ?? ''
    return { access_token: 'unused', token_type: 'Bearer', expires_in: SECONDS, id_token: idToken(code) }
  }

  /** The code is what the ID token says of the person. */
  function idToken(code: string): string {
    const { nonce, sub } = parseJson(Buffer.from(code, 'base64url').toString()) as Readonly<Record<string, string>>
    const iat = Math.floor(Date.now() / 1000)
    const email = `${sub}@bench.test`
    const person = { sub, nonce, email, email_verified: true, name: sub }
    const claims = { ...person, iss: issuer, aud: CLIENT.clientId, iat, exp: iat + SECONDS }
    const signed = [{ alg: 'RS256', kid: key.kid }, claims].map(encode).join('.')
    return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`
  }

  return {
    issuer,
    approve(location, sub) {
      const { searchParams } = new URL(location)
      const callback = new URL(searchParams.get('redirect_uri') ?? '')
      callback.searchParams.set('state', searchParams.get('state') ?? '')
      callback.searchParams.set('code', encode({ sub, nonce: searchParams.get('nonce') }))
      return callback.href
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function metadataOf(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  }
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
