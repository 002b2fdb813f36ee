import { createHash } from 'node:crypto'
import type { Browser } from './browser.ts'
import { describeAnswer, type Answer, type Http, type Moment, type Sent, type Way } from './http.ts'

/** Where all clients of a run expect their answers. Nothing is ever sent there. */
export const REDIRECT_URI = 'https://app.example/callback'
/** An API that no issuer has. */
export const OTHER_RESOURCE = 'https://other-api.example/'

/** A case that the issuer cannot be judged by, and why. */
export class NotApplicable extends Error {}

export interface Client {
  readonly id: string
  /** undefined: a public client. */
  readonly secret: string | undefined
  readonly method: string
  /** RFC 7592. undefined: the issuer offers no management. */
  readonly management: { readonly url: URL; readonly token: string } | undefined
}

export interface Tokens {
  readonly access: string
  readonly refresh: string
}

/** What the kit reads of the metadata. RFC 8414 §2. */
export interface Metadata {
  readonly issuer: URL
  readonly authorization: URL
  readonly token: URL
  readonly registration: URL
  readonly revocation: URL | undefined
  readonly keys: URL | undefined
  readonly scopes: readonly string[]
}

/** The requests of clients, which are not sent yet. */
interface Requests {
  readonly registration: (name: string, metadata?: Readonly<Record<string, unknown>>) => Sent
  readonly authorizationLink: (client: Client, parameters?: Readonly<Record<string, string>>) => URL
  readonly redemption: (client: Client, code: string, form?: Readonly<Record<string, string>>, from?: Way) => Sent
  readonly rotation: (client: Client, refreshToken: string, from?: Way) => Sent
  /** @throws NotApplicable if the issuer has none */
  readonly revocation: (client: Client, token: string, from?: Way) => Sent
}

/** The issuer that is judged, as clients and their users meet it. */
export interface Issuer extends Requests {
  readonly metadata: Metadata
  readonly http: Http
  readonly register: (name: string, metadata?: Readonly<Record<string, unknown>>) => Promise<Client>
  /** The client of a successful answer, which the run then removes at its end. @throws Error */
  readonly keepClient: (answer: Answer) => Client
  /** Sends the person with a link through the pages. */
  readonly follow: (link: URL) => Promise<URL | undefined>
  readonly obtainCode: (client: Client) => Promise<string>
  /** The tokens of a new grant. @throws NotApplicable if there is no refresh token */
  readonly obtainTokens: (client: Client) => Promise<Tokens>
  /** Refreshes, and requires tokens. A refresh token that is not replaced is the same again. */
  readonly rotate: (client: Client, refreshToken: string) => Promise<Tokens>
  readonly cut: (sent: Sent, moment: Moment) => Promise<void>
  /** Removes the clients of the run. Returns how many are left: public ones, and those of lost answers. RFC 7592 §2.3. */
  readonly removeClients: () => Promise<number>
}

export interface IssuerOptions {
  readonly metadata: Metadata
  readonly http: Http
  readonly browser: Browser
  readonly hasAccount: boolean
  /** Random, or the same for the same seed. */
  readonly seed: string
}

export function openIssuer({ metadata, http, browser, hasAccount, seed }: IssuerOptions): Issuer {
  const clients = new Map<string, Client>()
  let lostRegistrations = 0
  const issuer: Issuer = {
    ...openRequests(metadata, seed),
    metadata,
    http,
    register: async (name, differing = {}) => issuer.keepClient(await http.send(issuer.registration(name, differing))),
    keepClient(answer) {
      const client = clientOf(answer, metadata)
      clients.set(client.id, client)
      return client
    },
    follow: (link) => browser.follow(link),
    async obtainCode(client) {
      if (!hasAccount) throw new NotApplicable('It needs a person: --person and --password-file.')
      const back = await browser.follow(issuer.authorizationLink(client))
      if (back === undefined)
        throw new Error('The pages did not lead back to the client: perhaps another --driver is needed.')
      const code = back.searchParams.get('code')
      if (code === null || !back.href.startsWith(REDIRECT_URI)) throw new Error('The authorization gave no code.')
      return code
    },
    async obtainTokens(client) {
      const answer = await http.send(issuer.redemption(client, await issuer.obtainCode(client)))
      if (!hasTokens(answer)) throw new Error(`A code gave no tokens: ${describeAnswer(answer)}`)
      return requireRefresh(answer, '')
    },
    async rotate(client, refreshToken) {
      const answer = await http.send(issuer.rotation(client, refreshToken))
      if (!hasTokens(answer)) throw new Error(`A refresh gave no tokens: ${describeAnswer(answer)}`)
      return requireRefresh(answer, refreshToken)
    },
    cut(sent, moment) {
      if (sent.url === metadata.registration) lostRegistrations += 1
      return http.sendAndCut(sent, moment)
    },
    async removeClients() {
      for (const { id, management } of clients.values()) {
        if (management === undefined) continue
        const headers = { authorization: `Bearer ${management.token}` }
        const answer = await http.send({ url: management.url, method: 'DELETE', headers }).catch(() => undefined)
        if (answer !== undefined && [204, 401, 404].includes(answer.status)) clients.delete(id)
      }
      return clients.size + lostRegistrations
    },
  }
  return issuer
}

