import assert from 'node:assert/strict'
import { copyFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sweep, SWEEP_START } from '../../../src/server/background/sweep.ts'
import type { ClientId } from '../../../src/protocol/ids.ts'
import { postJson, registerClient } from '../../../tools/flow.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'

async function statusOf(server: TestServer, url: string): Promise<number> {
  return (await server.inject({ url })).statusCode
}

async function open(t: TestContext): Promise<{ server: TestServer; file: string; aside: string }> {
  const server = await openTestServer(t)
  await registerClient(server)
  assert.equal(await statusOf(server, '/health/ready'), 200)
  const file = join(server.folder, 'grantor.db')
  return { server, file, aside: `${file}.aside` }
}

/**
 * Asserts that the node is not ready, that it acknowledges no write that a restart would lose, and that it still serves
 * requests without writes.
 */
async function assertLost(server: TestServer): Promise<void> {
  assert.equal(await statusOf(server, '/health/ready'), 503)
  const registration = await postJson(server, '/v2/oauth/register', {})
  assert.equal(registration.statusCode, 503)
  assert.equal(registration.json().error, 'temporarily_unavailable')
  await assert.rejects(sweep(server.context, SWEEP_START), /moved, replaced or removed/)
  assert.equal(await statusOf(server, '/health/alive'), 200)
  assert.equal(await statusOf(server, '/.well-known/oauth-authorization-server'), 200)
  assert.match(
    server.log(),
    /"reason":"store_unavailable".*grantor\.db or its log is not the file that this process opened/,
  )
}

test('STO-17: a database file that was moved away makes the node not ready, until it is back', async (t) => {
  const { server, file, aside } = await open(t)
  renameSync(file, aside)
  await assertLost(server)
  renameSync(aside, file)
  assert.equal(await statusOf(server, '/health/ready'), 200)
  const { client_id } = await registerClient(server)
  const reopened = await server.reopen()
  assert.notEqual(await reopened.context.store.findClient(client_id as ClientId), undefined)
})

test('STO-17: a file that was put in the place of the database, or of its log, makes the node not ready', async (t) => {
  for (const suffix of ['', '-wal']) {
    const { server, file, aside } = await open(t)
    copyFileSync(file + suffix, aside)
    renameSync(aside, file + suffix)
    await assertLost(server)
  }
})

test('STO-17: a database or a log that was removed makes the node not ready, and no empty one is created', async (t) => {
  for (const suffix of ['', '-wal']) {
    const { server, file } = await open(t)
    rmSync(file + suffix)
    await assertLost(server)
    await assertLost(server)
    writeFileSync(file + suffix, '')
    await assertLost(server)
  }
})

test('STO-17: a server whose readiness is never checked detects it as well', async (t) => {
  const { server, file, aside } = await open(t)
  renameSync(file, aside)
  while ((await postJson(server, '/v2/oauth/register', {})).statusCode !== 503) await delay(20)
})
