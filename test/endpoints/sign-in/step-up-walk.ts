import type { TestContext } from 'node:test'
import type { Response } from 'light-my-request'
import type { ApiScope } from '../../../src/ports/records/api.ts'
import type { UserId } from '../../../src/protocol/ids.ts'
import { authorizeUrl, locationOf, PlainBrowser, redeem, type RegisteredClient } from '../../../tools/flow.ts'
import { openAuthenticator, type SoftwareAuthenticator } from '../../../tools/sign-in/authenticator.ts'
import { madeFields, passkeyFormOf } from '../../../tools/sign-in/passkeys.ts'
import { createAda } from '../../support/accounts.ts'
import { declareApi, knowApis } from '../../support/apis.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { selectAll } from '../../support/store/dump.ts'
import { answerOf, makeClient, signIn, tokensOf, type LoginTokens } from '../openid/login.ts'

export const API = 'https://bank.example'
export const OPAQUE = 'https://vault.example'
export const SCOPES: readonly ApiScope[] = [
  { name: 'read', sentence: 'Read', grantedTo: 'users' },
  { name: 'pay', sentence: 'Pay', grantedTo: 'users', stepUp: { level: 2, maxAge: undefined } },
]

export interface Walk {
  readonly server: TestServer
  readonly client: RegisteredClient
  readonly vault: RegisteredClient
  readonly browser: PlainBrowser
  readonly userId: UserId
  /** Ada has typed the password by then. Seconds. */
  readonly signedInAt: number
}

/** Ada, with a session of one factor that is older than six minutes. */
export async function openWalk(t: TestContext, env: Readonly<Record<string, string>> = {}): Promise<Walk> {
  const server = await openTestServer(t, { env: { GRANTOR_REDIRECT_ERRORS: 'true', ...env } })
  await createAda(server)
  await declareApi(server, API, {}, SCOPES)
  const vault = await declareApi(server, OPAQUE, { format: 'opaque' }, SCOPES)
  knowApis(server)
  const browser = new PlainBrowser(server)
  await signIn(browser, await browser.get(locationOf(await browser.get('/account/security'))))
  const signedInAt = server.clock.now() / 1000
  const userId = String(selectAll(server, 'select user_id from users')[0]?.['user_id']) as UserId
  return { server, client: await makeClient(server), vault, browser, userId, signedInAt }
}

export async function addPasskey({ browser }: Walk): Promise<SoftwareAuthenticator> {
  const authenticator = openAuthenticator()
  const page = await browser.get('/account/security/add-passkey')
  await browser.post(passkeyFormOf(page).action, madeFields(page, authenticator))
  return authenticator
}

export function urlOf({ client }: Pick<Walk, 'client'>, parameters: Readonly<Record<string, string>> = {}): string {
  return authorizeUrl(client, { scope: 'openid read pay', resource: API, ...parameters })
}

/** The page that a request leads to. */
export async function pageOf(walk: Walk, parameters: Readonly<Record<string, string>> = {}): Promise<Response> {
  return walk.browser.get(locationOf(await walk.browser.get(urlOf(walk, parameters))))
}

/** Allows what the consent page asks for, and redeems the code. */
export async function allow({ server, client, browser }: Walk, answer: Response): Promise<LoginTokens> {
  const page = await browser.get(locationOf(answer))
  const code = answerOf(await browser.submit(page, { decision: 'allow' })).get('code') ?? ''
  return tokensOf(await redeem(server, client, code))
}
