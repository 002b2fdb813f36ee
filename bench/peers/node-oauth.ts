import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { IncomingMessage, RequestListener } from 'node:http'
import OAuth2Server from '@node-oauth/oauth2-server'
import type { MintRequest } from '../throughput/peer.ts'
import { CHALLENGE, listen, REDIRECT_URI, serve, tokenEndpoints } from './serve-peer.ts'
import { versionOf } from './version-of.ts'

/**
 * https://www.npmjs.com/package/@node-oauth/oauth2-server on node:http with a model in memory, as its documentation describes. It
 * has a token endpoint and no registration. The model creates access tokens as ES256 JWTs.
 */
const SCOPE = ['mcp:tools', 'mcp:resources']
const CLIENT = { client_id: 'bench', client_secret: 'a-secret-of-the-bench-that-is-long-enough-0123456789' }
const USER = { id: 'ada' }
const client: OAuth2Server.Client = {
  id: CLIENT.client_id,
  redirectUris: [REDIRECT_URI],
  grants: ['authorization_code', 'refresh_token', 'client_credentials'],
}
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const secretHash = createHash('sha256').update(CLIENT.client_secret).digest('base64url')
const refreshTokens = new Map<string, OAuth2Server.RefreshToken>()
const codes = new Map<string, OAuth2Server.AuthorizationCode>()

const model = {
  async getClient(id: string, secret: string) {
    if (id !== CLIENT.client_id) return undefined
    return createHash('sha256').update(secret).digest('base64url') === secretHash ? client : undefined
  },
  getUserFromClient: async () => USER,
  validateScope: async () => SCOPE,
  generateAccessToken: async () => signToken(),
  async saveToken(token: OAuth2Server.Token, of: OAuth2Server.Client, user: OAuth2Server.User) {
    const saved = { ...token, client: of, user }
    if (token.refreshToken !== undefined) refreshTokens.set(token.refreshToken, saved as OAuth2Server.RefreshToken)
    return saved
  },
  getRefreshToken: async (token: string) => refreshTokens.get(token),
  revokeToken: async ({ refreshToken }: OAuth2Server.RefreshToken) => refreshTokens.delete(refreshToken),
  getAuthorizationCode: async (code: string) => codes.get(code),
  revokeAuthorizationCode: async ({ authorizationCode }: OAuth2Server.AuthorizationCode) =>
    codes.delete(authorizationCode),
  saveAuthorizationCode: async () => undefined,
  getAccessToken: async () => undefined,
}

function signToken(): string {
  const iat = Math.floor(Date.now() / 1000)
  const header = encode({ alg: 'ES256', typ: 'at+jwt', kid: 'bench' })
  const claims = encode({
    ...{ iss: 'http://127.0.0.1', aud: 'https://api.example', sub: USER.id, client_id: CLIENT.client_id },
    ...{ iat, exp: iat + 900, jti: randomBytes(16).toString('base64url'), scope: SCOPE.join(' ') },
  })
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const
  const signature = sign('sha256', Buffer.from(`${header}.${claims}`), key).toString('base64url')
  return `${header}.${claims}.${signature}`
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

const server = new OAuth2Server({ model: model as never, accessTokenLifetime: 900, alwaysIssueNewRefreshToken: true })

const answer: RequestListener = (message, out) => {
  void read(message).then(async (text) => {
    const response = new OAuth2Server.Response({ headers: {} })
    const request = new OAuth2Server.Request({
      method: message.method ?? '',
      headers: message.headers as Record<string, string>,
      query: {},
      body: Object.fromEntries(new URLSearchParams(text)),
    })
    await server.token(request, response).then(undefined, () => undefined)
    const body = JSON.stringify(response.body)
    out.writeHead(response.status ?? 500, {
      ...response.headers,
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
    })
    out.end(body)
  })
}

async function read(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

const port = await listen(async () => answer)

async function mint(kind: MintRequest['kind']): Promise<string> {
  const value = randomBytes(32).toString('hex')
  const expires = new Date(Date.now() + 3_600_000)
  if (kind === 'refresh-tokens') {
    refreshTokens.set(value, { refreshToken: value, refreshTokenExpiresAt: expires, scope: SCOPE, client, user: USER })
  } else {
    codes.set(value, {
      ...{ authorizationCode: value, expiresAt: expires, redirectUri: REDIRECT_URI, scope: SCOPE, client, user: USER },
      ...{ codeChallenge: CHALLENGE, codeChallengeMethod: 'S256' },
    })
  }
  return value
}

serve(
  {
    name: 'node-oauth',
    version: versionOf('@node-oauth/oauth2-server'),
    keeps: 'Nothing: it leaves storage to the model, which here is a map in memory.',
    port,
    endpoints: tokenEndpoints(CLIENT, {}),
  },
  mint,
)
