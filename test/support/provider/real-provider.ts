import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { Provider, type Configuration } from 'oidc-provider'
import { CLIENT_ID, CLIENT_SECRET } from './provider-host.ts'

/** https://www.npmjs.com/package/oidc-provider with a sign-in page that asks for a name. The address is that of the name. */
export interface RealProvider {
  readonly issuer: string
}

const PAGE = `<!doctype html><html lang="en"><title>Acme ID</title><h1>Acme ID</h1><form method="post">
  <label>Name <input name="login"></label> <button>Sign in at Acme</button></form>`

export async function openRealProvider(test: Pick<TestContext, 'after'>, redirectUri: string): Promise<RealProvider> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  test.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, configurationOf(redirectUri))
  const handle = provider.callback()
  server.on('request', (request, response) => {
    const isPage = request.url?.startsWith('/interaction/') === true
    void (isPage ? interact(provider, request, response) : handle(request, response))
  })
  return { issuer }
}

function configurationOf(redirectUri: string): Configuration {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_basic',
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid: 'one' }] },
    cookies: { keys: ['a key of the test'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@acme.test`, email_verified: true, name: id }),
    }),
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    // Its own consent is no part of the tests.
    async loadExistingGrant({ oidc }) {
      const { client, session } = oidc
      const grant = new oidc.provider.Grant({ accountId: session?.accountId ?? '', clientId: client?.clientId ?? '' })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  }
}

async function interact(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') return void response.setHeader('content-type', 'text/html').end(PAGE)
  let body = ''
  for await (const chunk of request) body += String(chunk)
  const accountId = new URLSearchParams(body).get('login') ?? ''
  await provider.interactionFinished(request, response, { login: { accountId } })
}
