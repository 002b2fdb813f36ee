import { OPAQUE_RESOURCE, REDIRECT_URI, SCOPE, VERIFIER, type CodeMint } from './codes.ts'
import { assertionClaims, assertionForm, makeClientKey, signJws } from '../tools/client-assertion.ts'
import { makeProof } from '../tools/dpop-proof.ts'
import { FORM_TYPE, receive } from '../tools/send.ts'
import type { Bodies, RequestKind } from './load/slice.ts'

/** One endpoint that is measured. */
export interface Endpoint extends RequestKind {
  readonly name: EndpointName
  /** Whether equal requests may get equal answers. Otherwise an equal answer ends the run. */
  readonly repeats: boolean
  /** The lowest allowed ratio to the bare server. undefined: the ratio is only reported. */
  readonly gate: number | undefined
  /** Creates the bodies for a slice of about that many requests, before the measurement starts. */
  readonly prepare: (count: number, connections: number) => Promise<Bodies>
  /** Tokens of the last slice that the next one continues with. */
  readonly carryOn?: (left: { readonly total: number; readonly tokens: readonly string[] }) => void
}

export const ENDPOINT_NAMES = [
  'register',
  'client_credentials',
  'assertion',
  'dpop',
  'assertion+dpop',
  'opaque',
  'code',
  'login',
  'refresh',
  'refresh-earlier',
  'introspect',
  'metadata',
  'jwks',
] as const
export type EndpointName = (typeof ENDPOINT_NAMES)[number]

/** How many generations a copy is behind. */
const GENERATIONS_BEHIND = 16

const REGISTER_PATH = '/v2/oauth/register'
const JSON_TYPE = 'application/json'
const FORM = { method: 'POST', contentType: FORM_TYPE, status: 200 } as const
const TOKEN = { ...FORM, path: '/v2/oauth/token', repeats: false } as const
const DOCUMENT = {
  method: 'GET',
  contentType: '',
  status: 200,
  repeats: true,
  prepare: async (): Promise<Bodies> => ({ kind: 'same', body: '' }),
} as const

/** Registers the clients of the load, and returns the endpoints. */
export async function openEndpoints(port: number, mint: CodeMint): Promise<readonly Endpoint[]> {
  const { client_id, client_secret, registration_client_uri } = await registerClient(port, metadata('itself'))
  const client = { client_id, client_secret }
  const key = makeClientKey('ES256')
  const address = `${new URL(registration_client_uri).origin}${TOKEN.path}`
  const prove = (): string => makeProof(key, { method: 'POST', address, nowMs: Date.now() })
  const signer = await registerSigner(port)
  const relyingParty = await registerRelyingParty(port)
  const codeForm = { grant_type: 'authorization_code', redirect_uri: REDIRECT_URI, code_verifier: VERIFIER, ...client }
  const codeBody = (code: string): string => form({ ...codeForm, code })
  const machineBody = form({ grant_type: 'client_credentials', ...client })
  let registered = 0
  const refreshBody = `${form({ grant_type: 'refresh_token', ...client })}&refresh_token=`
  let tokens: readonly string[] = []
  /** The bodies of requests with earlier tokens, one for each connection. */
  let copies: readonly string[] = []

  return [
    {
      name: 'register',
      method: 'POST',
      path: REGISTER_PATH,
      contentType: JSON_TYPE,
      status: 201,
      contains: '"client_secret":"',
      repeats: false,
      gate: 0.25,
      async prepare() {
        const [before = '', after = ''] = JSON.stringify(metadata('#')).split('#')
        return { kind: 'numbered', before, after, first: registered }
      },
      carryOn: ({ total }) => void (registered += total),
    },
    {
      ...TOKEN,
      name: 'client_credentials',
      contains: '"access_token":"',
      gate: 0.3,
      prepare: async () => ({ kind: 'same', body: machineBody }),
    },
    {
      // client_credentials with `private_key_jwt`: a verification and a row more.
      ...TOKEN,
      name: 'assertion',
      contains: '"access_token":"',
      gate: undefined,
      prepare: async (count) => ({ kind: 'once', bodies: Array.from({ length: count }, () => form(signer())) }),
    },
    {
      // client_credentials with a proof: another verification. The server remembers no proof, so one serves a slice.
      ...TOKEN,
      name: 'dpop',
      contains: '"token_type":"DPoP"',
      gate: undefined,
      prepare: async () => ({ kind: 'same', body: machineBody, headers: [`DPoP: ${prove()}`] }),
    },
    {
      // Both, as FAPI 2.0 has it.
      ...TOKEN,
      name: 'assertion+dpop',
      contains: '"token_type":"DPoP"',
      gate: undefined,
      prepare: async (count) => ({
        kind: 'once',
        bodies: Array.from({ length: count }, () => form(signer())),
        headers: [`DPoP: ${prove()}`],
      }),
    },
    {
      ...TOKEN,
      name: 'opaque',
      contains: '"access_token":"gat_',
      gate: 0.28,
      prepare: async () => ({
        kind: 'same',
        body: `${machineBody}&${form({ resource: OPAQUE_RESOURCE })}`,
      }),
    },
    {
      ...TOKEN,
      name: 'code',
      contains: '"refresh_token":"',
      gate: 0.17,
      prepare: async (count) => ({ kind: 'once', bodies: (await mint.make(client.client_id, count)).map(codeBody) }),
    },
    {
      // The same with an ID token: a second signature.
      ...TOKEN,
      name: 'login',
      contains: '"id_token":"',
      gate: undefined,
      async prepare(count) {
        const codes = await mint.make(relyingParty.client_id, count, 'login')
        return { kind: 'once', bodies: codes.map((code) => form({ ...codeForm, ...relyingParty, code })) }
      },
    },
    {
      ...TOKEN,
      name: 'refresh',
      contains: '"access_token":"',
      gate: 0.22,
      async prepare(_count, connections) {
        if (tokens.length !== connections) {
          const codes = await mint.make(client.client_id, connections)
          tokens = await Promise.all(codes.map((code) => requestToken(port, codeBody(code), 'refresh_token')))
        }
        return { kind: 'chain', before: refreshBody, member: 'refresh_token', tokens }
      },
      carryOn: (left) => void (tokens = left.tokens),
    },
    {
      // A copy that another process has left behind gets the newest token. It reads a row and writes none.
      ...TOKEN,
      name: 'refresh-earlier',
      contains: '"access_token":"',
      // Two requests of a millisecond get the same access token.
      repeats: true,
      gate: undefined,
      async prepare(count, connections) {
        if (copies.length !== connections) {
          const codes = await mint.make(client.client_id, connections)
          copies = await Promise.all(codes.map((code) => leaveBehind(port, codeBody(code), refreshBody)))
        }
        return { kind: 'once', bodies: Array.from({ length: count }, (_, index) => copies[index % connections] ?? '') }
      },
    },
    {
      ...FORM,
      name: 'introspect',
      path: '/v2/oauth/introspect',
      contains: '"active":true',
      repeats: true,
      gate: 0.28,
      // The token lives longer than a slice, but not longer than a run.
      async prepare() {
        const token = await requestToken(port, machineBody, 'access_token')
        return { kind: 'same', body: form({ ...client, token }) }
      },
    },
    {
      ...DOCUMENT,
      name: 'metadata',
      path: '/.well-known/oauth-authorization-server',
      contains: '"token_endpoint":"',
      gate: 0.6,
    },
    { ...DOCUMENT, name: 'jwks', path: '/v2/oauth/jwks', contains: '"keys":[', gate: 0.6 },
  ]
}

