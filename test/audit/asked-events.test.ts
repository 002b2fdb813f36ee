import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { describeTasks } from '../../src/admin/openapi.ts'
import { AUDIT_EVENTS, type AuditEventName } from '../../src/protocol/audit/event-names.ts'
import { AUDIT_VIEWS } from '../../src/protocol/audit/views.ts'
import { command, commandJson, openServerForCommands } from '../support/command.ts'
import { adminServerOf, type AdminServer } from '../support/admin-server.ts'
import type { TestServer } from '../support/server.ts'

/** The filter by event name. An unknown name is rejected, because an empty list would suggest that nothing happened. */

const ends: (() => unknown)[] = []
let server: TestServer
let stage: AdminServer
let token: string

before(async () => {
  server = await openServerForCommands({ after: (end) => void ends.push(end as () => unknown) })
  stage = adminServerOf(server)
  token = (await stage.issue('read', undefined, 365)).token
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

const FAMILIES =
  /^There is no such event\. Event names begin with: access-rule\., admin-credential\., admin\., api\., .*, sign-in\., token\., tokens\., user\.$/
const OF_CLIENTS =
  /^There is no such event\. The events of client\. are: client\.registered, client\.updated, .*\bclient\.tokens-revoked\b/
const UNKNOWN: readonly (readonly [event: string, says: RegExp])[] = [
  ['clint.', FAMILIES],
  ['clint.deleted', FAMILIES],
  ['nonsense', FAMILIES],
  ['.', FAMILIES],
  ['', FAMILIES],
  ['CLIENT.', FAMILIES],
  ['client', OF_CLIENTS],
  ['client.delete', OF_CLIENTS],
  ['client.deleted.', OF_CLIENTS],
  [' client.', FAMILIES],
]

for (const [event, says] of UNKNOWN) {
  test(`an unknown event name is rejected: "${event}"`, async () => {
    const answer = await stage.performByName('audit.list', { event }, token)
    assert.equal(answer.statusCode, 422, answer.body)
    const [problem, ...others] = answer.json<{ detail: readonly { loc: string[]; type: string; msg: string }[] }>()
      .detail
    assert.deepEqual([problem?.loc, problem?.type, others], [['query', 'event'], 'value_error', []])
    assert.match(problem?.msg ?? '', says)
    const printed = await command(['audit', 'list', '--event', event])
    assert.deepEqual(printed, { code: 1, stdout: '', stderr: `grantor: --event: ${problem?.msg}\n` })
    assert.deepEqual(
      await command(['audit', 'list', '--event', event, '--server', server.adminOrigin], { token }),
      printed,
    )
  })
}

test('the audit can be filtered by every event name and every prefix, and OpenAPI lists them', async () => {
  await stage.makeClient()
  const families = [...new Set(AUDIT_EVENTS.map((word) => word.slice(0, word.indexOf('.') + 1)))]
  for (const event of [...families, ...AUDIT_EVENTS]) {
    const { events } = await commandJson<{ events: readonly { event: string }[] }>(['audit', 'list', '--event', event])
    assert.ok(events.every((one) => one.event.startsWith(event)))
    if (event === 'client.' || event === 'client.registered') assert.notEqual(events.length, 0)
  }
  const { paths } = describeTasks('1.0.0') as { readonly paths: Readonly<Record<string, { readonly get: Operation }>> }
  const parameter = paths['/admin/v1/audit']?.get.parameters.find(({ name }) => name === 'event')
  assert.deepEqual(parameter?.schema.enum?.toSorted(), [...families, ...AUDIT_EVENTS].toSorted())
})

test('a view of the audit has its events and no others, also beside other filters', async () => {
  const { client_id: client } = await stage.makeClient()
  await commandJson(['client', 'verify', client])
  server.context.report({ event: 'sign-in.failed', details: { reason: 'wrong-credentials', account: 'x' } })
  for (const [view, events] of Object.entries(AUDIT_VIEWS)) {
    const listed = await commandJson<{ events: readonly { event: AuditEventName }[] }>([
      'audit',
      'list',
      '--view',
      view,
    ])
    assert.deepEqual(
      listed.events.map(({ event }) => event).filter((event) => !(events as readonly string[]).includes(event)),
      [],
      view,
    )
    assert.ok(listed.events.length > 0, view)
  }
  const both = ['audit', 'list', '--view', 'clients', '--client', client]
  const { events } = await commandJson<{ events: readonly { event: string }[] }>(both)
  assert.deepEqual(
    events.map(({ event }) => event),
    ['client.verified', 'client.registered'],
  )
})

interface Operation {
  readonly parameters: readonly { readonly name: string; readonly schema: { readonly enum?: readonly string[] } }[]
}
