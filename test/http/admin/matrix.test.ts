import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TASKS } from '../../../src/admin/tasks.ts'
import { pathParameters, type Task } from '../../../src/admin/task.ts'
import type { Context } from '../../../src/ports/context.ts'
import { mintClientId, mintOrderedId, mintOrganizationId, mintUserId } from '../../../src/protocol/ids.ts'
import { dumpStore, execute } from '../../support/store/dump.ts'
import { gatherCredentials } from './credentials.ts'
import { performEveryTask, rowsOf } from './every-route.ts'
import { MAY, RULES } from './rules.ts'
import { openAdminServer, requestOf, type AdminServer } from '../../support/admin-server.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { type Members } from '../../support/tasks.ts'

/** The stage of all tests that change nothing, with an input for each task. */
const stage = await openAdminServer(WHOLE_FILE)
const rows = rowsOf()
const inputs = await samplesOf(stage)

test('every task has a rule for the credentials that may perform it, and the task table agrees with the rule', () => {
  assert.deepEqual(TASKS.map(({ name }) => name).toSorted(), Object.keys(RULES).toSorted())
  for (const { task, rule } of rowsOf()) {
    assert.equal(task.access, rule.access, task.name)
    assert.equal(task.extent, rule.extent, task.name)
    assert.ok(task.method !== 'GET' || task.access !== 'write', `${task.name}: a GET changes nothing`)
  }
})

test('ADM-02: every route rejects every credential of Grantor except those of administrators', async () => {
  const holders = await gatherCredentials(stage)
  const { token: live } = await stage.issue('write')
  await assertNothingChanges(stage, async () => {
    for (const { task } of rows) {
      const request = requestOf(task, inputs.get(task) ?? {})
      for (const [holder, headers] of holders) {
        const answer = await stage.server.injectAdmin({ ...request, headers })
        assert.equal(answer.statusCode, 401, `${holder} at ${task.name}: ${answer.body}`)
        assert.match(String(answer.headers['www-authenticate']), /^Bearer realm="grantor"/)
        assert.equal(answer.json<{ error: string }>().error, 'invalid_token')
      }
      // RFC 6750 §2.2 and §2.3 know two other places. They leak into logs, and are none here.
      const mark = request.url.includes('?') ? '&' : '?'
      const inQuery = await stage.server.injectAdmin({ ...request, url: `${request.url}${mark}access_token=${live}` })
      assert.equal(inQuery.statusCode, 401, task.name)
      if (request.payload === undefined) continue
      const payload = { ...request.payload, access_token: live, token: live }
      assert.equal((await stage.server.injectAdmin({ ...request, payload })).statusCode, 401, task.name)
    }
  })
})

test('ADM-02: every route rejects credentials that are expired or revoked, or whose organization is disabled or deleted', async (t) => {
  const own = await openAdminServer(t)
  const { store, clock } = own.server.context
  const ownInputs = await samplesOf(own)
  const organizations = [
    await own.makeOrganization(),
    await own.makeOrganization(),
    await own.makeOrganization(),
  ] as const
  const inactive = {
    expired: await own.issue('write', undefined, 1),
    revoked: await own.issue('write', undefined, 365),
    'of a disabled organization': await own.issue('write', organizations[0], 365),
    'of a deleted organization': await own.issue('write', organizations[1], 365),
    'of a deleted organization whose id another one has': await own.issue('write', organizations[2], 365),
  }
  own.server.clock.advance(24 * 60 * 60 * 1000)
  await own.performByName('admin.revoke', { credential_id: inactive.revoked.id }, (await own.issue('write')).token)
  await store.disableOrganization({ id: organizations[0], now: clock() })
  await store.deleteOrganization({ id: organizations[1], now: clock() })
  // What the deletion on another machine did not see yet.
  const before = 'update admin_credentials set organization_since = organization_since - 1 where organization_id = ?'
  execute(own.server, before, organizations[2])
  await assertNothingChanges(own, async () => {
    for (const { task } of rows) {
      for (const [state, { token }] of Object.entries(inactive)) {
        const answer = await own.perform(task, ownInputs.get(task) ?? {}, token)
        assert.equal(answer.statusCode, 401, `${state} at ${task.name}: ${answer.body}`)
        assert.match(String(answer.headers['www-authenticate']), /error="invalid_token"/)
      }
    }
  })
})

for (const access of ['read', 'support', 'users'] as const) {
  test(`ADM-02, CON-38: credentials with ${access} access perform no other task, for the server or one organization`, async () => {
    const others = rows.filter(({ rule }) => !(MAY[rule.access] as readonly string[]).includes(access))
    const callers = [await stage.issue(access), await stage.issue(access, await stage.makeOrganization())]
    assert.ok(others.length > 10)
    await assertNothingChanges(stage, async () => {
      for (const { task } of others) {
        for (const { token } of callers) {
          const answer = await stage.perform(task, inputs.get(task) ?? {}, token)
          assert.equal(answer.statusCode, 403, `${task.name}: ${answer.body}`)
          assert.equal(answer.json<{ error: string }>().error, 'insufficient_scope')
        }
      }
    })
  })
}

test('ADM-02: credentials for the metrics may not perform any task', async () => {
  const { token } = await stage.issue('metrics')
  await assertNothingChanges(stage, async () => {
    for (const { task } of rows) {
      const answer = await stage.perform(task, inputs.get(task) ?? {}, token)
      assert.equal(answer.statusCode, 403, `${task.name}: ${answer.body}`)
    }
  })
})