/** The registration of a desktop client, with all three grant types. */
export function metadata(number: string): object {
  return {
    redirect_uris: [REDIRECT_URI, 'https://client.example/callback'],
    token_endpoint_auth_method: 'client_secret_post',
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    response_types: ['code'],
    client_name: `Bench client ${number}`,
    client_uri: 'https://client.example/',
    scope: SCOPE,
    software_id: 'grantor-bench',
    software_version: '1.0.0',
  }
}

/** Registers a client with a key, and returns what makes the form of a request with a new assertion. */
async function registerSigner(port: number): Promise<() => Readonly<Record<string, string>>> {
  const key = makeClientKey('ES256')
  const method = { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [key.jwk] } }
  const { client_id, registration_client_uri } = await registerClient(port, { ...metadata('with a key'), ...method })
  const { origin: issuer } = new URL(registration_client_uri)
  return () => {
    const jwt = signJws(key, { alg: key.algorithm }, assertionClaims(client_id, issuer, Date.now()))
    return { grant_type: 'client_credentials', ...assertionForm(jwt) }
  }
}

/** Registers a client whose ID tokens have the algorithm of access tokens. */
async function registerRelyingParty(port: number): Promise<Readonly<Record<'client_id' | 'client_secret', string>>> {
  const signed = { ...metadata('for login'), id_token_signed_response_alg: 'ES256' }
  const { client_id, client_secret } = await registerClient(port, signed)
  return { client_id, client_secret }
}

async function registerClient(
  port: number,
  registration: object,
): Promise<Readonly<Record<'client_id' | 'client_secret' | 'registration_client_uri', string>>> {
  const headers = { 'content-type': JSON_TYPE }
  const { status, body } = await receive({ port, path: REGISTER_PATH, headers, body: JSON.stringify(registration) })
  if (status !== 201) throw new Error(`Registration failed: ${status} ${body}`)
  return JSON.parse(body) as Record<'client_id' | 'client_secret' | 'registration_client_uri', string>
}

async function requestToken(port: number, sent: string, member: 'access_token' | 'refresh_token'): Promise<string> {
  const { path, contentType } = TOKEN
  const { status, body } = await receive({ port, path, headers: { 'content-type': contentType }, body: sent })
  const token = (JSON.parse(body) as Readonly<Record<string, string | undefined>>)[member]
  if (token === undefined) throw new Error(`There is no ${member}: ${status} ${body}`)
  return token
}

/** Refreshes a new family so often, and returns the body of a request with its first token. */
async function leaveBehind(port: number, codeBody: string, refreshBody: string): Promise<string> {
  const first = await requestToken(port, codeBody, 'refresh_token')
  let newest = first
  for (let generation = 0; generation < GENERATIONS_BEHIND; generation += 1)
    newest = await requestToken(port, refreshBody + newest, 'refresh_token')
  return refreshBody + first
}

export function form(fields: Readonly<Record<string, string>>): string {
  return new URLSearchParams(fields).toString()
}
