import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { AuditEvent } from '../../src/ports/records/audit.ts'
import { StoreUnavailable } from '../../src/ports/store.ts'
import { auditLinkId } from '../../src/protocol/audit/audit-link.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import { openSecrets } from '../../src/protocol/secrets.ts'
import { openChains } from '../../src/audit/chain.ts'
import { aClient, HOUR, NOW } from '../support/records.ts'

const { digest } = openSecrets('a root secret that is long enough')

function openSteady() {
  const clock = { now: NOW as number }
  const chains = openChains({
    digest: (parts) => digest('audit', parts),
    clock: () => clock.now as EpochMs,
    random: randomBytes,
  })
  return { chains, clock }
}

const EVENTS: readonly AuditEvent[] = [{ event: 'client.registered', clientId: aClient().id }]

test('each committed link has the digest of the previous link', () => {
  const { chains } = openSteady()
  const links = [1, 2, 3].map(() => {
    const writing = chains.begin()
    const link = writing.link(EVENTS)
    writing.committed()
    return link
  })
  assert.deepEqual(
    links.map((link) => link?.sequence),
    [0, 1, 2],
  )
  assert.deepEqual(
    links.map((link) => link?.previousHash),
    ['', links[0]?.hash, links[1]?.hash],
  )
  assert.equal(new Set(links.map((link) => link?.chainId)).size, 1)
})

test('after a failed commit the next link takes the same sequence', () => {
  const { chains } = openSteady()
  const first = chains.begin()
  const lost = first.link(EVENTS)
  first.failed(new Error('refused'))
  const next = chains.begin().link(EVENTS)
  assert.deepEqual([next?.chainId, next?.sequence], [lost?.chainId, 0])
})

test('after a commit with an unknown outcome a new chain begins', () => {
  const { chains } = openSteady()
  const first = chains.begin()
  first.link(EVENTS)
  first.committed()
  const second = chains.begin()
  const unknown = second.link(EVENTS)
  second.failed(new StoreUnavailable('no answer'))
  const next = chains.begin().link(EVENTS)
  assert.equal(unknown?.sequence, 1)
  assert.notEqual(next?.chainId, unknown?.chainId)
  assert.equal(next?.sequence, 0)
})

test('a retried transaction creates its link again, with the same sequence', () => {
  const { chains } = openSteady()
  const writing = chains.begin()
  const [tried, again] = [writing.link(EVENTS), writing.link(EVENTS)]
  assert.deepEqual([again?.chainId, again?.sequence], [tried?.chainId, tried?.sequence])
  writing.committed()
  assert.equal(chains.begin().link(EVENTS)?.previousHash, again?.hash)
})

test('concurrent transactions never share a chain, and a transaction without events takes none', () => {
  const { chains } = openSteady()
  const [one, other, silent] = [chains.begin(), chains.begin(), chains.begin()]
  assert.notEqual(one.link(EVENTS)?.chainId, other.link(EVENTS)?.chainId)
  assert.equal(silent.link([]), undefined)
  for (const writing of [one, other, silent]) writing.committed()
  assert.equal(chains.takeHeads().length, 2)
  assert.deepEqual(chains.takeHeads(), [])
})

test('times in a chain never decrease when the clock is set back, and each hour begins a new chain', () => {
  const { chains, clock } = openSteady()
  const write = () => {
    const writing = chains.begin()
    const link = writing.link(EVENTS)
    writing.committed()
    assert.ok(link)
    return link
  }
  clock.now += 60_000
  const first = write()
  clock.now -= 30_000
  const second = write()
  assert.equal(second.recordedAt, first.recordedAt)
  assert.ok(second.id > first.id)
  clock.now += HOUR
  const later = write()
  assert.notEqual(later.chainId, first.chainId)
  assert.equal(later.sequence, 0)
})

test('the id of a link is derived from its time, sequence and chain, and ordered by time', () => {
  const place = { chainId: '0199aabbccddAAAAAAAAbbbbbbbbCCCCCC', sequence: 10, recordedAt: NOW }
  const id = auditLinkId(place)
  assert.equal(id.length, place.chainId.length)
  assert.ok(auditLinkId({ ...place, sequence: 9 }) < id)
  assert.ok(auditLinkId({ ...place, sequence: 0, recordedAt: (NOW + 1) as EpochMs }) > id)
})
