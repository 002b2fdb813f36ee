import assert from 'node:assert/strict'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { obtainTokens, registerClient, type RegisteredClient, type Tokens } from '../../tools/flow.ts'
import type { TestServer } from './server.ts'
import { assertError, lastLogged } from './error-answer.ts'
import { assertStoreUnchanged } from './store/dump.ts'

/** A client with a refresh token for Ada. */
export async function aGrant(
  server: TestServer,
  parameters: Readonly<Record<string, string>> = {},
  metadata: object = {},
): Promise<{ client: RegisteredClient; token: string }> {
  const client = await registerClient(server, metadata)
  const { refresh_token: token } = await obtainTokens(server, client, parameters)
  assert.ok(token)
  return { client, token }
}

export function tokensOf(response: LightMyRequestResponse): Tokens {
  assert.equal(response.statusCode, 200, response.body)
  return response.json<Tokens>()
}

/** Asserts that the response is a 400 invalid_grant. */
export function assertInvalidGrant(response: LightMyRequestResponse): void {
  assert.equal(response.statusCode, 400, response.body)
  assert.equal(response.json().error, 'invalid_grant')
}

/** Asserts that the request is an invalid_grant and changes nothing in the store. */
export async function assertNothingHappens(
  server: TestServer,
  act: () => Promise<LightMyRequestResponse>,
): Promise<void> {
  assertInvalidGrant(await assertStoreUnchanged(server, act))
}

/** Asserts that a request to the token endpoint is refused for this reason, and that nothing is stored. `what` names the case. */
export async function assertRefused(
  server: TestServer,
  [code, reason]: readonly [code: string, reason: string],
  act: () => Promise<LightMyRequestResponse>,
  what: string = reason,
): Promise<LightMyRequestResponse> {
  const answer = await assertStoreUnchanged(server, act, what)
  assertError(answer, code === 'invalid_client' ? 401 : 400, code)
  assert.equal(lastLogged(server)['reason'], reason, what)
  return answer
}
