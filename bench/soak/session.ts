import { Agent } from 'node:http'
import { PATHS } from '../../src/endpoints/paths.ts'
import { authorizeUrl, PlainBrowser, signInAndAllow, VERIFIER } from '../../tools/flow.ts'
import { openRemoteServer } from '../../tools/remote-server.ts'
import { FORM_TYPE } from '../../tools/send.ts'
import { OPAQUE_RESOURCE } from '../codes.ts'
import { form, metadata } from '../endpoints.ts'
import type { SoakClient } from './client.ts'

/** The session of a user with a client: the registered client, the user's consent and the tokens. */
export interface Session {
  readonly steps: Readonly<Record<Step, () => Promise<void>>>
}

/** The number of each kind of step in a hundred steps. Some steps are two requests. */
export const MIX = {
  register: 14,
  client_credentials: 22,
  opaque: 10,
  introspect: 16,
  code: 10,
  refresh: 20,
  revoke: 3,
  metadata: 3,
  jwks: 2,
} as const
export type Step = keyof typeof MIX

const FORM = { method: 'POST', contentType: FORM_TYPE, status: 200 } as const
const TOKEN = { ...FORM, path: PATHS.token } as const
const DOCUMENT = { method: 'GET', status: 200 } as const
/** Not a loopback address, so that the consent is remembered and further codes need no page. */
const REDIRECT_URI = 'https://client.example/callback'
/** The number of families that are refreshed in turn. If there are more, the oldest is no longer used and expires. */
const FAMILY_LIMIT = 64
/** A complete flow with password and pages, over separate connections. */
const FLOW_LIMIT_MS = 20_000
const agent = new Agent()

/** Registers a client and lets a user sign in and consent. Returns the steps that both can do then. */
export async function openSession(
  { send }: SoakClient,
  { port, number }: { readonly port: number; readonly number: () => number },
): Promise<Session> {
  const client = await register()
  const cookie = await signIn(port, client.client_id)
  const families: string[] = []
  const state = { turn: 0, accessToken: await takeAccessToken(), opaqueToken: '' }

  async function register(): Promise<{ client_id: string; client_secret: string }> {
    const { body } = await send({
      name: 'register',
      method: 'POST',
      path: PATHS.register,
      contentType: 'application/json',
      body: JSON.stringify(metadata(String(number()))),
      status: 201,
      contains: '"client_secret":"',
    })
    const { client_id, client_secret } = JSON.parse(body) as { client_id: string; client_secret: string }
    return { client_id, client_secret }
  }

  function requestToken(name: string, fields: Readonly<Record<string, string>>): Promise<{ readonly body: string }> {
    return send({ ...TOKEN, name, body: form({ ...client, ...fields }), contains: '"access_token":"' })
  }

  async function takeAccessToken(): Promise<string> {
    const { body } = await requestToken('client_credentials', { grant_type: 'client_credentials' })
    return memberOf(body, 'access_token')
  }

  async function introspect(token: string, contains: string): Promise<void> {
    await send({ ...FORM, name: 'introspect', path: PATHS.introspect, body: form({ ...client, token }), contains })
  }

  async function code(): Promise<void> {
    const path = authorizeUrl(client, { redirect_uri: REDIRECT_URI, prompt: 'none' })
    const { head } = await send({ ...DOCUMENT, name: 'authorize', path, cookie, status: 303, contains: 'code=' })
    const [, issued = ''] = /[?&]code=([^&\r\n]+)/.exec(head) ?? []
    const grant = { grant_type: 'authorization_code', redirect_uri: REDIRECT_URI, code_verifier: VERIFIER }
    const { body } = await requestToken('code', { ...grant, code: decodeURIComponent(issued) })
    families.push(memberOf(body, 'refresh_token'))
    if (families.length > FAMILY_LIMIT) families.shift()
  }

  async function refresh(): Promise<void> {
    const token = families.shift()
    if (token === undefined) return code()
    const { body } = await requestToken('refresh', { grant_type: 'refresh_token', refresh_token: token })
    families.push(memberOf(body, 'refresh_token'))
  }

  return {
    steps: {
      register: async () => void (await register()),
      async client_credentials() {
        state.accessToken = await takeAccessToken()
      },
      async opaque() {
        const { body } = await requestToken('opaque', { grant_type: 'client_credentials', resource: OPAQUE_RESOURCE })
        state.opaqueToken = memberOf(body, 'access_token')
      },
      async introspect() {
        const isOpaque = state.opaqueToken !== '' && state.turn++ % 2 === 1
        await introspect(isOpaque ? state.opaqueToken : state.accessToken, '"active":true')
      },
      code,
      refresh,
      async revoke() {
        const token = families.shift() ?? state.accessToken
        await send({ ...FORM, name: 'revoke', path: PATHS.revoke, body: form({ ...client, token }), contains: '{}' })
        if (token === state.accessToken) state.accessToken = await takeAccessToken()
        await introspect(token, '"active":false')
      },
      metadata: async () =>
        void (await send({ ...DOCUMENT, name: 'metadata', path: PATHS.oauthMetadata, contains: '"token_endpoint":"' })),
      jwks: async () => void (await send({ ...DOCUMENT, name: 'jwks', path: PATHS.jwks, contains: '"keys":[' })),
    },
  }
}

/** Returns the cookies of a browser in which the user is signed in and has consented. */
async function signIn(port: number, clientId: string): Promise<string> {
  const browser = new PlainBrowser(openRemoteServer({ port, agent, limitMs: FLOW_LIMIT_MS }))
  await signInAndAllow(browser, authorizeUrl({ client_id: clientId }, { redirect_uri: REDIRECT_URI }))
  return browser.cookieHeader
}

function memberOf(body: string, name: 'access_token' | 'refresh_token'): string {
  const value = (JSON.parse(body) as Readonly<Record<string, unknown>>)[name]
  if (typeof value !== 'string') throw new Error(`There is no ${name} in ${body.slice(0, 200)}`)
  return value
}
