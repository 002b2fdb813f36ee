import type { TestContext } from 'node:test'
import { createClient, type MetadataInput } from '../../../src/admin/client/metadata.ts'
import { updateUser, type ProfileChange } from '../../../src/admin/user/user.ts'
import { DEFAULT_RULES, type ClientRules } from '../../../src/protocol/client/policy.ts'
import type { Scope } from '../../../src/protocol/token/scope.ts'
import type { Response } from 'light-my-request'
import { decodeJwt, type JWTPayload } from 'jose'
import {
  authorizeUrl,
  EMAIL,
  locationOf,
  PASSWORD,
  PlainBrowser,
  redeem,
  REDIRECT_URI,
  signInAndAllow,
  type RegisteredClient,
  type Tokens,
} from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { openTestServer, type TestServer, type TestServerOptions } from '../../support/server.ts'

/** All members of a profile. */
export const PROFILE = {
  given_name: 'Ada',
  family_name: 'Lovelace',
  middle_name: 'King',
  nickname: 'Countess',
  preferred_username: 'ada',
  profile: 'https://acme.test/ada',
  picture: 'https://acme.test/ada.png',
  website: 'https://ada.test',
  gender: 'female',
  birthdate: '1815-12-10',
  zoneinfo: 'Europe/London',
  locale: 'en-GB',
  phone_number: '+44 20 7946 0000',
  phone_number_verified: true,
  address: { formatted: '12 St James Square', locality: 'London', country: 'GB' },
} as const satisfies ProfileChange

export interface LoginTokens extends Tokens {
  readonly id_token?: string
}

/** A server with Ada, who has a whole profile. */
export async function openLogin(
  test: Pick<TestContext, 'after'>,
  options: TestServerOptions = {},
): Promise<TestServer> {
  const server = await openTestServer(test, options)
  await createAda(server)
  await updateUser(server.context, EMAIL, { name: undefined, profile: PROFILE })
  return server
}

/** A client of the operator, which is registered for codes and refresh tokens. */
export async function makeClient(
  server: TestServer,
  rules: Partial<ClientRules> = {},
  metadata: Partial<MetadataInput> = {},
): Promise<RegisteredClient> {
  const input = { client_name: 'Board', redirect_uris: [REDIRECT_URI], ...metadata }
  const approvedScope = 'phone address' as Scope
  const { client, secret } = await createClient(server.context, {
    metadata: { ...input, token_endpoint_auth_method: input.token_endpoint_auth_method ?? 'client_secret_post' },
    rules: { ...DEFAULT_RULES, ...rules },
    approvedScope,
  })
  return { client_id: client.id, ...(secret === undefined ? {} : { client_secret: secret }) }
}

/** Signs in and consents in this browser, and redeems the code. */
export async function login(
  server: TestServer,
  client: RegisteredClient,
  parameters: Readonly<Record<string, string>> = {},
  browser = new PlainBrowser(server),
): Promise<LoginTokens> {
  const answer = await signInAndAllow(browser, authorizeUrl(client, { scope: 'openid', ...parameters }))
  return tokensOf(await redeem(server, client, answer.searchParams.get('code') ?? ''))
}

export function tokensOf(response: Response): LoginTokens {
  if (response.statusCode !== 200) throw new Error(`No tokens: ${response.body}`)
  return response.json<LoginTokens>()
}

export function idTokenOf({ id_token: token }: LoginTokens): JWTPayload {
  if (token === undefined) throw new Error('There is no ID token.')
  return decodeJwt(token)
}

/** Posts Ada's password to the sign-in page. */
export function signIn(browser: PlainBrowser, page: Response): Promise<Response> {
  return browser.submit(page, { email: EMAIL, password: PASSWORD })
}

/** The parameters with which the browser returns to the client. */
export function answerOf(response: Response): URLSearchParams {
  return new URL(locationOf(response)).searchParams
}

/** Asks the userinfo endpoint with a bearer token. */
export function userinfo(server: TestServer, token: string): Promise<Response> {
  return server.inject({ method: 'GET', url: '/v2/oauth/userinfo', headers: { authorization: `Bearer ${token}` } })
}
