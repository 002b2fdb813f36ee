import { createHash } from 'node:crypto'
import type { InjectOptions, Response as LightMyRequestResponse } from 'light-my-request'

/** The steps of an OAuth flow as plain requests, for tests and tools that need a flow as their preparation. */

export const VERIFIER = 'a-verifier-that-is-long-enough-for-rfc-7636-0123456789'
export const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url')
export const REDIRECT_URI = 'https://app.example/callback'
export const EMAIL = 'ada@acme.test'
export const PASSWORD = 'correct horse battery staple'

/** The server that receives the requests, or another object that passes requests to one. */
export interface RequestTarget {
  readonly inject: (options: InjectOptions) => Promise<LightMyRequestResponse>
}

export interface RegisteredClient {
  readonly client_id: string
  readonly client_secret?: string
  readonly [member: string]: unknown
}

export interface Tokens {
  readonly access_token: string
  readonly refresh_token?: string
  readonly expires_in: number
  readonly scope?: string
}

/** Registers a client, by default for all three grant types. */
export async function registerClient(server: RequestTarget, metadata: object = {}): Promise<RegisteredClient> {
  const response = await postJson(server, '/v2/oauth/register', {
    redirect_uris: [REDIRECT_URI],
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    client_name: 'Example',
    ...metadata,
  })
  if (response.statusCode !== 201) throw new Error(`Registration failed: ${response.body}`)
  return response.json<RegisteredClient>()
}

export function postJson(server: RequestTarget, url: string, body: unknown): Promise<LightMyRequestResponse> {
  return server.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify(body),
  })
}

export function postForm(
  server: RequestTarget,
  url: string,
  form: Readonly<Record<string, string>> | URLSearchParams,
  headers: Readonly<Record<string, string>> = {},
): Promise<LightMyRequestResponse> {
  const payload = new URLSearchParams(form).toString()
  return server.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload,
  })
}

export function requestToken(
  server: RequestTarget,
  client: RegisteredClient,
  form: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<LightMyRequestResponse> {
  const secret = client.client_secret === undefined ? {} : { client_secret: client.client_secret }
  return postForm(server, '/v2/oauth/token', { client_id: client.client_id, ...secret, ...form }, headers)
}

export function authorizeUrl(client: RegisteredClient, parameters: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: REDIRECT_URI,
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    state: 'the-state',
    ...parameters,
  })
  return `/v2/oauth/authorize?${query.toString()}`
}

