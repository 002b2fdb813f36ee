import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asAdministrator, COMMAND_LINE } from '../../src/admin/administrators.ts'
import { runTask } from '../../src/admin/run-task.ts'
import { findTask } from '../../src/admin/tasks.ts'
import { verifyAudit } from '../../src/admin/audit/verify.ts'
import type { UserId } from '../../src/protocol/ids.ts'
import { EMAIL, PlainBrowser, refresh } from '../../tools/flow.ts'
import { signOut } from '../../tools/sign-out.ts'
import { openSteppingClocks, openTestServer, type SteppingClock, type TestServer } from '../support/server.ts'
import { isActive } from '../support/token-questions.ts'
import { authorizeSilently, issueCredentials, type IssuedCredentials } from './issued-credentials.ts'

const MINUTE = 60_000
const AHEAD_MS = 20 * MINUTE

type Perform = (name: string, input: object) => Promise<unknown>
interface Target extends Pick<IssuedCredentials, 'cookies'> {
  readonly server: TestServer
  readonly userId: UserId | undefined
  readonly clientId: string
}

/** What ends the tokens that were issued while the clock was ahead; and whether it ends the session too, or alone. */
const OPERATIONS: Readonly<
  Record<string, readonly [(perform: Perform, target: Target) => Promise<unknown>, boolean | 'alone']>
> = {
  'user revoke-tokens': [(perform, { userId }) => perform('user.revoke-tokens', { user_id: userId }), true],
  'user disable, user enable': [
    async (perform, { userId }) => {
      await perform('user.disable', { user_id: userId })
      await perform('user.enable', { user_id: userId })
    },
    true,
  ],
  'user set-password': [
    (perform, { userId }) => perform('user.set-password', { user_id: userId, password: 'another long password' }),
    true,
  ],
  'client revoke-tokens': [(perform, { clientId }) => perform('client.revoke-tokens', { client_id: clientId }), false],
  'client delete': [(perform, { clientId }) => perform('client.delete', { client_id: clientId }), false],
  'sign-out': [
    (_, { server, cookies }) => {
      const browser = new PlainBrowser(server)
      for (const [name, value] of cookies) browser.cookies.set(name, value)
      return signOut(browser)
    },
    'alone',
  ],
  'token revoke-all': [(perform) => perform('token.revoke-all', { confirm: 'everything' }), true],
}

/** The seconds that the clock is ahead, whether the operator confirms the clock afterwards, and the operation. */
const SEQUENCES = [
  ...[5, 20, 70].flatMap((seconds) =>
    [true, false].map((isConfirmed) => ({ seconds, isConfirmed, operation: 'user revoke-tokens' })),
  ),
  ...Object.keys(OPERATIONS)
    .slice(1)
    .map((operation) => ({ seconds: 20, isConfirmed: true, operation })),
]

for (const { seconds, isConfirmed, operation } of SEQUENCES) {
  const then = isConfirmed ? 'back, clock confirm' : 'back'
  test(`STO-13: clock +20 min for ${seconds} s, ${then}, ${operation}: what was issued meanwhile is invalid at +22 min too`, async (t) => {
    const [clock] = openSteppingClocks(['node'])
    const server = await openTestServer(t, { clock })
    await look(server, clock, 1)
    clock.step(AHEAD_MS)
    await look(server, clock, seconds)
    const isIssuing = server.context.clockCheck.differenceMs() === 0
    assert.equal(isIssuing, seconds > 10)
    const issued = isIssuing ? await issueCredentials(server) : undefined
    clock.step(-AHEAD_MS)
    await look(server, clock, 1)
    if (isConfirmed) await server.context.store.confirmClock({ now: clock.now() })
    // After 70 s at four times the speed, the deletion time is 4 min ahead of the right time.
    await look(server, clock, isConfirmed ? 1 : 300)
    assert.equal((await server.inject({ method: 'GET', url: '/health/ready' })).statusCode, 200)
    if (issued === undefined) return
    const [revoke, endsSession] = OPERATIONS[operation] ?? assert.fail()
    const user = await server.context.store.findUserByEmail(EMAIL)
    await revoke(performerOf(server), {
      userId: user?.id,
      clientId: issued.client.client_id,
      cookies: issued.cookies,
      server,
    })
    clock.advance(22 * MINUTE)
    await assertEnded(server, issued, endsSession)
    assert.deepEqual((await verifyAudit(server.context, [])).faults, [])
  })
}

/** The clock check that a running server makes once a second. */
async function look({ context }: TestServer, clock: SteppingClock, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    clock.advance(1000)
    await context.clockCheck.compare()
  }
}

function performerOf({ context }: TestServer): Perform {
  const administration = asAdministrator(context, COMMAND_LINE)
  return (name, input) => runTask(administration, findTask(name) ?? assert.fail(name), { ...input }, String)
}

async function assertEnded(
  server: TestServer,
  { client, tokens, cookies }: IssuedCredentials,
  endsSession: boolean | 'alone',
) {
  if (endsSession !== 'alone') {
    const refreshed = await refresh(server, client, tokens.refresh_token ?? '')
    assert.ok([400, 401].includes(refreshed.statusCode), refreshed.body)
    assert.notEqual(await isActive(server, client, tokens.access_token), true)
  }
  if (endsSession === false) return
  const { headers, body } = await authorizeSilently(server, client, cookies)
  assert.match(String(headers.location) + body, /error=login_required/)
}
