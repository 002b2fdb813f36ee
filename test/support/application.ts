import assert from 'node:assert/strict'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { createDelegateCredentials } from '../../src/admin/delegate.ts'
import { authorizeUrl, locationOf, PlainBrowser, registerClient, type RegisteredClient } from '../../tools/flow.ts'
import { adminServerOf } from './admin-server.ts'
import { type Members } from './tasks.ts'
import type { TestServer } from './server.ts'

/** The page of the operator's application, as GRANTOR_DELEGATE_URL. No request goes there: the tests take its place. */
export const APPLICATION_URL = 'https://app.acme.test/oauth/consent?theme=dark'
export const SUBJECT = 'u_4711'

/** The operator's application, to which sign-in is delegated. */
export interface Application {
  readonly token: string
  readonly show: (interaction: string, subject?: string) => Promise<LightMyRequestResponse>
  /** Accepts: by default with the subject SUBJECT and the decision `allow`. */
  readonly accept: (interaction: string, answer?: Members) => Promise<LightMyRequestResponse>
  readonly reject: (interaction: string, error?: string) => Promise<LightMyRequestResponse>
  /** Returns the address to which the application redirects the browser after accepting. */
  readonly signIn: (interaction: string, answer?: Members) => Promise<string>
}

export async function openApplication(server: TestServer): Promise<Application> {
  const { token } = await createDelegateCredentials(server.context, 1)
  const { performByName } = adminServerOf(server)
  const accept: Application['accept'] = (interaction, answer = {}) =>
    performByName('interaction.accept', { interaction, subject: SUBJECT, decision: 'allow', ...answer }, token)
  return {
    token,
    accept,
    show: (interaction, subject) =>
      performByName('interaction.show', { interaction, ...(subject === undefined ? {} : { subject }) }, token),
    reject: (interaction, error) =>
      performByName('interaction.reject', { interaction, ...(error === undefined ? {} : { error }) }, token),
    async signIn(interaction, answer) {
      const accepted = await accept(interaction, answer)
      assert.equal(accepted.statusCode, 200, accepted.body)
      return redirectOf(accepted)
    },
  }
}

/** The `redirect_to` of an answer to the application. */
export function redirectOf(answer: LightMyRequestResponse): string {
  return answer.json<{ readonly redirect_to: string }>().redirect_to
}

/** Follows the redirects of this server until the browser leaves for the application. Returns the interaction. */
export async function leave(browser: PlainBrowser, url: string): Promise<string> {
  let answer = await browser.get(url)
  while (locationOf(answer).startsWith('http://localhost:3000/')) answer = await browser.get(locationOf(answer))
  return interactionIn(answer)
}

/** The interaction in a redirect to the application. */
export function interactionIn(answer: LightMyRequestResponse): string {
  const location = new URL(locationOf(answer))
  assert.equal(`${location.origin}${location.pathname}`, 'https://app.acme.test/oauth/consent')
  assert.deepEqual([...location.searchParams.keys()], ['theme', 'interaction'])
  return location.searchParams.get('interaction') ?? ''
}

/** A browser that a new client has sent here, and that has left for the application. */
export async function startAtClient(
  server: TestServer,
  parameters: Readonly<Record<string, string>> = {},
  metadata: object = {},
): Promise<{ readonly browser: PlainBrowser; readonly client: RegisteredClient; readonly interaction: string }> {
  const client = await registerClient(server, metadata)
  const browser = new PlainBrowser(server)
  return { browser, client, interaction: await leave(browser, authorizeUrl(client, parameters)) }
}