/** Pushes the request of `authorizeUrl`. RFC 9126 §2.1. */
export function pushRequest(
  server: RequestTarget,
  client: RegisteredClient,
  parameters: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<LightMyRequestResponse> {
  const secret = client.client_secret === undefined ? {} : { client_secret: client.client_secret }
  const form = new URL(authorizeUrl(client, { ...secret, ...parameters }), 'https://unused.example').searchParams
  return postForm(server, '/v2/oauth/par', form, headers)
}

/** Where a client sends a browser with a request that it pushed. RFC 9126 §4. */
export async function pushedUrl(
  server: RequestTarget,
  client: RegisteredClient,
  parameters: Readonly<Record<string, string>> = {},
): Promise<string> {
  const response = await pushRequest(server, client, parameters)
  if (response.statusCode !== 201) throw new Error(`The push failed: ${response.body}`)
  const query = new URLSearchParams({
    client_id: client.client_id,
    request_uri: response.json<{ request_uri: string }>().request_uri,
  })
  return `/v2/oauth/authorize?${query.toString()}`
}

/** A minimal browser that keeps cookies and reads forms. */
export class PlainBrowser {
  readonly #server: RequestTarget
  readonly cookies = new Map<string, string>()

  constructor(server: RequestTarget) {
    this.#server = server
  }

  async get(url: string, headers: Readonly<Record<string, string>> = {}): Promise<LightMyRequestResponse> {
    const sent = { ...this.#headers(), ...headers }
    return this.#keep(await this.#server.inject({ method: 'GET', url: pathOf(url), headers: sent }))
  }

  async post(
    url: string,
    form: Readonly<Record<string, string>> | URLSearchParams,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<LightMyRequestResponse> {
    return this.#keep(
      await postForm(this.#server, pathOf(url), form, {
        ...this.#headers(),
        'sec-fetch-site': 'same-origin',
        ...headers,
      }),
    )
  }

  /** Posts the form of a page that has `fields`, with its hidden fields. */
  submit(page: LightMyRequestResponse, fields: Readonly<Record<string, string>>): Promise<LightMyRequestResponse> {
    const form = { body: formWith(page, Object.keys(fields)) }
    return this.post(formAction(form), { ...hiddenFields(form), ...fields })
  }

  /** The value of the header `Cookie`. RFC 6265 §4.2.1. */
  get cookieHeader(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  #headers(): Record<string, string> {
    return this.cookies.size === 0 ? {} : { cookie: this.cookieHeader }
  }

  #keep(response: LightMyRequestResponse): LightMyRequestResponse {
    for (const { name, value, maxAge } of response.cookies) {
      if (value === '' || maxAge === 0) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    return response
  }
}

/** The fields that a browser sends without the user's doing: hidden ones, and boxes that are checked. */
export function hiddenFields(page: Pick<LightMyRequestResponse, 'body'>): Record<string, string> {
  const inputs = page.body.match(/<input[^>]*type="(?:hidden"|checkbox"[^>]* checked)[^>]*>/g) ?? []
  return Object.fromEntries(inputs.map((input) => [attribute(input, 'name'), attribute(input, 'value')]))
}

/** Signs in and consents. Returns the redirect to the client. */
export async function signInAndAllow(browser: PlainBrowser, url: string): Promise<URL> {
  const start = await browser.get(url)
  let page = await browser.get(locationOf(start))
  // Where a provider has a domain, the page asks for the address first.
  const isAddressFirst = page.body.includes('name="email"') && !page.body.includes('type="password"')
  if (isAddressFirst) page = await browser.submit(page, { email: EMAIL })
  if (page.body.includes('type="password"')) {
    const signedIn = await browser.submit(page, { email: EMAIL, password: PASSWORD })
    page = await browser.get(locationOf(signedIn))
  }
  if (!page.body.includes('name="decision"')) {
    throw new Error(
      `Not a consent page, perhaps because the consent is remembered (${page.statusCode}): ${page.headers.location ?? page.body}`,
    )
  }
  return new URL(locationOf(await browser.submit(page, { decision: 'allow' })))
}

/** A new authorization code for the client, through a new browser. */
export async function obtainCode(
  server: RequestTarget,
  client: RegisteredClient,
  parameters: Readonly<Record<string, string>> = {},
): Promise<string> {
  const answer = await signInAndAllow(new PlainBrowser(server), authorizeUrl(client, parameters))
  const code = answer.searchParams.get('code')
  if (code === null) throw new Error(`There is no code in ${answer.href}`)
  return code
}

export function redeem(
  server: RequestTarget,
  client: RegisteredClient,
  code: string,
  form: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<LightMyRequestResponse> {
  const given = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER }
  return requestToken(server, client, { ...given, ...form }, headers)
}

export function refresh(
  server: RequestTarget,
  client: RegisteredClient,
  refreshToken: string,
  form: Readonly<Record<string, string>> = {},
): Promise<LightMyRequestResponse> {
  return requestToken(server, client, { grant_type: 'refresh_token', refresh_token: refreshToken, ...form })
}

/** The tokens of a complete authorization code flow. */
export async function obtainTokens(
  server: RequestTarget,
  client: RegisteredClient,
  parameters: Readonly<Record<string, string>> = {},
): Promise<Tokens> {
  const response = await redeem(server, client, await obtainCode(server, client, parameters))
  if (response.statusCode !== 200) throw new Error(`No tokens: ${response.body}`)
  return response.json<Tokens>()
}

/** Consents once in a new browser, and then gets codes without a page, all at once. */
export async function silentCodes(
  server: RequestTarget,
  client: RegisteredClient,
  count: number,
): Promise<readonly string[]> {
  const browser = new PlainBrowser(server)
  await signInAndAllow(browser, authorizeUrl(client, { prompt: 'consent' }))
  const answers = await Promise.all(
    Array.from({ length: count }, () => browser.get(authorizeUrl(client, { prompt: 'none' }))),
  )
  return answers.map((answer) => new URL(locationOf(answer)).searchParams.get('code') ?? '')
}

export function locationOf(response: LightMyRequestResponse): string {
  const { location } = response.headers
  if (location === undefined) throw new Error(`Not a redirect (${response.statusCode}): ${response.body}`)
  return location
}

/** The form of a page that has fields or buttons with these names. A page with one form may have fields outside of it. */
export function formWith({ body }: { readonly body: string }, names: readonly string[]): string {
  const forms = body.match(/<form[^]*?<\/form>/g) ?? []
  if (forms.length < 2) return body
  const known = names.filter((name) => body.includes(`name="${name}"`))
  return forms.find((form) => known.every((name) => form.includes(`name="${name}"`))) ?? body
}

export function formAction(page: Pick<LightMyRequestResponse, 'body'>): string {
  return attribute(/<form[^>]*>/.exec(page.body)?.[0] ?? '', 'action')
}

export function attribute(tag: string, name: string): string {
  return unescaped(new RegExp(`${name}="([^"]*)"`).exec(tag)?.[1] ?? '')
}

export function unescaped(text: string): string {
  return text
    .replaceAll('&amp;', '&')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
}

function pathOf(url: string): string {
  return url.startsWith('http') ? url.slice(new URL(url).origin.length) : url
}
