import { createHash, randomBytes } from 'node:crypto'
import { createRemoteJWKSet, jwtVerify, type JWTPayload } from 'jose'
import { AdminError } from '../../admin/admin-error.ts'
import { openCallbackListener } from './callback-listener.ts'
import { ANSWER_LIMIT_MS, metadataAddress, reasonOf } from '../../doctor/discovery.ts'
import { signInAndAllow, type Credentials } from './page-walker.ts'

export interface CodeFlowOptions {
  readonly issuer: string
  /** A public client with the redirect URI of the callback; undefined: a new client is registered. */
  readonly clientId: string | undefined
  readonly scope: string | undefined
  /** The APIs to request (RFC 8707). The tokens are for the first. */
  readonly resources: readonly string[]
  readonly organizationId: string | undefined
  /** undefined: the user opens the address in a browser. */
  readonly credentials: Credentials | undefined
  readonly limitMs: number
  /** Called after each step that succeeded. */
  readonly onStep: (step: string) => void
  /** Called with the address to open, when there are no credentials. */
  readonly onAddress: (address: string) => void
}

export interface CodeFlowResult {
  readonly clientId: string
  readonly tokens: TokenAnswer
  /** undefined: the token is opaque. */
  readonly claims: JWTPayload | undefined
  readonly refreshed: TokenAnswer
  readonly refreshedClaims: JWTPayload | undefined
}

type Answer = Readonly<Record<string, unknown>>
export interface TokenAnswer extends Answer {
  readonly access_token: string
  readonly refresh_token: string
}

/**
 * The authorization code grant from the side of a client. It makes all checks of a careful client: discovery
 * (RFC 8414), registration (RFC 7591), PKCE (RFC 7636), state, iss (RFC 9207), the token's signature and type (RFC 9068),
 * and one refresh.
 *
 * @throws AdminError naming the step that failed
 */
export async function playCodeFlow(options: CodeFlowOptions): Promise<CodeFlowResult> {
  const { issuer, scope, resources, organizationId, onStep } = options
  const metadata = await call('Discovery', metadataAddress(issuer), {})
  if (metadata['issuer'] !== issuer) {
    throw new AdminError(
      `The issuer of the server is ${String(metadata['issuer'])}, not ${issuer}. Give that one with --issuer.`,
    )
  }
  onStep(`Discovered ${issuer}`)

  const listener = await openCallbackListener()
  try {
    const { redirectUri } = listener
    const clientId = options.clientId ?? (await register(metadata, redirectUri, options))

    const verifier = randomBytes(32).toString('base64url')
    const state = randomBytes(16).toString('base64url')
    const address = new URL(endpoint(metadata, 'authorization_endpoint'))
    const request = {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      state,
      ...(scope === undefined ? {} : { scope }),
      ...(organizationId === undefined ? {} : { org_id: organizationId }),
    }
    for (const [name, value] of Object.entries(request)) address.searchParams.set(name, value)
    for (const resource of resources) address.searchParams.append('resource', resource)
    const answering = listener.answer(options.limitMs)
    const [parameters] = await Promise.all([answering, letPersonDecide(address.href, redirectUri, options)])
    const code = readAnswer(parameters, { state, issuer })
    onStep('Received a code, with the right state and issuer')

    const [resource] = resources
    const verify = openVerifier(metadata, issuer)
    const ask = (form: Readonly<Record<string, string>>): Promise<Answer> =>
      call('The token request', endpoint(metadata, 'token_endpoint'), {
        method: 'POST',
        body: new URLSearchParams({ client_id: clientId, ...form, ...(resource === undefined ? {} : { resource }) }),
      })
    const grant = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri }
    const tokens = requireTokens(await ask(grant))
    const claims = await verify(tokens.access_token, resource)
    onStep(
      claims === undefined
        ? 'Exchanged it for tokens; the access token is opaque, so only its API can introspect it'
        : `Exchanged it for tokens; the access token is signed by the server and meant for ${claims.aud}`,
    )

    const refreshed = requireTokens(await ask({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token }))
    const refreshedClaims = await verify(refreshed.access_token, claims?.aud)
    if (refreshed.refresh_token === tokens.refresh_token) {
      throw new AdminError('The refresh returned the same refresh token: it was not rotated.')
    }
    onStep('Refreshed once; the refresh token rotated')
    return { clientId, tokens, claims, refreshed, refreshedClaims }
  } finally {
    listener.close()
  }
}

