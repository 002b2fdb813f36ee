import { createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { CompactSign, type JWK } from 'jose'
import type { AccessTokenClaims } from '../../src/protocol/token/access-token.ts'
import type { JwtType } from '../../src/ports/records/api.ts'
import { makeClientKey } from '../../tools/client-assertion.ts'
import { makeProof } from '../../tools/dpop-proof.ts'
import { postForm, registerClient, type RegisteredClient, type Tokens } from '../../tools/flow.ts'
import type { ScopePrefix } from './declare-api.ts'
import type { Grantor } from './grantor.ts'

/** The single flaw of a token. Every other part of the token is right. `bound` is to a key, whose proof is not sent. RFC 9449 §7.2. */
export type Flaw =
  | 'none'
  | 'no token'
  | 'signature'
  | 'algorithm none'
  | 'HMAC with the public key'
  | 'iss'
  | 'aud'
  | 'exp'
  | 'typ'
  | 'ID token'
  | 'scope'
  | 'bound'
  | 'revoked'

/** The tokens, and a function that revokes one of them after its first use. */
export interface TokenCases {
  readonly tokens: Readonly<Record<Flaw, string | undefined>>
  readonly revoke: () => Promise<void>
}

/** Tokens for an API: those that Grantor issues, and those that only an attacker or another server would create. */
export async function mintCases(
  grantor: Grantor,
  api: {
    readonly resource: string
    readonly prefix: ScopePrefix
    readonly jwtType: JwtType
    readonly otherResource: string
  },
): Promise<TokenCases> {
  const [read, write] = [`${api.prefix}:read`, `${api.prefix}:write`]
  const client = await registerClient(grantor, { scope: `${read} ${write}` })
  const issue = (resource: string, scope: string, headers = {}): Promise<string> =>
    issueToken(grantor, client, { resource, scope }, headers)
  const address = `${grantor.origin}/v2/oauth/token`
  const dpop = makeProof(makeClientKey('ES256'), { method: 'POST', address, nowMs: Date.now() })
  const [good, revoked, unscoped, foreign, bound] = await Promise.all([
    issue(api.resource, `${read} ${write}`),
    issue(api.resource, read),
    issue(api.resource, write),
    issue(api.otherResource, read),
    issue(api.resource, read, { dpop }),
  ])
  const claims = partOf(good, 1)
  const sign = (changed: object, jwtType = api.jwtType): Promise<string> =>
    grantor.context.tokens.sign(JSON.stringify({ ...claims, ...changed }) as AccessTokenClaims, undefined, jwtType)
  const hourAgo = Math.floor(Date.now() / 1000) - 3600
  const idToken = { aud: client.client_id, azp: client.client_id, client_id: undefined, jti: undefined }
  const tokens = {
    none: good,
    'no token': undefined,
    signature: await forgeSignature(good),
    'algorithm none': [encode({ ...partOf(good, 0), alg: 'none' }), encode(claims), ''].join('.'),
    'HMAC with the public key': await forgeHmac(grantor, good),
    iss: await sign({ iss: 'https://other.example' }),
    aud: foreign,
    exp: await sign({ iat: hourAgo - 900, exp: hourAgo }),
    typ: await sign({}, api.jwtType === 'JWT' ? 'at+jwt' : 'JWT'),
    'ID token': await sign(idToken, 'JWT'),
    scope: unscoped,
    bound,
    revoked,
  }
  const { client_id, client_secret = '' } = client
  const form = { token: revoked, client_id, client_secret }
  return { tokens, revoke: async () => void (await postForm(grantor, '/v2/oauth/revoke', form)) }
}

async function issueToken(
  grantor: Grantor,
  client: RegisteredClient,
  form: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  const { client_id, client_secret = '' } = client
  const credentials = { grant_type: 'client_credentials', client_id, client_secret }
  const answer = await postForm(grantor, '/v2/oauth/token', { ...credentials, ...form }, headers)
  if (answer.statusCode !== 200) throw new Error(`There is no token for ${form['resource']}: ${answer.body}`)
  return answer.json<Tokens>().access_token
}

/** Signs with another key under the key id of the real key. */
async function forgeSignature(token: string): Promise<string> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const header = partOf(token, 0) as { alg: string }
  return new CompactSign(Buffer.from(JSON.stringify(partOf(token, 1)))).setProtectedHeader(header).sign(privateKey)
}

/** RFC 8725 §2.1: signs with the public key as an HMAC secret. */
async function forgeHmac(grantor: Grantor, token: string): Promise<string> {
  const { keys } = (await grantor.inject({ method: 'GET', url: '/v2/oauth/jwks' })).json<{ keys: [JWK] }>()
  const publicPem = createPublicKey({ key: keys[0], format: 'jwk' }).export({ type: 'spki', format: 'pem' })
  const input = `${encode({ ...partOf(token, 0), alg: 'HS256' })}.${encode(partOf(token, 1))}`
  return `${input}.${createHmac('sha256', publicPem).update(input).digest('base64url')}`
}

function partOf(token: string, index: 0 | 1): object {
  return JSON.parse(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString()) as object
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
