import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClientRecord } from '../../src/ports/records/client.ts'
import { weightOf } from '../../src/base/recently-used.ts'
import { openRecentRecords } from '../../src/store/recent-records.ts'
import { aClient } from '../support/records.ts'

/** Twice 16 MiB, and the two records that were added last. */
const MOST_BYTES = 33 * 1024 * 1024

function clientOf(characters: number): ClientRecord {
  const client = aClient()
  const name = 'n'.repeat(characters)
  return { ...client, metadata: { ...client.metadata, client_name: name } }
}

test('BND-05: lookups of 20,000 clients of 15 KB each keep at most 33 MiB of them', () => {
  const records = openRecentRecords<ClientRecord>()
  const client = clientOf(15_000)
  for (let index = 0; index < 20_000; index += 1) records.set(`client-${index}`, client)
  const kept = Array.from({ length: 20_000 }, (_, index) => records.get(`client-${19_999 - index}`)).filter(Boolean)
  assert.ok(kept.length >= 500, String(kept.length))
  assert.ok(kept.length * weightOf(client) <= MOST_BYTES, String(kept.length * weightOf(client)))
})

test('BND-05: of clients of usual size the newest 7,000 are kept', () => {
  const records = openRecentRecords<ClientRecord>()
  const client = aClient()
  for (let index = 0; index < 30_000; index += 1) records.set(`client-${index}`, client)
  for (let age = 0; age < 7000; age += 1) assert.equal(records.get(`client-${29_999 - age}`), client)
})

test('BND-05: a record weighs at least two bytes for each of its characters, in all of its members', () => {
  const texts = ['x'.repeat(100), 'y'.repeat(200), 'z'.repeat(300)]
  const [first, second, third] = texts
  const record = { first, nested: { list: [second, { third }] }, absent: undefined, moment: 5, flag: true, none: null }
  assert.ok(weightOf(record) >= 2 * 600)
  assert.ok(weightOf(record) < 2 * 600 + 1000)
})
