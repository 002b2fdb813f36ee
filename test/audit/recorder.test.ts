import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import type { StoreObserver } from '../../src/ports/observers.ts'
import type { AuditEvent } from '../../src/ports/records/audit.ts'
import type { GrantType } from '../../src/protocol/token/grant-types.ts'
import type { ClientId, UserId } from '../../src/protocol/ids.ts'
import { openTokenCounter } from '../../src/audit/token-counter.ts'
import { eventsOf } from '../store/contract/chains.ts'
import { aClient, NOW } from '../support/records.ts'
import { openProcesses } from './processes.ts'

const MINUTE = 60_000
/** How many different events of one name are recorded in a minute (src/audit/recorder.ts). */
const REPORT_LIMIT = 25
const aClientId = (index: number): ClientId => `client-${index}` as ClientId

interface TestRecorder extends Omit<ReturnType<ReturnType<typeof openProcesses>['open']>, 'close'> {
  readonly path: string
  readonly advance: (milliseconds: number) => void
  /** What was recorded, oldest first, except heads of chains, which heads.test.ts is about. */
  readonly events: () => Promise<readonly AuditEvent[]>
}

/** A process that records on a file. */
function openTestRecorder(t: TestContext, options = {}, observer?: StoreObserver): TestRecorder {
  const { open, clock, links, path } = openProcesses(t, options)
  const events = async () => eventsOf(await links()).filter(({ event }) => event !== 'audit.head')
  return { ...open(observer), path, advance: clock.advance, events }
}

test('tokens are counted by client, grant type and minute, and recorded at the end of the minute', async (t) => {
  const { recorder, store, events, advance } = openTestRecorder(t)
  const clients = [aClient(), aClient()]
  const [one, other] = clients.map(({ id }) => id) as [ClientId, ClientId]
  for (const client of clients) await store.registerClient(client)
  const issued = async () => (await events()).filter(({ event }) => event === 'tokens.issued')
  // A list, because what is cached of a client may lack its last use.
  const uses = async () =>
    (await store.listClients({ before: undefined, limit: 3 })).map(({ lastUsedAt }) => lastUsedAt)
  const grants: readonly GrantType[] = ['client_credentials', 'refresh_token', 'client_credentials']
  for (const grantType of grants) recorder.issued(one, grantType)
  recorder.issued(other, 'authorization_code')
  await recorder.flush()
  assert.deepEqual([await issued(), await uses()], [[], [undefined, undefined]])
  advance(MINUTE)
  recorder.issued(one, 'refresh_token')
  await recorder.flush()
  const recorded = [
    { event: 'tokens.issued', clientId: one, details: { client_credentials: 2, refresh_token: 1, minute: NOW } },
    { event: 'tokens.issued', clientId: other, details: { authorization_code: 1, minute: NOW } },
  ]
  assert.deepEqual([await issued(), await uses()], [recorded, [NOW, NOW]])
  await recorder.flush()
  assert.deepEqual(await issued(), recorded)
})

test('the tokens of the last minute are recorded at the end of the process', async (t) => {
  const { recorder, events } = openTestRecorder(t)
  recorder.issued(aClientId(1), 'client_credentials')
  await recorder.close()
  assert.deepEqual(
    (await events()).map(({ event, clientId }) => [event, clientId]),
    [['tokens.issued', 'client-1']],
  )
})

test('100,000 clients in one minute are all recorded, a few at a time', async (t) => {
  let mostAtOnce = 0
  const { recorder, events } = openTestRecorder(
    t,
    {},
    {
      opened: () => undefined,
      mark: () => undefined,
      refused: () => undefined,
      committed({ batch }) {
        const recorded = batch.filter(({ asked }) => asked.name === 'recordEvent')
        mostAtOnce = Math.max(mostAtOnce, recorded.length)
      },
    },
  )
  for (let index = 0; index < 100_000; index += 1) {
    recorder.issued(aClientId(index), 'client_credentials')
    // As of a server whose store keeps up: it waits for what is being written.
    if (index % 20_000 === 0) await recorder.flush()
  }
  await recorder.close()
  assert.equal(new Set((await events()).map(({ clientId }) => clientId)).size, 100_000)
  assert.ok(mostAtOnce > 1 && mostAtOnce <= 256, String(mostAtOnce))
})

test('while the store is unavailable, a token counter has a limit of clients, and beyond it counts tokens without their client', () => {
  const counter = openTokenCounter()
  for (let index = 0; index < 100_000; index += 1) counter.add(aClientId(index), 'refresh_token', NOW)
  const counts = counter.take('all')
  const held = counts.reduce((sum, { clients }) => sum + clients.size, 0)
  const others = counts.reduce((sum, count) => sum + (count.others.refresh_token ?? 0), 0)
  assert.equal(held, 50_000)
  assert.equal(held + others, 100_000)
})

