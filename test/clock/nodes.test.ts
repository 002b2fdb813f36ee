import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { asAdministrator, COMMAND_LINE } from '../../src/admin/administrators.ts'
import { chosenClientId } from '../../src/protocol/client/identifier.ts'
import type { ClientId, OrganizationId, UserId } from '../../src/protocol/ids.ts'
import { keepKeys } from '../../src/admin/key/key.ts'
import { runTask } from '../../src/admin/run-task.ts'
import type { Task } from '../../src/admin/task.ts'
import { findTask } from '../../src/admin/tasks.ts'
import { aUserLine, importFile, writeRecords } from '../import/importing.ts'
import { isActive, revoke } from '../support/token-questions.ts'
import { EMAIL, PlainBrowser, refresh, registerClient } from '../../tools/flow.ts'
import { addApp } from '../../tools/sign-in/app.ts'
import { createAda } from '../support/accounts.ts'
import { hasSession } from '../support/session-cookie.ts'
import { doFirstStep, submitTo } from '../support/sign-in/apps.ts'
import { closedFirst } from '../support/closed-first.ts'
import { openMigratedDatabase } from '../support/store/migrated-database.ts'
import { openSteppingClocks, openTestServer, type TestServer } from '../support/server.ts'
import {
  assertIssuesNothing,
  assertWhole,
  authorizeSilently,
  issue,
  issueCredentials,
  STEPS_MS,
  sweepAll,
} from './issued-credentials.ts'

/** Three nodes on one PostgreSQL database, each with its own clock. */
async function openNodes(t: TestContext) {
  const closed = closedFirst(t)
  const env = { DATABASE_URL: await openMigratedDatabase(t), GRANTOR_SECRET: 's'.repeat(40) }
  const clocks = openSteppingClocks(['first', 'second', 'third'])
  const nodes: TestServer[] = []
  for (const clock of clocks) nodes.push(closed(await openTestServer(t, { env, clock })))
  const [first, second, third] = nodes as [TestServer, TestServer, TestServer]
  return { first, second, third, clock: clocks[1] }
}

test('STO-13: of three nodes the one with a wrong clock issues and deletes nothing, and the others continue', async (t) => {
  const { first, second, third, clock } = await openNodes(t)
  let issued = await issueCredentials(first)
  for (const step of STEPS_MS) {
    clock.step(step)
    await assertIssuesNothing(second, issued)
    assert.equal((await second.inject({ method: 'GET', url: '/health/ready' })).statusCode, 503)
    assert.equal(await sweepAll(second), 0)
    assert.deepEqual(await keepKeys(second.context), { made: undefined, withdrawn: [] })
    for (const node of [first, second, third]) assert.equal(await isActive(node, issued.client, issued.revoked), false)
    issued = await assertWhole(third, issued)
    const token = await issue(first, issued.client)
    assert.equal((await revoke(second, issued.client, token)).statusCode, 200)
    assert.equal(await isActive(first, issued.client, token), false, 'Revoking works on any clock.')
    clock.step(-step)
    assert.equal((await second.inject({ method: 'GET', url: '/health/ready' })).statusCode, 200)
    issued = await assertWhole(second, issued)
  }
})

test('STO-13: a node that was suspended issues again as soon as its clock agrees with the database', async (t) => {
  const { first, second, clock } = await openNodes(t)
  const issued = await issueCredentials(first)
  clock.suspend(60_000)
  await assertIssuesNothing(second, issued)
  await second.context.clockCheck.compare()
  await assertWhole(second, issued)
})

test('STO-13, UI-14: a node with a wrong clock takes no second step, and uses up neither the code nor the sign-in that waits', async (t) => {
  const { first, second, clock } = await openNodes(t)
  await createAda(first)
  const app = await addApp(first)
  first.clock.advance(1)
  const client = await registerClient(first)
  for (const [index, step] of STEPS_MS.entries()) {
    const browser = new PlainBrowser(first)
    const page = await doFirstStep(browser, client)
    const there = new PlainBrowser(second)
    for (const [name, value] of browser.cookies) there.cookies.set(name, value)
    const right = app.code()
    const recovery = { code: app.recoveryCodes[index] ?? '' }
    clock.step(step)
    const attempts = [
      await submitTo(there, page, '/sign-in/code', { code: right }),
      // The codes that are right at the wrong time.
      await submitTo(there, page, '/sign-in/code', { code: app.code(step / 30_000) }),
      await submitTo(there, page, '/sign-in/recovery-code', recovery),
    ]
    assert.deepEqual(
      attempts.map(({ statusCode }) => statusCode),
      [503, 503, 503],
      `${step}`,
    )
    assert.ok(!hasSession(there))
    clock.step(-step)
    const [path, fields] = index % 2 === 0 ? ['/sign-in/code', { code: right }] : ['/sign-in/recovery-code', recovery]
    assert.equal((await submitTo(there, page, path, fields)).statusCode, 303, `${step}`)
    assert.ok(hasSession(there))
    first.clock.advance(30_000)
  }
})

for (const step of [-10 * 60_000, 25 * 60 * 60_000]) {
  test(`STO-13: a change by an administrator at a node whose clock is ${step / 60_000} min ahead has the time of the database`, async (t) => {
    const { first, second, third, clock } = await openNodes(t)
    const { client, tokens, cookies } = await issueCredentials(first)
    const token = await issue(first, client)
    const administration = asAdministrator(second.context, COMMAND_LINE)
    const perform = (name: string, input: object) =>
      runTask(administration, findTask(name) as Task, { ...input }, String)
    clock.step(step)
    clock.advance(1)
    const user = await first.context.store.findUserByEmail(EMAIL)
    await perform('user.set-password', { user_id: user?.id, password: 'another long password' })
    clock.advance(1000)
    assert.match((await authorizeSilently(third, client, cookies)).body, /error=login_required/)
    assert.equal((await refresh(third, client, tokens.refresh_token ?? '')).statusCode, 400)
    assert.equal(await isActive(first, client, token), true)
    await perform('token.revoke-all', { confirm: 'everything' })
    clock.advance(1000)
    assert.equal(await isActive(first, client, token), false)
    assert.equal(await isActive(first, client, await issue(first, client)), true)
  })
}

test('STO-13: an import at a node whose clock is ahead has the time of the database, so that its users can sign in', async (t) => {
  const { first, second, clock } = await openNodes(t)
  const { store } = first.context
  const file = writeRecords(t, [
    { type: 'organization', id: 'acme', name: 'Acme' },
    aUserLine('early', { organizations: ['acme'] }),
    {
      type: 'client',
      client_id: 'board',
      client_name: 'Board',
      redirect_uris: ['https://board.example/'],
      token_endpoint_auth_method: 'none',
    },
  ])
  clock.step(25 * 60 * 60_000)
  await importFile(t, second, file)
  const userId = 'early' as UserId
  const [user, organization, membership] = [
    await store.findUser(userId),
    await store.findOrganization('acme' as OrganizationId),
    await store.findMembership({ userId, organizationId: 'acme' as OrganizationId }),
  ]
  const client = await store.findClient(chosenClientId('board') as ClientId)
  for (const one of [user, organization, membership, client])
    assert.ok(one?.notBefore !== undefined && one.notBefore <= first.clock.now() + 1000, JSON.stringify(one))
})
