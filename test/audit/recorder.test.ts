import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GrantType } from '../../src/protocol/token/grant-types.ts'
import { openLog } from '../../src/server/log.ts'
import type { AuditEvent } from '../../src/ports/records/audit.ts'
import type { Input } from '../../src/ports/operations/index.ts'
import { StoreUnavailable } from '../../src/ports/store.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import type { ClientId } from '../../src/protocol/ids.ts'
import { openTokenCounter } from '../../src/audit/token-counter.ts'
import { openAuditRecorder } from '../../src/audit/recorder.ts'
import { openTestChains } from '../store/contract/chains.ts'
import { NOW } from '../support/records.ts'

const MINUTE = 60_000
const aClientId = (index: number): ClientId => `client-${index}` as ClientId

/** A recorder over a store that only records its calls. */
function openTestRecorder() {
  const events: AuditEvent[] = []
  const uses: Input<'noteUses'>[number][] = []
  const lines: string[] = []
  const state = { now: NOW as number, isAway: false, waiting: 0, mostWaiting: 0 }
  const store = {
    listAuditHeads: async () => [],
    listChainLinks: async () => [],
    noteUses: async (noted: Input<'noteUses'>) => {
      uses.push(...noted)
      return 'noted' as const
    },
    recordEvent: async (event: AuditEvent) => {
      state.waiting += 1
      state.mostWaiting = Math.max(state.mostWaiting, state.waiting)
      await new Promise((resolve) => setImmediate(resolve))
      state.waiting -= 1
      if (state.isAway) throw new StoreUnavailable('away')
      events.push(event)
      return 'recorded' as const
    },
  }
  const logger = openLog('info', { write: (line) => void lines.push(line), flush: async () => undefined }, {})
  const clock = (): EpochMs => state.now as EpochMs
  const recorder = openAuditRecorder({ clock, store, chains: openTestChains(), logger })
  return { recorder, events, uses, lines, state }
}

test('tokens are counted by client, grant type and minute, and recorded at the end of the minute', async () => {
  const { recorder, events, uses, state } = openTestRecorder()
  const grants: readonly GrantType[] = ['client_credentials', 'refresh_token', 'client_credentials']
  for (const grantType of grants) recorder.issued(aClientId(1), grantType)
  recorder.issued(aClientId(2), 'authorization_code')
  await recorder.flush()
  assert.deepEqual([events, uses], [[], []])
  state.now += MINUTE
  recorder.issued(aClientId(1), 'refresh_token')
  await recorder.flush()
  assert.deepEqual(events, [
    { event: 'tokens.issued', clientId: 'client-1', details: { client_credentials: 2, refresh_token: 1, minute: NOW } },
    { event: 'tokens.issued', clientId: 'client-2', details: { authorization_code: 1, minute: NOW } },
  ])
  assert.deepEqual(uses, [
    { id: 'client-1', at: NOW },
    { id: 'client-2', at: NOW },
  ])
  await recorder.flush()
  assert.equal(events.length, 2)
})

test('the tokens of the last minute are recorded at the end of the process', async () => {
  const { recorder, events } = openTestRecorder()
  recorder.issued(aClientId(1), 'client_credentials')
  await recorder.close()
  assert.deepEqual(
    events.map(({ event, clientId }) => [event, clientId]),
    [['tokens.issued', 'client-1']],
  )
})

test('100,000 clients in one minute are all recorded, a few at a time', async () => {
  const { recorder, events, state } = openTestRecorder()
  for (let index = 0; index < 100_000; index += 1) {
    recorder.issued(aClientId(index), 'client_credentials')
    // As a server would: requests come in turns, and the store works between them.
    if (index % 1000 === 0)
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  }
  await recorder.close()
  assert.equal(new Set(events.map(({ clientId }) => clientId)).size, 100_000)
  assert.ok(state.mostWaiting <= 256, String(state.mostWaiting))
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

test('a repeated report is counted within its minute, and recorded again in the next minute', async () => {
  const { recorder, events, lines, state } = openTestRecorder()
  const event = { event: 'code.presented-by-another-client', clientId: aClientId(1) } as const
  for (let time = 0; time < 1000; time += 1) recorder.report(event)
  recorder.report({ ...event, clientId: aClientId(2) })
  await recorder.flush()
  assert.deepEqual(events, [event, { ...event, clientId: aClientId(2) }])
  state.now += MINUTE
  await recorder.flush()
  assert.deepEqual(events.slice(2), [{ ...event, details: { again: 999 } }])
  recorder.report(event)
  await recorder.flush()
  assert.deepEqual(events.slice(3), [event])
  assert.equal(lines.filter((line) => line.includes(event.event)).length, 1002)
})

test('beyond a limit, reports of a minute are counted by event name only, so that they cannot fill the store', async () => {
  const { recorder, events, state } = openTestRecorder()
  for (let index = 0; index < 5000; index += 1) recorder.report({ event: 'sign-in.failed', clientId: aClientId(index) })
  state.now += MINUTE
  await recorder.flush()
  assert.equal(events.length, 27)
  assert.deepEqual(events.at(-1), { event: 'sign-in.failed', details: { again: 4974 } })
})

test('BND-04: many different reports of one event name do not displace reports of another name', async () => {
  const { recorder, events, state } = openTestRecorder()
  for (let index = 0; index < 200; index += 1) recorder.report({ event: 'scope.refused', clientId: aClientId(index) })
  const event = { event: 'sign-in.failed', clientId: aClientId(1) } as const
  for (let time = 0; time < 3; time += 1) recorder.report(event)
  state.now += MINUTE
  await recorder.flush()
  assert.deepEqual(
    events.filter(({ event: word }) => word === event.event),
    [event, { ...event, details: { again: 2 } }],
  )
})

test('an unavailable store is logged and causes no failure, and the next minute is recorded again', async () => {
  const { recorder, events, lines, state } = openTestRecorder()
  state.isAway = true
  recorder.report({ event: 'sign-in.failed' })
  recorder.issued(aClientId(1), 'client_credentials')
  state.now += MINUTE
  await recorder.flush()
  assert.ok(lines.some((line) => line.includes('audit.recording-failed')))
  state.isAway = false
  recorder.issued(aClientId(1), 'client_credentials')
  state.now += MINUTE
  await recorder.flush()
  assert.deepEqual(events, [
    { event: 'tokens.issued', clientId: 'client-1', details: { client_credentials: 1, minute: NOW + MINUTE } },
  ])
})
