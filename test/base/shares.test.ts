import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limitFor, openShares, openSiteShares } from '../../src/base/shares.ts'

/** Adds for a network until it has no more room. */
function fill(shares: ReturnType<typeof openShares>, network: string, limit: number): number {
  let count = 0
  while (shares.hasRoom(network, limit)) {
    shares.add(network)
    count += 1
  }
  return count
}

test('NET-17: a single network gets the count that its limit was made for', () => {
  for (const count of [32, 500, 800, 2000, 8000]) assert.equal(fill(openShares(), 'a', limitFor(count)), count)
})

test('NET-17: beside a greedy network each other network gets something, and all together never exceed the limit', () => {
  const limit = limitFor(500)
  const shares = openShares()
  const counts = Array.from({ length: 200 }, (_, index) => fill(shares, `n${index}`, limit))
  assert.equal(counts[0], 500)
  assert.ok((counts[1] ?? 0) >= 90, String(counts[1]))
  assert.equal(
    counts.reduce((sum, count) => sum + count),
    shares.total(),
  )
  assert.ok(shares.total() <= limit)
})

test('NET-17: greedy networks that arrive one after the other end with equal shares', () => {
  const shares = openShares()
  const networks = Array.from({ length: 10 }, (_, index) => `n${index}`)
  const held = new Map(networks.map((network) => [network, 0]))
  for (let round = 0; round < 1000; round += 1) {
    for (const network of networks) {
      const count = held.get(network) ?? 0
      if (count > 0) shares.remove(network, 1)
      held.set(network, Math.max(0, count - 1) + fill(shares, network, limitFor(500)))
    }
  }
  const counts = [...held.values()]
  assert.ok(Math.max(...counts) - Math.min(...counts) <= 8, counts.join())
})

const SITES: readonly (readonly [site: string, networkOf: (index: number) => string, neighbour: string])[] = [
  ['a /24', (index) => `198.51.100.${index % 256}`, '198.51.101.1'],
  ['a /16', (index) => `198.51.${index >> 8}.${index % 256}`, '198.52.1.1'],
  ['a /48', (index) => `2001:db8:1:${index.toString(16)}::/64`, '2001:db8:2:1::/64'],
  ['a /32', (index) => `2001:db8:${index.toString(16)}:1::/64`, '2001:db9:1:1::/64'],
]
for (const [site, networkOf, neighbour] of SITES) {
  test(`NET-17: all networks of ${site} together leave connections for a neighbour and for others`, () => {
    const shares = openSiteShares()
    const limit = limitFor(8000)
    for (let index = 0; index < 5000; index += 1) fill(shares, networkOf(index), limit)
    assert.ok(limit - shares.total() >= 500, String(shares.total()))
    for (const network of [neighbour, '203.0.113.1']) assert.ok(fill(shares, network, limit) >= 90, network)
  })
}

test('removed counts make room again, and a network that holds nothing is removed', () => {
  const shares = openShares()
  const limit = limitFor(4)
  assert.equal(fill(shares, 'a', limit), 4)
  shares.remove('a', 3)
  assert.equal(shares.total(), 1)
  assert.equal(fill(shares, 'a', limit), 3)
  shares.remove('a', 4)
  assert.equal(shares.total(), 0)
})