/** RFC 7591 §3.1. */
async function register(metadata: Answer, redirectUri: string, { scope, onStep }: CodeFlowOptions): Promise<string> {
  const client = await call('Registration', endpoint(metadata, 'registration_endpoint'), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'grantor perform',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
      ...(scope === undefined ? {} : { scope }),
    }),
  })
  const clientId = String(client['client_id'])
  onStep(`Registered ${clientId}`)
  return clientId
}

async function letPersonDecide(address: string, redirectUri: string, options: CodeFlowOptions): Promise<void> {
  if (options.credentials === undefined) options.onAddress(address)
  else {
    await signInAndAllow(address, redirectUri, options.credentials)
    options.onStep(`Signed in as ${options.credentials.email} and allowed`)
  }
}

/** RFC 6749 §4.1.2, RFC 9207 §2.4. */
function readAnswer(
  parameters: URLSearchParams,
  expected: { readonly state: string; readonly issuer: string },
): string {
  if (parameters.get('state') !== expected.state)
    throw new AdminError('The state of the response differs from that of the request.')
  if (parameters.get('iss') !== expected.issuer) {
    throw new AdminError(`The iss of the response is ${parameters.get('iss') ?? 'missing'}, not ${expected.issuer}.`)
  }
  const error = parameters.get('error')
  if (error !== null)
    throw new AdminError(`The request was rejected: ${error}. ${parameters.get('error_description') ?? ''}`.trim())
  const code = parameters.get('code')
  if (code === null) throw new AdminError('The response has no code.')
  return code
}

/** The claims of a token with a single audience. */
type SingleAudience = JWTPayload & { readonly aud: string }

/**
 * RFC 9068 §4. Only the API can introspect an opaque token, so it is not verified. Without a resource in the request the scopes decide
 * for which API the token is (RFC 9068 §3), which a client learns from the token.
 */
function openVerifier(metadata: Answer, issuer: string) {
  const keys = createRemoteJWKSet(new URL(endpoint(metadata, 'jwks_uri')), { timeoutDuration: ANSWER_LIMIT_MS })
  return async (token: string, audience: string | undefined): Promise<SingleAudience | undefined> => {
    if (!token.includes('.')) return undefined
    try {
      const required = audience === undefined ? { requiredClaims: ['aud'] } : { audience }
      const { payload } = await jwtVerify(token, keys, { issuer, typ: 'at+jwt', ...required })
      if (typeof payload.aud === 'string') return { ...payload, aud: payload.aud }
    } catch (cause) {
      throw new AdminError(`The access token is invalid: ${reasonOf(cause)}.`)
    }
    throw new AdminError('The access token is invalid: it is for several APIs, of which the client requested one.')
  }
}

function requireTokens(answer: Answer): TokenAnswer {
  const { access_token: accessToken, refresh_token: refreshToken } = answer
  if (typeof accessToken === 'string' && typeof refreshToken === 'string') return answer as TokenAnswer
  throw new AdminError(`The response lacks a token; it has ${Object.keys(answer).join(', ')}.`)
}

function endpoint(metadata: Answer, name: string): string {
  const address = metadata[name]
  if (typeof address === 'string' && URL.canParse(address)) return address
  throw new AdminError(`The metadata of the server has no ${name}.`)
}

async function call(what: string, address: string, init: RequestInit): Promise<Answer> {
  let response: Response
  let body: unknown
  try {
    response = await fetch(address, { ...init, redirect: 'error', signal: AbortSignal.timeout(ANSWER_LIMIT_MS) })
    body = await response.json()
  } catch (cause) {
    throw new AdminError(`${what} failed: ${address} does not respond (${reasonOf(cause)}). Is the server running?`)
  }
  if (response.ok && typeof body === 'object' && body !== null) return body as Answer
  throw new AdminError(`${what} failed with status ${response.status}: ${JSON.stringify(body)}`)
}