test('a repeated report is counted within its minute, and recorded again in the next minute', async (t) => {
  const { recorder, events, lines, advance } = openTestRecorder(t)
  const event = { event: 'code.presented-by-another-client', clientId: aClientId(1) } as const
  const other = { ...event, clientId: aClientId(2) }
  const times = 1000
  for (let time = 0; time < times; time += 1) recorder.report(event)
  recorder.report(other)
  await recorder.flush()
  assert.deepEqual(await events(), [event, other])
  advance(MINUTE)
  await recorder.flush()
  assert.deepEqual((await events()).slice(2), [{ ...event, details: { again: times - 1, minute: NOW } }])
  recorder.report(event)
  await recorder.flush()
  assert.deepEqual((await events()).slice(3), [event])
  const logged = lines.filter((line) => line['event'] === event.event)
  assert.equal(logged.length, times + 2, 'The log has every report.')
})

test('repetitions are one event wherever they came from, with the three networks of most of them, and a browser if all have it', async (t) => {
  const { recorder, events, advance } = openTestRecorder(t)
  const event = { event: 'sign-in.failed', userId: 'ada' as UserId, details: { reason: 'wrong-credentials' } } as const
  const from = (network: string, browser = 'Firefox') => recorder.report(event, { browser, system: 'Linux', network })
  const repeated = async () => {
    advance(MINUTE)
    await recorder.flush()
    return (await events()).at(-1)?.details
  }
  from('198.51.100.0/24')
  await recorder.flush()
  const first = { ...event.details, browser: 'Firefox', system: 'Linux', network: '198.51.100.0/24' }
  assert.deepEqual(await events(), [{ ...event, details: first }])
  for (const [network, times] of [
    ['192.0.2.0/24', 1],
    ['203.0.113.0/24', 9],
    ['2001:db8:1::/48', 2],
    ['198.51.100.0/24', 3],
    ['2001:db8:2::/48', 1],
  ] as const)
    for (let time = 0; time < times; time += 1) from(network)
  const networks = '203.0.113.0/24=9 198.51.100.0/24=3 2001:db8:1::/48=2 other=2'
  assert.deepEqual(await repeated(), {
    ...event.details,
    browser: 'Firefox',
    system: 'Linux',
    networks,
    again: 16,
    minute: NOW,
  })
  for (const browser of ['Firefox', 'Firefox', 'Chrome', 'Firefox']) from('192.0.2.0/24', browser)
  assert.deepEqual(await repeated(), { ...event.details, networks: '192.0.2.0/24=3', again: 3, minute: NOW + MINUTE })
  for (let index = 0; index < 1000; index += 1) from(`10.${index >> 8}.${index & 255}.0/24`)
  assert.deepEqual(await repeated(), {
    ...event.details,
    browser: 'Firefox',
    system: 'Linux',
    networks: '10.0.1.0/24=1 10.0.2.0/24=1 10.0.3.0/24=1 other=996',
    again: 999,
    minute: NOW + 2 * MINUTE,
  })
  recorder.report(event)
  recorder.report(event)
  assert.deepEqual(await repeated(), { ...event.details, again: 1, minute: NOW + 3 * MINUTE })
})

test('beyond a limit, reports of a minute are counted by event name only, so that they cannot fill the store', async (t) => {
  const { recorder, events, advance } = openTestRecorder(t)
  const times = 5000
  for (let index = 0; index < times; index += 1)
    recorder.report({ event: 'sign-in.failed', clientId: aClientId(index) })
  advance(MINUTE)
  await recorder.flush()
  // The first one beyond the limit is recorded at once, too.
  const named = Array.from({ length: REPORT_LIMIT + 1 }, (_, index) => aClientId(index))
  assert.deepEqual(await events(), [
    ...named.map((clientId) => ({ event: 'sign-in.failed', clientId })),
    { event: 'sign-in.failed', details: { again: times - named.length, minute: NOW } },
  ])
})

test('BND-04: many different reports of one event name do not displace reports of another name', async (t) => {
  const { recorder, events, advance } = openTestRecorder(t)
  const others = 8 * REPORT_LIMIT
  for (let index = 0; index < others; index += 1)
    recorder.report({ event: 'scope.refused', clientId: aClientId(index) })
  const event = { event: 'sign-in.failed', clientId: aClientId(1) } as const
  for (let time = 0; time < 3; time += 1) recorder.report(event)
  advance(MINUTE)
  await recorder.flush()
  assert.deepEqual(
    (await events()).filter(({ event: word }) => word === event.event),
    [event, { ...event, details: { again: 2, minute: NOW } }],
  )
})

test('an unavailable store is logged and causes no failure, and the next minute is recorded again', async (t) => {
  const { recorder, events, lines, path, advance } = openTestRecorder(t, { patienceMs: 1 })
  const blocker = new DatabaseSync(path)
  t.after(() => blocker.close())
  blocker.exec('begin immediate')
  recorder.report({ event: 'sign-in.failed' })
  recorder.issued(aClientId(1), 'client_credentials')
  advance(MINUTE)
  await recorder.flush()
  assert.ok(lines.some((line) => line['event'] === 'audit.recording-failed'))
  blocker.exec('rollback')
  recorder.issued(aClientId(1), 'client_credentials')
  advance(MINUTE)
  await recorder.flush()
  assert.deepEqual(await events(), [
    { event: 'tokens.issued', clientId: 'client-1', details: { client_credentials: 1, minute: NOW + MINUTE } },
  ])
})