test('DEL-04: credentials of the application perform only its own tasks, which no administrator can perform', async () => {
  const delegate = await stage.issue('delegate')
  const others = [await stage.issue('read'), await stage.issue('write'), await stage.issue('metrics')]
  const ofOne = await stage.issue('write', await stage.makeOrganization())
  await assertNothingChanges(stage, async () => {
    for (const { task, rule } of rows) {
      const refused = rule.access === 'delegate' ? [...others, ofOne] : [delegate]
      for (const { token } of refused) {
        const answer = await stage.perform(task, inputs.get(task) ?? {}, token)
        assert.equal(answer.statusCode, 403, `${task.name}: ${answer.body}`)
        assert.equal(answer.json<{ error: string }>().error, 'insufficient_scope')
      }
    }
    const headers = { authorization: `Bearer ${delegate.token}` }
    for (const url of ['/metrics', '/admin/v1/openapi.json'])
      assert.equal((await stage.server.injectAdmin({ method: 'GET', url, headers })).statusCode, 403, url)
  })
})

test('DEL-04: new credentials of the application replace the previous ones, and revoke no others', async (t) => {
  const own = await openAdminServer(t)
  const admin = await own.issue('write')
  const create = async () =>
    (await own.performByName('delegate.create-credentials', {}, admin.token)).json<{ token: string }>().token
  const [first, second] = [await create(), await create()]
  assert.ok(first.startsWith('gde_'))
  const input = (await RULES['interaction.show']?.sample(own)) ?? {}
  const statuses = [first, second].map(
    async (token) => (await own.performByName('interaction.show', input, token)).statusCode,
  )
  assert.deepEqual(await Promise.all(statuses), [401, 200])
  assert.equal((await own.performByName('client.list', {}, admin.token)).statusCode, 200)
})

test('ADM-03: credentials of one organization get 403 from routes of the server, and 404 for every other organization', async () => {
  const organizationId = await stage.makeOrganization()
  const read = await stage.issue('read', organizationId)
  const write = await stage.issue('write', organizationId)
  await assertNothingChanges(stage, async () => {
    for (const { task, rule } of rows) {
      const input = inputs.get(task) ?? {}
      const answers = await Promise.all([read, write].map(({ token }) => stage.perform(task, input, token)))
      const statuses = answers.map(({ statusCode }) => statusCode)
      const mayRead = (MAY[rule.access] as readonly string[]).includes('read')
      const expected = rule.extent === 'server' ? [403, 403] : mayRead ? [404, 404] : [403, 404]
      assert.deepEqual(statuses, expected, `${task.name}: ${answers.map(({ body }) => body).join()}`)
    }
  })
})

/** An id of the right form that no record has, for each parameter in a path. */
const UNUSED: Readonly<Record<string, (context: Context) => string>> = {
  client_id: ({ clock, random }) => mintClientId(clock(), random),
  credential_id: ({ clock, random }) => mintOrderedId(clock(), random),
  grant_id: ({ clock, random }) => mintOrderedId(clock(), random),
  initial_token_id: ({ clock, random }) => mintOrderedId(clock(), random),
  interaction: () => `gin_${'A'.repeat(99)}`,
  kid: () => 'unused',
  organization_id: ({ clock, random }) => mintOrganizationId(clock(), random),
  passkey_id: () => 'A'.repeat(22),
  pattern: () => 'unused.example',
  provider_id: () => 'unused',
  resource: () => 'https://unused.example',
  session_id: ({ clock, random }) => mintOrderedId(clock(), random),
  set: () => 'unused',
  subject: () => 'unused',
  user_id: ({ clock, random }) => mintUserId(clock(), random),
}

test('a task on a record that does not exist gets 404, and changes nothing', async () => {
  // The first step of a run makes its set.
  const others = ['organization.list-grants', 'apply.record']
  const onRecords = rows.filter(({ task }) => pathParameters(task).length > 0 && !others.includes(task.name))
  const [write, delegate] = [await stage.issue('write'), await stage.issue('delegate')]
  await assertNothingChanges(stage, async () => {
    for (const { task } of onRecords) {
      for (const name of pathParameters(task)) {
        const input = { ...inputs.get(task), [name]: UNUSED[name]?.(stage.server.context) }
        const { token } = task.access === 'delegate' ? delegate : write
        const answer = await stage.perform(task, input, token)
        assert.equal(answer.statusCode, 404, `${task.name} with another ${name}: ${answer.body}`)
        assert.equal(answer.json<{ error: string }>().error, 'not_found')
      }
    }
  })
})

test('ADM-02: each route performs its task for credentials that allow it, and its answer matches the schema of its row', async (t) => {
  await performEveryTask(await openAdminServer(t))
})

/** Of each task an input that would work. */
async function samplesOf(server: AdminServer): Promise<ReadonlyMap<Task, Members>> {
  const samples = new Map<Task, Members>()
  for (const { task, rule } of rowsOf()) samples.set(task, await rule.sample(server))
  return samples
}

async function assertNothingChanges({ server }: AdminServer, attempt: () => Promise<void>): Promise<void> {
  const before = dumpStore(server)
  await attempt()
  assert.deepEqual(dumpStore(server), before)
}
