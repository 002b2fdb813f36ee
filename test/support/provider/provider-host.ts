import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT, type JWTHeaderParameters } from 'jose'
import { openWebHost, sendJson, type WebHost } from '../hosts/web-host.ts'

/** What the provider knows about a person. */
export type Claims = Readonly<Record<string, unknown>>

/** How the provider deviates for one code. */
export interface Deviation {
  /** Members of the ID token that are replaced; undefined removes one. */
  readonly idToken?: Claims
  readonly header?: Partial<JWTHeaderParameters>
  /** Another key than the published one. */
  readonly key?: CryptoKey | Uint8Array
  /** The whole ID token. */
  readonly raw?: string
  readonly userinfo?: Claims
  /** Members of the query of the callback. null removes one. */
  readonly callback?: Readonly<Record<string, string | null>>
}

interface Issued {
  readonly claims: Claims
  readonly deviation: Deviation
  readonly query: URLSearchParams
}

/** A provider on this machine that does what a test tells it to, also what no provider should. */
export interface ProviderHost extends WebHost {
  readonly issuer: string
  /** Signs a person in at the address to which the browser was sent. Returns the address of the callback. */
  readonly approve: (location: string, claims: Claims, deviation?: Deviation) => string
  /** From now on the path gets this answer. undefined: the usual one. */
  readonly answer: (path: string, listener: RequestListener | undefined) => void
  /** Does something while it answers the next request for this path. */
  readonly during: (path: string, act: () => Promise<unknown>) => void
  /** From now on a request for the path is answered when this resolves. */
  readonly holdBack: (path: string, until: () => Promise<unknown>) => void
  /** The paths that were requested so far. */
  readonly paths: () => readonly string[]
  /** Access tokens and codes that were given out. */
  readonly secrets: readonly string[]
}

export const CLIENT_ID = 'grantor'
export const CLIENT_SECRET = 'the-secret-of-grantor-at-the-provider'

const { privateKey, publicKey } = await generateKeyPair('ES256')
const JWK = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }

/** Opens a provider that speaks OpenID Connect, and at other paths the OAuth and API of GitHub. */
export async function openProviderHost(test: Pick<TestContext, 'after'>): Promise<ProviderHost> {
  const answers = new Map<string, RequestListener>()
  const held = new Map<string, () => Promise<unknown>>()
  const codes = new Map<string, Issued>()
  const tokens = new Map<string, Issued>()
  const secrets: string[] = []
  const pathOf = (request: IncomingMessage): string => new URL(request.url ?? '', 'http://host').pathname
  const host = await openWebHost(test, {}, (request, response) => {
    const path = pathOf(request)
    const listener = answers.get(path) ?? usual(path)
    const until = held.get(path)
    if (until === undefined) listener(request, response)
    else void until().then(() => listener(request, response))
  })
  const issuer = `http://127.0.0.1:${host.port}`

  function usual(path: string): RequestListener {
    switch (path) {
      case '/.well-known/openid-configuration':
        return sendJson(metadataOf(issuer))
      case '/jwks':
        return sendJson({ keys: [JWK] })
      case '/token':
      case '/login/oauth/access_token':
        return (request, response) => void redeem(request, response)
      case '/userinfo':
        return personal(({ claims, deviation }) => ({ ...claims, ...deviation.userinfo }))
      case '/api/v3/user':
        return personal(({ claims }) => ({ id: claims['id'], login: 'ada', name: claims['name'] }))
      case '/api/v3/user/emails':
        return personal(({ claims }) => claims['emails'])
      default:
        return (_request, response) => void response.writeHead(404).end()
    }
  }

  function personal(describe: (issued: Issued) => unknown): RequestListener {
    return (request, response) => {
      const issued = tokens.get((request.headers.authorization ?? '').replace(/^bearer /i, ''))
      if (issued === undefined) return void response.writeHead(401).end()
      return sendJson(describe(issued))(request, response)
    }
  }

  async function redeem(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const form = new URLSearchParams(body)
    const issued = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const basic = Buffer.from((request.headers.authorization ?? '').replace('Basic ', ''), 'base64').toString()
    // RFC 6749 §2.3.1: both parts are form-urlencoded.
    const isClient =
      decodeURIComponent(basic) === `${CLIENT_ID}:${CLIENT_SECRET}` || form.get('client_secret') === CLIENT_SECRET
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isRight =
      issued?.query.get('code_challenge') === challenge && issued.query.get('redirect_uri') === form.get('redirect_uri')
    if (!isClient) return refuse(response, 401, 'invalid_client')
    if (issued === undefined || !isRight) return refuse(response, 400, 'invalid_grant')
    const access_token = keepSecret()
    tokens.set(access_token, issued)
    const isOpenid = (issued.query.get('scope') ?? '').split(' ').includes('openid')
    const id_token = isOpenid ? await idTokenOf(issuer, issued) : undefined
    sendJson({ access_token, token_type: 'Bearer', expires_in: 60, id_token })(request, response)
  }

  function refuse(response: ServerResponse, status: number, error: string): void {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error, error_description: 'refused' }))
  }

  function keepSecret(): string {
    const secret = randomBytes(24).toString('base64url')
    secrets.push(secret)
    return secret
  }

  return {
    ...host,
    issuer,
    secrets,
    answer(path, listener) {
      if (listener === undefined) answers.delete(path)
      else answers.set(path, listener)
    },
    during(path, act) {
      answers.set(path, (request, response) => {
        answers.delete(path)
        void act().then(() => usual(path)(request, response))
      })
    },
    holdBack: (path, until) => void held.set(path, until),
    paths: () => host.requests.map(pathOf),
    approve(location, claims, deviation = {}) {
      const url = new URL(location)
      assert.equal(url.origin, issuer)
      const query = url.searchParams
      const code = keepSecret()
      codes.set(code, { claims, deviation, query })
      const callback = new URL(query.get('redirect_uri') ?? '')
      const sent = { code, state: query.get('state') ?? '', iss: issuer, ...deviation.callback }
      for (const [name, value] of Object.entries(sent)) if (value !== null) callback.searchParams.set(name, value)
      return callback.href
    },
  }
}

export function metadataOf(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    authorization_response_iss_parameter_supported: true,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256', 'HS256', 'none'],
    code_challenge_methods_supported: ['S256'],
  }
}

async function idTokenOf(issuer: string, { claims, deviation, query }: Issued): Promise<string> {
  if (deviation.raw !== undefined) return deviation.raw
  const now = Math.floor(Date.now() / 1000)
  const members = {
    iss: issuer,
    aud: CLIENT_ID,
    iat: now,
    exp: now + 60,
    nonce: query.get('nonce') ?? undefined,
    ...claims,
    ...deviation.idToken,
  }
  return new SignJWT(members)
    .setProtectedHeader({ alg: 'ES256', kid: 'one', ...deviation.header })
    .sign(deviation.key ?? privateKey)
}