/** Codes with PKCE (RFC 7636), and refresh tokens where the issuer has a scope for them. */
function openRequests(metadata: Metadata, seed: string): Requests {
  const verifier = createHash('sha256').update(`verifier ${seed}`).digest('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const run = createHash('sha256').update(`run ${seed}`).digest('hex').slice(0, 8)
  const scope = ['openid', 'offline_access'].filter((one) => metadata.scopes.includes(one)).join(' ')
  const scoped = scope === '' ? {} : { scope }
  return {
    registration: (name, differing = {}) => ({
      url: metadata.registration,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        client_name: `grantor-prove ${run} ${name}`,
        redirect_uris: [REDIRECT_URI],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_post',
        ...scoped,
        ...differing,
      }),
    }),
    authorizationLink(client, parameters = {}) {
      const link = new URL(metadata.authorization)
      const query = {
        response_type: 'code',
        client_id: client.id,
        redirect_uri: REDIRECT_URI,
        code_challenge: challenge,
        code_challenge_method: 'S256',
        state: run,
        ...scoped,
        // OpenID Connect Core 1.0 §11.
        ...(scope.includes('offline_access') ? { prompt: 'consent' } : {}),
        ...parameters,
      }
      for (const [name, value] of Object.entries(query)) link.searchParams.set(name, value)
      return link
    },
    redemption(client, code, form = {}, from = 'usual') {
      const redemption = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: verifier }
      return post(metadata.token, client, { ...redemption, ...form }, from)
    },
    rotation: (client, refreshToken, from = 'usual') =>
      post(metadata.token, client, { grant_type: 'refresh_token', refresh_token: refreshToken }, from),
    revocation(client, token, from = 'usual') {
      if (metadata.revocation === undefined) throw new NotApplicable('The issuer names no revocation endpoint.')
      return post(metadata.revocation, client, { token, token_type_hint: 'refresh_token' }, from)
    },
  }
}

/** A request in which the client authenticates as it was registered. RFC 6749 §2.3.1. */
function post(url: URL, client: Client, form: Readonly<Record<string, string>>, from: Way): Sent {
  const { id, secret, method } = client
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  if (secret !== undefined && method === 'client_secret_basic') {
    const pair = Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')
    return { url, from, headers: { ...headers, authorization: `Basic ${pair}` }, body: bodyOf(form) }
  }
  const shown = secret === undefined ? {} : { client_secret: secret }
  return { url, from, headers, body: bodyOf({ client_id: id, ...shown, ...form }) }
}

function bodyOf(form: Readonly<Record<string, string>>): string {
  return new URLSearchParams(form).toString()
}

export function hasTokens(answer: Answer | undefined): answer is Answer {
  return answer?.status === 200 && typeof answer.members['access_token'] === 'string'
}

export function refreshTokenOf({ members }: Answer): string | undefined {
  const token = members['refresh_token']
  return typeof token === 'string' ? token : undefined
}

function requireRefresh(answer: Answer, former: string): Tokens {
  const refresh = refreshTokenOf(answer) ?? former
  if (refresh === '') throw new NotApplicable('The issuer gave no refresh token.')
  return { access: String(answer.members['access_token']), refresh }
}

function clientOf(answer: Answer, { registration }: Metadata): Client {
  const {
    client_id: id,
    client_secret: secret,
    token_endpoint_auth_method: method,
    registration_client_uri: uri,
    registration_access_token: token,
  } = answer.members
  if (answer.status !== 201 && answer.status !== 200)
    throw new Error(`A registration was answered ${describeAnswer(answer)}`)
  if (typeof id !== 'string') throw new Error('A registration gave no client_id.')
  const url = typeof uri === 'string' && URL.canParse(uri) ? new URL(uri) : undefined
  const isSame = url?.host === registration.host && typeof token === 'string'
  return {
    id,
    secret: typeof secret === 'string' ? secret : undefined,
    method: typeof method === 'string' ? method : 'client_secret_basic',
    management: isSame ? { url, token } : undefined,
  }
}

/** Reads the metadata. RFC 8414 §3, OpenID Connect Discovery 1.0 §4. @throws Error where nothing can be judged */
export async function readMetadata(http: Http, issuer: URL): Promise<Metadata> {
  const path = issuer.pathname.replace(/\/$/, '')
  const places = [`/.well-known/oauth-authorization-server${path}`, `${path}/.well-known/openid-configuration`]
  for (const place of places) {
    const { status, members } = await http.send({ url: new URL(place, issuer) })
    if (status === 200) return metadataOf(members, issuer)
  }
  throw new Error(`There is no metadata at ${places.join(' or ')}.`)
}

function metadataOf(members: Readonly<Record<string, unknown>>, issuer: URL): Metadata {
  const named = members['issuer']
  if (typeof named !== 'string' || !URL.canParse(named) || new URL(named).href !== issuer.href)
    throw new Error(`The metadata is that of another issuer than ${issuer.href}`)
  const find = (name: string): URL | undefined => {
    const value = members[name]
    if (typeof value !== 'string' || !URL.canParse(value)) return undefined
    const url = new URL(value)
    if (url.origin !== issuer.origin) throw new Error(`${name} is at another origin than the issuer.`)
    return url
  }
  const demand = (name: string): URL => {
    const url = find(name)
    if (url === undefined) throw new Error(`The metadata names no ${name}.`)
    return url
  }
  const scopes = members['scopes_supported']
  return {
    issuer,
    authorization: demand('authorization_endpoint'),
    token: demand('token_endpoint'),
    registration: demand('registration_endpoint'),
    revocation: find('revocation_endpoint'),
    keys: find('jwks_uri'),
    scopes: Array.isArray(scopes) ? scopes.filter((one) => typeof one === 'string') : [],
  }
}
