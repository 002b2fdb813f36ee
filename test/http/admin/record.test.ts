import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEvent } from '../../../src/ports/records/audit.ts'
import type { EpochMs } from '../../../src/base/brand.ts'
import { isReading } from '../../../src/admin/task.ts'
import { TASKS } from '../../../src/admin/tasks.ts'
import { eventsOf, listLinks } from '../../store/contract/chains.ts'
import { RULES } from './rules.ts'
import { openAdminServer, type AdminServer } from '../../support/admin-server.ts'

/** A change of the account of a member is no change of the organization. */
const OF_ACCOUNT = ['member.unlock', 'member.end-sessions', 'member.reset-second-factor']

test('ADM-06: the audit and the log have each change with its administrator and the ids of its objects', async (t) => {
  const stage = await openAdminServer(t)
  const { token, id } = await stage.issue('write', undefined, 365)
  const changes = TASKS.filter(
    (task) => !isReading(task) && task.access !== 'delegate' && (RULES[task.name]?.status ?? 0) < 400,
  )
  assert.ok(changes.length > 20)
  for (const task of changes) {
    const input = (await RULES[task.name]?.sample(stage)) ?? {}
    const before = await eventsBy(stage, id)
    const linesBefore = changesBy(stage, id).length
    const answer = await stage.perform(task, input, token)
    assert.equal(answer.statusCode, RULES[task.name]?.status, answer.body)
    const events = (await eventsBy(stage, id)).slice(before.length)
    assert.ok(events.length > 0, `The audit does not name who did ${task.name}`)
    const lines = changesBy(stage, id).slice(linesBefore)
    assert.deepEqual(lines.map(subjectsOfLine), events.map(subjectsOfEvent), task.name)
    const ofAccount = OF_ACCOUNT.includes(task.name)
    const ids = Object.entries(input).flatMap(([name, value]) =>
      /_id$|^resource$/.test(name) && !(ofAccount && name === 'organization_id') ? [String(value)] : [],
    )
    for (const one of ids) assert.ok(JSON.stringify(lines).includes(one), `${task.name} does not log ${one}`)
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
  const revoked = await stage.issue('write')
  await stage.performByName('admin.revoke', { credential_id: revoked.id }, revoked.token)
  await stage.performByName('client.list', {}, revoked.token)
  await settled(stage)
  for (const [{ id }, reason] of [
    [reader, 'admin_may_only_read'],
    [ofOne, 'admin_of_one_organization'],
    [metrics, 'admin_may_only_read_metrics'],
    [revoked, 'admin_token_inactive'],
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
  const tokens = { write: await stage.issue('write'), delegate: await stage.issue('delegate') }
  const named = TASKS.filter(({ input }) => 'name' in input.shape)
  assert.ok(named.length > 3)
  for (const task of named) {
    for (const name of ['a\nb', 'a\r\n{"level":60}', '\u001b[31mred', 'a\u0000b', 'a\u0085b']) {
      const input = { ...(await RULES[task.name]?.sample(stage)), name }
      const { token } = tokens[task.access === 'delegate' ? 'delegate' : 'write']
      const answer = await stage.perform(task, input, token)
      assert.equal(answer.statusCode, 422, `${task.name}: ${answer.body}`)
    }
  }
  const lines = stage.server.log().trimEnd().split('\n')
  for (const line of lines) assert.equal(typeof JSON.parse(line), 'object', line)
  assert.doesNotMatch(lines.join(''), /\p{Cc}/u)
})

/** The audit's events that name an administrator, oldest first. */
async function eventsBy({ server }: AdminServer, by: string): Promise<readonly AuditEvent[]> {
  const links = await listLinks(server.context.store, 0 as EpochMs)
  return eventsOf(links).filter(({ actor }) => actor === by)
}

/** A write of ours is behind all that were asked for before. */
async function settled({ server }: AdminServer): Promise<void> {
  await server.context.store.recordEvent({ event: 'sign-in.failed' })
}

type Line = Readonly<Record<string, unknown>>

/** The lines of the log about changes of an administrator. */
function changesBy({ server }: AdminServer, actor: string): readonly Line[] {
  const lines = server.log().trim().split('\n')
  return lines.map((line) => JSON.parse(line) as Line).filter((line) => line['actor'] === actor)
}

function subjectsOfLine({ event, client, user, organization, grant, level, time, actor, ...more }: Line): Line {
  const { request_id: requestId, ...details } = more
  assert.ok(level === 30 && typeof time === 'number' && typeof actor === 'string')
  assert.match(String(requestId), /^[\w-]+-\d+\w*$/)
  return { event, client, user, organization, grant, details }
}

function subjectsOfEvent({ event, clientId, userId, organizationId, grantId, details = {} }: AuditEvent): Line {
  return { event, client: clientId, user: userId, organization: organizationId, grant: grantId, details }
}
