import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aUserLine, importFile, writeRecords } from '../import/importing.ts'
import { isActive, revoke } from '../support/token-questions.ts'
import { requestToken } from '../../tools/flow.ts'
import { selectAll } from '../support/store/dump.ts'
import { openSteppingClocks, openTestServer, type TestServer } from '../support/server.ts'
import { assertIssuesNothing, assertWhole, issue, issueCredentials, STEPS_MS, sweepAll } from './issued-credentials.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** The clock check that a running server makes once a second. */
async function look({ context, clock }: TestServer, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    clock.advance(1000)
    await context.clockCheck.compare()
  }
}

test('STO-13: with a wrong clock a server on SQLite issues and deletes nothing, and revoked tokens stay revoked', async (t) => {
  const [clock] = openSteppingClocks(['node'])
  const server = await openTestServer(t, { clock })
  let issued = await issueCredentials(server)
  for (const step of STEPS_MS) {
    clock.step(step)
    await assertIssuesNothing(server, issued)
    const readiness = await server.inject({ method: 'GET', url: '/health/ready' })
    assert.equal(readiness.statusCode, 503)
    assert.match(readiness.body, /Synchronize it .*grantor clock confirm/)
    assert.equal(await isActive(server, issued.client, issued.revoked), false)
    assert.equal(await sweepAll(server), 0)
    await look(server, 5)
    assert.equal(await sweepAll(server), 0)
    clock.step(-step)
    issued = await assertWhole(server, issued)
    await look(server, 1)
    assert.equal((await server.inject({ method: 'GET', url: '/health/ready' })).statusCode, 200)
  }
  const states = [...server.log().matchAll(/"event":"clock\.(\w+)"/g)].map(([, state]) => state)
  assert.deepEqual(
    states,
    STEPS_MS.flatMap(() => ['differs', 'agrees']),
  )
  assert.match(
    server.log(),
    /"event":"clock\.differs".*"remedy":"Synchronize the clock \(NTP\)\. .*grantor clock confirm"/,
  )
})

test('STO-13: with a wrong clock nothing is imported into SQLite, and a dry run is permitted', async (t) => {
  const [clock] = openSteppingClocks(['node'])
  const server = await openTestServer(t, { clock })
  const file = writeRecords(t, [aUserLine('early')])
  clock.step(25 * HOUR)
  await assert.rejects(importFile(t, server, file), /The clock of this machine is 90000 s ahead/)
  assert.equal(selectAll(server, 'select * from users').length, 0)
  assert.equal((await importFile(t, server, file, { isDryRun: true })).counts.kinds.user.created, 1)
  clock.step(-25 * HOUR)
  assert.equal((await importFile(t, server, file)).counts.kinds.user.created, 1)
})

test('STO-13: a server that was suspended for days issues again after ten seconds, and deletes expired rows later', async (t) => {
  const [clock] = openSteppingClocks(['node'])
  const server = await openTestServer(t, { clock })
  const { client, revoked } = await issueCredentials(server)
  clock.step(3 * DAY)
  await look(server, 10)
  assert.equal((await requestToken(server, client, { grant_type: 'client_credentials' })).statusCode, 503)
  await look(server, 1)
  const token = await issue(server, client)
  assert.equal(await isActive(server, client, token), true)
  const countSessions = () => selectAll(server, 'select * from sessions').length
  clock.advance(2 * HOUR)
  await sweepAll(server)
  assert.equal(countSessions(), 1, 'By this clock it expired days ago, but time has not passed.')
  assert.equal(await isActive(server, client, revoked), false)
  clock.advance(DAY)
  await sweepAll(server)
  assert.equal(countSessions(), 0)
})

test('STO-13: ten seconds after a clock is corrected the server issues, and tokens of the wrong time are not yet valid', async (t) => {
  const [clock] = openSteppingClocks(['node'])
  const server = await openTestServer(t, { clock })
  const issued = await issueCredentials(server)
  await look(server, 1)
  clock.step(20 * MINUTE)
  await look(server, 11)
  const early = await issue(server, issued.client)
  assert.equal(await sweepAll(server), 0)
  clock.step(-20 * MINUTE)
  await look(server, 11)
  await assertWhole(server, issued)
  assert.equal(await isActive(server, issued.client, early), false)
})

test('STO-13: after a clock was set back nothing is issued until it shows the time at which it last agreed', async (t) => {
  const [clock] = openSteppingClocks(['node'])
  const server = await openTestServer(t, { clock })
  const issued = await issueCredentials(server)
  clock.step(-HOUR)
  await look(server, 60)
  await assertIssuesNothing(server, issued)
  clock.advance(HOUR)
  await look(server, 11)
  assert.equal(typeof (await issue(server, issued.client)), 'string')
})

test('STO-13: an expired token does not become valid again when the clock is set back', async (t) => {
  const [clock] = openSteppingClocks(['node'])
  const server = await openTestServer(t, { clock })
  const { client } = await issueCredentials(server)
  const token = await issue(server, client)
  clock.advance(DAY)
  for (const step of [-25 * HOUR, -3652 * DAY]) {
    clock.step(step)
    assert.equal(await isActive(server, client, token), false)
    clock.step(-step)
  }
})

test('STO-13, RFC 7009 §2.1: a token can be revoked at any time that the clock shows', async (t) => {
  const [clock] = openSteppingClocks(['node'])
  const server = await openTestServer(t, { clock })
  const { client } = await issueCredentials(server)
  for (const step of STEPS_MS) {
    const token = await issue(server, client)
    clock.step(step)
    assert.equal((await revoke(server, client, token)).statusCode, 200)
    clock.step(-step)
    assert.equal(await isActive(server, client, token), false, `${step}`)
  }
})

test('STO-13: a revocation is kept for a day after its token has expired', async (t) => {
  const server = await openTestServer(t)
  const { client } = await issueCredentials(server)
  const token = await issue(server, client)
  await revoke(server, client, token)
  server.clock.advance(15 * MINUTE + DAY - 2000)
  await sweepAll(server)
  server.clock.advance(-DAY)
  assert.equal(await isActive(server, client, token), false)
})
