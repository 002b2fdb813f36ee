import { randomBytes } from 'node:crypto'
import type { OAuthServerProvider } from '@modelcontextprotocol/sdk/server/auth/provider.js'
import { mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js'
import type { OAuthClientInformationFull, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import express from 'express'
import type { MintRequest } from '../throughput/peer.ts'
import { CHALLENGE, listen, REDIRECT_URI, REGISTRATION, serve, tokenEndpoints } from './serve-peer.ts'
import { versionOf } from './version-of.ts'

/**
 * https://www.npmjs.com/package/@modelcontextprotocol/sdk: its authorization router on express, with a minimal provider that has
 * maps in memory and random, unsigned tokens. Its rate limits are switched off.
 */
const CLIENT = { client_id: 'bench', client_secret: 'a-secret-of-the-bench-that-is-long-enough-0123456789' }
const clients = new Map<string, OAuthClientInformationFull>([
  [
    CLIENT.client_id,
    {
      ...CLIENT,
      client_secret_expires_at: 0,
      redirect_uris: [REDIRECT_URI],
      token_endpoint_auth_method: 'client_secret_post',
    },
  ],
])
const refreshTokens = new Map<string, string>()
const codes = new Map<string, string>()

const provider: OAuthServerProvider = {
  clientsStore: {
    getClient: (id) => clients.get(id),
    registerClient(client) {
      const registered = client as OAuthClientInformationFull
      clients.set(registered.client_id, registered)
      return registered
    },
  },
  authorize: async () => undefined,
  challengeForAuthorizationCode: async (_client, code) => codes.get(code) ?? '',
  async exchangeAuthorizationCode(_client, code) {
    if (!codes.delete(code)) throw new Error('There is no such code.')
    return issue()
  },
  async exchangeRefreshToken(_client, token) {
    if (!refreshTokens.delete(token)) throw new Error('There is no such refresh token.')
    return issue()
  },
  verifyAccessToken: async (token) => ({ token, clientId: CLIENT.client_id, scopes: [] }),
}

function issue(): OAuthTokens {
  const refreshToken = randomBytes(32).toString('base64url')
  refreshTokens.set(refreshToken, CLIENT.client_id)
  return {
    access_token: randomBytes(32).toString('base64url'),
    token_type: 'Bearer',
    expires_in: 900,
    refresh_token: refreshToken,
    scope: 'mcp:tools mcp:resources',
  }
}

const port = await listen(async (origin) => {
  const unlimited = { rateLimit: false } as const
  return express().use(
    mcpAuthRouter({
      provider,
      issuerUrl: new URL(origin),
      clientRegistrationOptions: unlimited,
      tokenOptions: unlimited,
      authorizationOptions: unlimited,
    }),
  )
})

async function mint(kind: MintRequest['kind']): Promise<string> {
  const value = randomBytes(32).toString('base64url')
  if (kind === 'refresh-tokens') refreshTokens.set(value, CLIENT.client_id)
  else codes.set(value, CHALLENGE)
  return value
}

serve(
  {
    name: 'MCP SDK',
    version: versionOf('@modelcontextprotocol/sdk'),
    keeps: 'Nothing: it leaves storage to the provider, which here is a map in memory; its tokens are not signed.',
    port,
    endpoints: [
      {
        name: 'register',
        method: 'POST',
        path: '/register',
        contentType: 'application/json',
        status: 201,
        contains: '"client_secret":"',
        repeats: false,
        load: { kind: 'numbered', ...REGISTRATION },
      },
      ...tokenEndpoints(CLIENT, undefined),
      {
        ...{
          name: 'metadata',
          method: 'GET',
          contentType: '',
          status: 200,
          repeats: true,
          load: { kind: 'same', body: '' },
        },
        path: '/.well-known/oauth-authorization-server',
        contains: '"token_endpoint":"',
      },
    ],
  },
  mint,
)
