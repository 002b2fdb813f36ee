import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditLinkRecord } from '../../src/ports/records/audit.ts'
import { eventsOf } from '../store/contract/chains.ts'
import { openProcesses } from './processes.ts'

const MINUTE = 60_000
const SOMETHING = { event: 'sign-in.failed' } as const

test('audit: the server records the head of a finished command within a minute, even if its last event is audit.head', async (t) => {
  const { open, clock, links } = openProcesses(t)
  const server = open()
  await server.store.recordEvent(SOMETHING)
  await server.recorder.flush()
  const command = open()
  await command.store.recordEvent(SOMETHING)
  await command.recorder.close()
  const [last] = await links()
  assert.ok(last)
  assert.deepEqual(
    eventsOf([last]).map(({ event }) => event),
    ['audit.head'],
  )
  clock.advance(MINUTE)
  await server.recorder.flush()
  assert.ok(isNamed(await links(), last))
})

test('audit: each of two processes records the heads of the other, also after the other has recorded its head', async (t) => {
  const { open, clock, links } = openProcesses(t)
  const [one, other] = [open(), open()]
  for (const { recorder } of [one, other]) await recorder.flush()
  await one.store.recordEvent(SOMETHING)
  const [ofOne] = await links()
  await other.store.recordEvent(SOMETHING)
  const ofOther = (await links()).find(({ chainId }) => chainId !== ofOne?.chainId)
  clock.advance(MINUTE)
  for (const { recorder } of [one, other]) await recorder.flush()
  for (const link of [ofOne, ofOther]) assert.ok(link !== undefined && isNamed(await links(), link))
})

test('audit: idle processes stop recording heads, and a link with nothing but heads is not recorded', async (t) => {
  const { open, clock, links } = openProcesses(t)
  const processes = [open(), open(), open()]
  for (const { store } of processes) await store.recordEvent(SOMETHING)
  const counts: number[] = []
  for (let minute = 0; minute < 10; minute += 1) {
    clock.advance(MINUTE)
    for (const { recorder } of processes) await recorder.flush()
    counts.push((await links()).length)
  }
  assert.equal(counts[9], counts[4], String(counts))
})

test('audit: a command records at most a hundred heads, however many commands ran before', async (t) => {
  const { open, links } = openProcesses(t)
  for (let number = 0; number < 120; number += 1) {
    const command = open()
    await command.store.recordEvent(SOMETHING)
    await command.recorder.close()
    command.close()
  }
  const heads = (await links()).map((link) => eventsOf([link]).filter(({ event }) => event === 'audit.head').length)
  const most = Math.max(...heads)
  assert.ok(most >= 90 && most <= 100, String(most))
})

/** Whether another chain has a head of this link's chain, at it or after it. */
function isNamed(links: readonly AuditLinkRecord[], { chainId, sequence }: AuditLinkRecord): boolean {
  return links
    .filter((link) => link.chainId !== chainId)
    .flatMap((link) => eventsOf([link]))
    .some(({ details }) => details?.['chain'] === chainId && Number(details['sequence']) >= sequence)
}
