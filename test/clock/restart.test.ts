import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isActive } from '../support/token-questions.ts'
import { requestToken, type RegisteredClient } from '../../tools/flow.ts'
import { openSteppingClocks, openTestServer, type TestServer } from '../support/server.ts'
import { assertIssuesNothing, assertWhole, issueCredentials, STEPS_MS, sweepAll } from './issued-credentials.ts'

const DAY = 24 * 60 * 60 * 1000

/** Closes the server as a running one is closed, which stores that its clock agrees, and opens it again. */
async function restart(server: TestServer): Promise<TestServer> {
  await server.context.clockCheck.compare()
  await stopLooking(server)
  return server.reopen()
}

async function stopLooking({ context }: TestServer): Promise<void> {
  await (context as { clockCheck: { start: () => () => Promise<void> } } & typeof context).clockCheck.start()()
}

async function mayIssue(server: TestServer, client: RegisteredClient): Promise<boolean> {
  return (await requestToken(server, client, { grant_type: 'client_credentials' })).statusCode === 200
}

test('STO-13: a server that starts with a wrong clock deletes nothing, and works after a restart with the right time', async (t) => {
  const [clock] = openSteppingClocks(['node'])
  let server = await openTestServer(t, { clock })
  let issued = await issueCredentials(server)
  for (const step of STEPS_MS) {
    clock.step(step)
    server = await restart(server)
    assert.equal(await sweepAll(server), 0)
    assert.equal(await isActive(server, issued.client, issued.revoked), false)
    // A clock that is less far ahead looks like a server that was stopped for that long.
    if (step < 0 || step > 100 * DAY) await assertIssuesNothing(server, issued)
    await stopLooking(server)
    clock.step(-step)
    server = await restart(server)
    issued = await assertWhole(server, issued)
  }
})

test('STO-13: after a month without use a server issues at once, and deletes nothing before it has run for part of that time', async (t) => {
  const [clock] = openSteppingClocks(['node'])
  const first = await openTestServer(t, { clock })
  const { client } = await issueCredentials(first)
  clock.step(30 * DAY)
  const server = await restart(first)
  assert.equal(await mayIssue(server, client), true)
  assert.equal(await sweepAll(server), 0)
  clock.advance(10 * DAY)
  assert.ok((await sweepAll(server)) > 0)
})

test('STO-13: for a file of a release that stored no time, the clock is checked against the newest row', async (t) => {
  const [clock] = openSteppingClocks(['node'])
  const first = await openTestServer(t, { clock })
  const { client } = await issueCredentials(first)
  for (const [step, isIssuing] of [
    [3652 * DAY, false],
    [-DAY, false],
    [DAY, true],
  ] as const) {
    clock.step(step)
    await first.close()
    const server = await first.reopen()
    assert.equal(await mayIssue(server, client), isIssuing, `${step}`)
    assert.equal(await sweepAll(server), 0)
    await server.close()
    clock.step(-step)
  }
})

for (const step of [3652 * DAY, -3652 * DAY]) {
  test(`STO-13: the operator confirms a clock that is off by ${step / DAY} days: the server follows it, also after a restart`, async (t) => {
    const [clock] = openSteppingClocks(['node'])
    const first = await openTestServer(t, { clock })
    const { client } = await issueCredentials(first)
    clock.step(step)
    let server = await restart(first)
    assert.equal(await mayIssue(server, client), false)
    // As the command does, in another process beside the server.
    await server.context.store.confirmClock({ now: clock.now() })
    await server.context.clockCheck.compare()
    assert.equal(await mayIssue(server, client), true)
    assert.equal((await sweepAll(server)) > 0, step > 0)
    server = await restart(server)
    assert.equal(await mayIssue(server, client), true)
    clock.step(-step)
    server = await restart(server)
    assert.equal(await mayIssue(server, client), false, 'A confirmation is for one clock.')
  })
}
