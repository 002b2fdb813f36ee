import assert from 'node:assert/strict'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { sweep, SWEEP_START } from '../../src/server/background/sweep.ts'
import { isActive, revoke } from '../support/token-questions.ts'
import {
  authorizeUrl,
  locationOf,
  PlainBrowser,
  redeem,
  refresh,
  registerClient,
  requestToken,
  signInAndAllow,
  type RegisteredClient,
  type Tokens,
} from '../../tools/flow.ts'
import { createAda } from '../support/accounts.ts'
import type { TestServer } from '../support/server.ts'
import { sweepRound } from '../support/store/sweep-round.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How far clocks step, forward and back. */
export const STEPS_MS = [20 * MINUTE, 25 * HOUR, 120 * DAY, 3652 * DAY].flatMap((step) => [step, -step])

/** A client, a user's session and tokens, and a revoked token, which must survive changes of the clock. */
export interface IssuedCredentials {
  readonly client: RegisteredClient
  readonly revoked: string
  readonly tokens: Tokens
  /** The cookies of the browser in which the user is signed in. */
  readonly cookies: ReadonlyMap<string, string>
}

export async function issueCredentials(server: TestServer): Promise<IssuedCredentials> {
  await createAda(server)
  const client = await registerClient(server)
  const revoked = await issue(server, client)
  assert.equal((await revoke(server, client, revoked)).statusCode, 200)
  const browser = new PlainBrowser(server)
  const code = (await signInAndAllow(browser, authorizeUrl(client))).searchParams.get('code') ?? ''
  const answer = await redeem(server, client, code)
  assert.equal(answer.statusCode, 200, answer.body)
  return { client, revoked, tokens: answer.json<Tokens>(), cookies: browser.cookies }
}

export async function issue(server: TestServer, client: RegisteredClient): Promise<string> {
  const answer = await requestToken(server, client, { grant_type: 'client_credentials' })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<Tokens>().access_token
}

/** Sweeps until no more rows are deleted. Returns how many rows were deleted. */
export async function sweepAll({ context }: TestServer): Promise<number> {
  let count = 0
  let [place, isMore] = [SWEEP_START, true]
  while (isMore) {
    const swept = await sweep(context, place)
    const { authorizationsAfter, authorizationsExamined, removedTo, ...counts } = swept
    const removed = Object.values(counts).reduce((sum, one) => sum + one, await sweepRound(context))
    count += removed
    isMore = removed + authorizationsExamined > 0
    place = { authorizationsAfter, removedTo }
  }
  return count
}

/** Checks that a node whose clock differs issues no token, no refresh, no client and no code. */
export async function assertIssuesNothing(
  server: TestServer,
  { client, tokens, cookies }: IssuedCredentials,
): Promise<void> {
  const metadata = { redirect_uris: ['https://app.example/other'] }
  const answers = [
    await requestToken(server, client, { grant_type: 'client_credentials' }),
    await refresh(server, client, tokens.refresh_token ?? ''),
    await server.inject({
      method: 'POST',
      url: '/v2/oauth/register',
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify(metadata),
    }),
    await authorizeSilently(server, client, cookies),
  ]
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    [503, 503, 503, 503],
  )
  assert.equal(answers[0]?.json<{ error: string }>().error, 'temporarily_unavailable')
  assert.match(server.log(), /"reason":"clock_differs"/)
}

/** Checks that the revoked token is inactive, and that everything else works. Returns the credentials with the refreshed tokens. */
export async function assertWhole(server: TestServer, issued: IssuedCredentials): Promise<IssuedCredentials> {
  const { client, revoked, tokens, cookies } = issued
  assert.equal(await isActive(server, client, revoked), false, 'A revoked token is inactive.')
  assert.match(
    locationOf(await authorizeSilently(server, client, cookies)),
    /code=/,
    'The session and the consent are there.',
  )
  const answer = await refresh(server, client, tokens.refresh_token ?? '')
  assert.equal(answer.statusCode, 200, answer.body)
  return { ...issued, tokens: answer.json<Tokens>() }
}

/** Requests a code from any node in the browser in which the user is signed in. */
export function authorizeSilently(
  server: TestServer,
  client: RegisteredClient,
  cookies: IssuedCredentials['cookies'],
): Promise<LightMyRequestResponse> {
  const browser = new PlainBrowser(server)
  for (const [name, value] of cookies) browser.cookies.set(name, value)
  return browser.get(authorizeUrl(client, { prompt: 'none' }))
}
