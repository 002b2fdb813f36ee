import { generateKeyPairSync } from 'node:crypto'
import Provider, { type Configuration } from 'oidc-provider'
import type { MintRequest } from '../throughput/peer.ts'
import { CHALLENGE, listen, REDIRECT_URI, REGISTRATION, serve, tokenEndpoints } from './serve-peer.ts'
import { MemoryAdapter } from './memory-adapter.ts'
import { versionOf } from './version-of.ts'

/**
 * https://www.npmjs.com/package/oidc-provider with everything in memory. Registration is open; access tokens are ES256 JWTs for a resource; refresh tokens rotate.
 */
const RESOURCE = 'https://api.example'
const SCOPE = 'mcp:tools mcp:resources'
const CLIENT = { client_id: 'bench', client_secret: 'a-secret-of-the-bench-that-is-long-enough-0123456789' }
const ACCOUNT = 'ada'

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const configuration: Configuration = {
  adapter: MemoryAdapter,
  clients: [
    {
      ...CLIENT,
      redirect_uris: [REDIRECT_URI],
      token_endpoint_auth_method: 'client_secret_post',
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
      response_types: ['code'],
      application_type: 'native',
    },
  ],
  clientDefaults: { application_type: 'native', id_token_signed_response_alg: 'ES256' } as never,
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig', kid: 'bench' } as never] },
  cookies: { keys: ['bench'] },
  scopes: ['openid', 'offline_access', 'mcp:tools', 'mcp:resources'],
  findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  rotateRefreshToken: true,
  ttl: { AccessToken: 900, ClientCredentials: 900, RefreshToken: 2_592_000, AuthorizationCode: 600, Grant: 2_592_000 },
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => RESOURCE,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope: SCOPE,
        accessTokenTTL: 900,
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: 'ES256' } },
      }),
    },
  },
}

let provider: Provider
const port = await listen(async (origin) => {
  provider = new Provider(origin, configuration)
  return provider.callback()
})

async function mint(kind: MintRequest['kind']): Promise<string> {
  const client = await provider.Client.find(CLIENT.client_id)
  if (client === undefined) throw new Error('The client is not there.')
  const grant = new provider.Grant({ accountId: ACCOUNT, clientId: CLIENT.client_id })
  grant.addResourceScope(RESOURCE, SCOPE)
  const grantId = await grant.save()
  const facts = {
    accountId: ACCOUNT,
    client,
    grantId,
    gty: 'authorization_code',
    scope: SCOPE,
    resource: RESOURCE,
    expiresWithSession: false,
    authTime: Math.floor(Date.now() / 1000),
  }
  if (kind === 'refresh-tokens') return new provider.RefreshToken(facts as never).save()
  const code = { ...facts, redirectUri: REDIRECT_URI, codeChallenge: CHALLENGE, codeChallengeMethod: 'S256' }
  return new provider.AuthorizationCode(code as never).save()
}

const document = {
  method: 'GET',
  contentType: '',
  status: 200,
  repeats: true,
  load: { kind: 'same', body: '' },
} as const
serve(
  {
    name: 'oidc-provider',
    version: versionOf('oidc-provider'),
    keeps: 'Nothing: the adapter keeps all in memory.',
    port,
    endpoints: [
      {
        name: 'register',
        method: 'POST',
        path: '/reg',
        contentType: 'application/json',
        status: 201,
        contains: '"client_secret":"',
        repeats: false,
        load: { kind: 'numbered', ...REGISTRATION },
      },
      ...tokenEndpoints(CLIENT, { scope: SCOPE, resource: RESOURCE }),
      { ...document, name: 'metadata', path: '/.well-known/openid-configuration', contains: '"token_endpoint":"' },
      { ...document, name: 'jwks', path: '/jwks', contains: '"keys":[' },
    ],
  },
  mint,
)
