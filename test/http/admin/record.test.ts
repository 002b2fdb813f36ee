import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEvent } from '../../../src/ports/records/audit.ts'
import type { EpochMs } from '../../../src/protocol/brand.ts'
import { TASKS } from '../../../src/admin/tasks.ts'
import { RULES } from './rules.ts'
import { openAdminServer, type AdminServer } from '../../support/admin-server.ts'

test('ADM-06: the audit records each change with its administrator', async (t) => {
  const stage = await openAdminServer(t)
  const { token, id } = await stage.issue('write', undefined, 365)
  const changes = TASKS.filter(({ access, name }) => access === 'write' && (RULES[name]?.status ?? 0) < 400)
  assert.ok(changes.length > 20)
  for (const task of changes) {
    const input = (await RULES[task.name]?.sample(stage)) ?? {}
    const before = await eventsBy(stage, id)
    const answer = await stage.perform(task, input, token)
    assert.equal(answer.statusCode, RULES[task.name]?.status, answer.body)
    assert.ok((await eventsBy(stage, id)).length > before.length, `Nobody can tell who did ${task.name}`)
  }
})

test('ADM-06: the audit records rejected requests of administrators with the reason', async (t) => {
  const stage = await openAdminServer(t)
  const reader = await stage.issue('read')
  await stage.performByName('key.rotate', {}, reader.token)
  const ofOne = await stage.issue('write', await stage.makeOrganization())
  await stage.performByName('client.list', {}, ofOne.token)
  const metrics = await stage.issue('metrics')
  await stage.performByName('client.list', {}, metrics.token)
  const dead = await stage.issue('write')
  await stage.performByName('admin.revoke', { credential_id: dead.id }, dead.token)
  await stage.performByName('client.list', {}, dead.token)
  await settled(stage)
  for (const [{ id }, reason] of [
    [reader, 'admin_may_only_read'],
    [ofOne, 'admin_of_one_organization'],
    [metrics, 'admin_may_only_read_metrics'],
    [dead, 'admin_token_inactive'],
  ] as const) {
    const refused = (await eventsBy(stage, id)).filter(({ event }) => event === 'admin.refused')
    assert.deepEqual(
      refused.map(({ details }) => details?.['reason']),
      [reason],
    )
  }
})

test('ADM-06: names with line breaks or terminal codes are rejected, and each log line stays one object', async (t) => {
  const stage = await openAdminServer(t)
  const { token } = await stage.issue('write')
  const named = TASKS.filter(({ input }) => 'name' in input.shape)
  assert.ok(named.length > 3)
  for (const task of named) {
    for (const name of ['a\nb', 'a\r\n{"level":60}', '\u001b[31mred', 'a\u0000b', 'a\u0085b']) {
      const input = { ...(await RULES[task.name]?.sample(stage)), name }
      const answer = await stage.perform(task, input, token)
      assert.equal(answer.statusCode, 422, `${task.name}: ${answer.body}`)
    }
  }
  const lines = stage.server.log().trimEnd().split('\n')
  for (const line of lines) assert.equal(typeof JSON.parse(line), 'object', line)
  assert.doesNotMatch(lines.join(''), /\p{Cc}/u)
})

/** The audit's events that name an administrator. */
async function eventsBy({ server }: AdminServer, actor: string): Promise<readonly AuditEvent[]> {
  const links = await server.context.store.listAuditLinks({ before: undefined, limit: 1000, since: 0 as EpochMs })
  return links.flatMap(({ events }) => JSON.parse(events) as AuditEvent[]).filter((event) => event.actor === actor)
}

/** A write of ours is behind all that were asked for before. */
async function settled({ server }: AdminServer): Promise<void> {
  await server.context.store.recordEvent({ event: 'sign-in.failed' })
}
